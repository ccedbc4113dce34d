//! Wrong passwords and codes also count per day. A device on which the user has signed in before has its own budget, so
//! that strangers cannot lock the user out.

use std::sync::Arc;

use launchway_domain::org::User;
use launchway_domain::tenancy::Role;
use launchway_domain::time::{DAY, MINUTE, SECOND};
use launchway_domain::totp::Secret;
use launchway_ops::{accounts, known_devices};
use launchway_os::clock::Clock;
use launchway_outbound::resolver::SystemResolver;
use launchway_web::dashboard::form_token;
use serde_json::{Value, json};

use super::two_factor::enroll;
use super::{EMAIL, post, who};
use crate::support::{Answer, Fields, PASSWORD, START, Setup, TestApp};

const WRONG_PASSWORD: &str = "The address or the password is wrong";
const WRONG_CODE: &str = "code is wrong or already used; wait for the next one";
/// A code that no app shows in these tests.
const NO_CODE: &str = "12345x";
/// Every test's clock starts 14 hours before the end of the day.
const LEFT: u64 = 14 * 3600;

/// A service with a user; returns the user and the cookie that makes the browser of the first sign-in a known device.
async fn stage(setup: Setup) -> (TestApp, User, String) {
    let app = TestApp::with(setup).await;
    app.org_with_user(EMAIL, Role::Owner).await;
    let (user, device) = (user(&app).await, device(&right(&app, PASSWORD).await));
    (app, user, device)
}

async fn user(app: &TestApp) -> User {
    let mut tx = app.app.db.read().await.unwrap();
    let found = tx.system("a test").user_by_email(EMAIL).await.unwrap();
    found.unwrap().0
}

async fn right(app: &TestApp, password: &str) -> Answer {
    let answer = sign_in(app, json!({"email": EMAIL, "password": password}), "192.0.2.77", "").await;
    answer.ok();
    answer
}

/// The cookie with which a response makes the browser a known device.
fn device(answer: &Answer) -> String {
    let cookies = answer.headers.get_all("set-cookie").iter();
    let mut cookies = cookies.map(|cookie| cookie.to_str().unwrap());
    let cookie = cookies.find(|cookie| cookie.starts_with("launchway-device-"));
    cookie.unwrap().split(';').next().unwrap().to_owned()
}

async fn sign_in(app: &TestApp, body: Value, address: &str, cookies: &str) -> Answer {
    let headers = [("x-forwarded-for", address), ("cookie", cookies)];
    post(app, "/auth/sign-in", body, &headers).await
}

fn with_code(code: &str) -> Value {
    json!({"email": EMAIL, "password": PASSWORD, "code": code})
}

fn shown(app: &TestApp, secret: &Secret) -> String {
    secret.display_code(app.clock.now()).to_string()
}

/// Uses up the day's attempts without waiting for each.
async fn spend(app: &TestApp, subject: &str, times: usize) {
    let mut tx = app.app.db.write().await.unwrap();
    for _ in 0..times {
        let day = app.clock.now().div_euclid(DAY);
        tx.system("a test").count_failed_try(subject, day).await.unwrap();
    }
    tx.commit().await.unwrap();
}

fn is_refused_for_the_day(answer: &Answer, seconds: u64) {
    answer.refused(429, &format!("Too many requests. Try again in {seconds} seconds."));
}

#[tokio::test]
async fn a_thief_of_the_password_tries_ten_codes_a_day() {
    for setup in [Setup::default(), Setup::on_postgres()] {
        let (app, user, device) = stage(setup).await;
        let (secret, _) = enroll(&app, user.id).await;
        for n in 0..10 {
            if n == 5 {
                app.advance(MINUTE);
            }
            sign_in(&app, with_code(NO_CODE), &format!("192.0.2.{n}"), "").await.refused(401, WRONG_CODE);
        }
        app.advance(MINUTE);
        let left = LEFT - ((app.clock.now() - START) / SECOND) as u64;
        let code = shown(&app, &secret);
        is_refused_for_the_day(&sign_in(&app, with_code(&code), "198.51.100.1", "").await, left);
        // The user can still sign in, on the known device.
        sign_in(&app, with_code(&code), "198.51.100.1", &device).await.ok();
        app.advance(DAY - MINUTE);
        sign_in(&app, with_code(&shown(&app, &secret)), "198.51.100.1", "").await.ok();
    }
}

#[tokio::test]
async fn nodes_share_the_codes_of_a_day() {
    let (one, user, _) = stage(Setup::on_postgres()).await;
    let other = one.another_node().await;
    let (secret, _) = enroll(&one, user.id).await;
    other.advance(one.clock.now() - START);
    for n in 0..10 {
        if n == 5 {
            one.advance(MINUTE);
            other.advance(MINUTE);
        }
        let node = [&one, &other][n % 2];
        sign_in(node, with_code(NO_CODE), &format!("192.0.2.{n}"), "").await.refused(401, WRONG_CODE);
    }
    for node in [&one, &other] {
        node.advance(MINUTE);
        sign_in(node, with_code(&shown(node, &secret)), "198.51.100.1", "").await.is(429);
    }
}

#[tokio::test]
async fn a_restart_gives_no_new_day() {
    let (app, user, _) = stage(Setup::default()).await;
    let (secret, _) = enroll(&app, user.id).await;
    spend(&app, &format!("code:account:{}", user.id), 10).await;
    let again = TestApp::open(app.app.config.clone(), None, Arc::new(SystemResolver), None).await;
    again.advance(app.clock.now() - START);
    sign_in(&again, with_code(&shown(&again, &secret)), "198.51.100.1", "").await.is(429);
}

/// The response does not reveal whether an account exists.
#[tokio::test]
async fn a_day_takes_a_hundred_wrong_passwords_for_any_address() {
    let (app, user, _) = stage(Setup::default()).await;
    let unknown = "eve@example.com";
    // Only the service knows the bucket; one attempt finds it.
    let body = |email: &str, password: &str| json!({"email": email, "password": password});
    sign_in(&app, body(unknown, "wrong password"), "192.0.2.1", "").await.refused(401, WRONG_PASSWORD);
    let mut tx = app.app.db.read().await.unwrap();
    let tables = tx.system("a test").failed_tries().await.unwrap();
    drop(tx);
    let bucket = tables.iter().find(|(subject, _)| subject.contains('?')).unwrap();
    assert!(!bucket.0.contains("eve"), "{bucket:?}");
    spend(&app, &bucket.0, 98).await;
    spend(&app, &format!("password:account:{}", user.id), 99).await;
    for email in [EMAIL, unknown] {
        sign_in(&app, body(email, "wrong password"), "192.0.2.2", "").await.refused(401, WRONG_PASSWORD);
    }
    for email in [EMAIL, unknown] {
        is_refused_for_the_day(&sign_in(&app, body(email, PASSWORD), "192.0.2.3", "").await, LEFT);
    }
    // A new password set with the operator's link resets the day's count.
    let link = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    let reset = json!({"token": link, "password": "another good password"});
    post(&app, "/auth/reset", reset, &[]).await.ok();
    right(&app, "another good password").await;
}

#[tokio::test]
async fn strangers_do_not_lock_out_a_known_device() {
    let (app, user, device) = stage(Setup::default()).await;
    let wrong = json!({"email": EMAIL, "password": "wrong password"});
    for n in 0..5 {
        sign_in(&app, wrong.clone(), &format!("192.0.2.{n}"), "").await.refused(401, WRONG_PASSWORD);
    }
    spend(&app, &format!("password:account:{}", user.id), 200).await;
    let body = json!({"email": EMAIL, "password": PASSWORD});
    sign_in(&app, body.clone(), "192.0.2.9", "").await.is(429);
    for _ in 0..6 {
        sign_in(&app, body.clone(), "192.0.2.9", &device).await.ok();
    }
    // The same from an address that is over its limit.
    for n in 0..21 {
        let body = json!({"email": format!("nobody{n}@example.com"), "password": "wrong password"});
        sign_in(&app, body, "192.0.2.9", "").await;
    }
    sign_in(&app, body, "192.0.2.9", &device).await.ok();
}

#[tokio::test]
async fn a_known_device_has_a_budget_of_its_own() {
    let (app, user, device) = stage(Setup::default()).await;
    let (secret, _) = enroll(&app, user.id).await;
    for _ in 0..5 {
        sign_in(&app, with_code(NO_CODE), "192.0.2.1", &device).await.refused(401, WRONG_CODE);
    }
    sign_in(&app, with_code(&shown(&app, &secret)), "192.0.2.1", &device).await.is(429);
    // It does not lock out a new device either.
    sign_in(&app, with_code(&shown(&app, &secret)), "192.0.2.1", "").await.ok();
    app.advance(MINUTE);
    spend(&app, &format!("code:known:{}", user.id), 15).await;
    sign_in(&app, with_code(&shown(&app, &secret)), "192.0.2.1", &device).await.is(429);
}

#[tokio::test]
async fn a_device_is_known_by_user_password_and_year() {
    let (app, user, device) = stage(Setup::default()).await;
    app.org_with_user("bob@example.com", Role::Member).await;
    let bobs = json!({"email": "bob@example.com", "password": PASSWORD});
    let bobs = sign_in(&app, bobs, "192.0.2.1", "").await;
    let bobs = self::device(&bobs);
    let (_, bobs_mark) = bobs.split_once('=').unwrap();
    let (until, mark) = device.split_once('=').unwrap().1.split_once('.').unwrap();
    let until: i64 = until.parse().unwrap();
    let of_ada = |value: &str| format!("launchway-device-{}={value}", user.id);
    let refused = [
        bobs.clone(),
        of_ada(bobs_mark),
        of_ada(&format!("{}.{mark}", until + 1)),
        of_ada(&format!("{until}.")),
        of_ada(mark),
        of_ada("."),
        of_ada("x.x"),
        device.replacen("launchway-device-", "__Host-launchway-device-", 1),
    ];
    spend(&app, &format!("password:account:{}", user.id), 100).await;
    let body = json!({"email": EMAIL, "password": PASSWORD});
    for cookie in &refused {
        let answer = sign_in(&app, body.clone(), "192.0.2.2", cookie).await;
        assert_eq!(answer.status, 429, "{cookie}");
        app.advance(MINUTE);
    }
    // It is found among other cookies.
    let both = format!("{}; {device}", refused.join("; "));
    sign_in(&app, body.clone(), "192.0.2.2", &both).await.ok();
    app.advance(known_devices::LIFE - 9 * MINUTE);
    spend(&app, &format!("password:account:{}", user.id), 100).await;
    sign_in(&app, body.clone(), "192.0.2.2", &device).await.ok();
    app.advance(9 * MINUTE);
    let late = sign_in(&app, body, "192.0.2.2", &device).await;
    assert_eq!(late.status, 429, "a year is over: {}", late.text());
}

#[tokio::test]
async fn a_new_password_ends_known_devices() {
    let (app, user, device) = stage(Setup::default()).await;
    let link = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    let reset = json!({"token": link, "password": "another good password"});
    post(&app, "/auth/reset", reset, &[]).await.ok();
    spend(&app, &format!("password:account:{}", user.id), 100).await;
    let body = json!({"email": EMAIL, "password": "another good password"});
    sign_in(&app, body, "192.0.2.1", &device).await.is(429);
}

/// A signed-in user re-authenticates on a known device, even if its cookie is from an older version.
#[tokio::test]
async fn strangers_do_not_lock_a_signed_in_user_out() {
    let (app, user, _) = stage(Setup::default()).await;
    let session = app.sign_in(EMAIL).await;
    spend(&app, &format!("password:account:{}", user.id), 100).await;
    let view = who(&app, &session).await.ok();
    let org = view["organization"].id();
    let session_id = view.id().parse().unwrap();
    let token = form_token(&app.app, session_id, user.id);
    let fields = [("token", token.as_str()), ("current", PASSWORD), ("password", "another good password")];
    let changed = crate::pages::submit(&app, &format!("/o/{org}/profile/password"), &session, &fields).await;
    changed.is(303);
    assert!(device(&changed).contains(&user.id.to_string()));
}

#[tokio::test]
async fn the_cookie_is_for_the_server_alone() {
    let app = TestApp::with(settings!(public_url = "https://launchway.example")).await;
    app.org_with_user(EMAIL, Role::Owner).await;
    let answer = right(&app, PASSWORD).await;
    let cookies: Vec<_> = answer.headers.get_all("set-cookie").iter().collect();
    assert_eq!(cookies.len(), 2);
    let cookie = cookies[1].to_str().unwrap();
    let name = format!("__Host-launchway-device-{}=", user(&app).await.id);
    assert!(cookie.starts_with(&name), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000; Secure"), "{cookie}");
}
