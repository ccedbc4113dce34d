//! Two-factor codes: sign-ins require one, each works once, and wrong ones slow down like wrong passwords.

use launchway_domain::id::{OrgId, UserId};
use launchway_domain::tenancy::Role;
use launchway_domain::time::{MINUTE, SECOND};
use launchway_domain::totp::Secret;
use launchway_ops::caller::{Browser, Origin};
use launchway_ops::{accounts, two_factor};
use launchway_os::clock::Clock;
use serde_json::{Value, json};

use super::links::invite;
use super::{EMAIL, cookie, credentials, post, who};
use crate::pages::submit;
use crate::support::{Answer, Fields, PASSWORD, Says, TestApp};

const NEEDED: &str = "code is required: enter a code from the authenticator app of this account, or a recovery code";
const WRONG: &str = "code is wrong or already used; wait for the next one";
const WRONG_PASSWORD: &str = "The address or the password is wrong";
/// A code that no app shows in these tests; the codes of their secrets are compared with it.
const NO_CODE: &str = "12345x";

/// Enables codes for a user; returns the app's secret and the recovery codes. Advances the clock to the next code.
pub async fn enroll(app: &TestApp, user: UserId) -> (Secret, Vec<String>) {
    let browser = Browser {
        agent: "test".to_owned(),
        token: None,
        devices: Vec::new(),
        origin: Origin { address: [127, 0, 0, 1].into(), request_id: "test".to_owned() },
    };
    let mut tx = app.app.db.read().await.unwrap();
    let record = tx.system("a test").user(user).await.unwrap().unwrap();
    drop(tx);
    let begun = two_factor::begin(&app.app, &record, app.clock.now(), PASSWORD, &browser);
    let secret = begun.await.unwrap();
    let recovery = two_factor::confirm(&app.app, user, &shown(app, &secret), &browser.origin).await.unwrap();
    app.advance(30 * SECOND);
    (secret, recovery.iter().map(|code| code.to_string()).collect())
}

/// The code that the app shows now.
fn shown(app: &TestApp, secret: &Secret) -> String {
    secret.display_code(app.clock.now()).to_string()
}

/// A service with one user whose sign-ins require codes.
async fn stage() -> (TestApp, OrgId, Secret, Vec<String>) {
    let (app, org, signed_in) = TestApp::with_user(EMAIL, Role::Owner).await;
    let view = who(&app, &signed_in).await.ok();
    let (secret, recovery) = enroll(&app, view["user"].id().parse().unwrap()).await;
    (app, org, secret, recovery)
}

fn with_code(code: &str) -> Value {
    json!({"email": EMAIL, "password": PASSWORD, "code": code})
}

async fn sign_in(app: &TestApp, code: &str) -> Answer {
    post(app, "/auth/sign-in", with_code(code), &[]).await
}

#[tokio::test]
async fn a_sign_in_asks_for_a_code_and_takes_it_once() {
    let (app, _, secret, recovery) = stage().await;
    assert_eq!(recovery.len(), 10);
    let code = shown(&app, &secret);
    // Without the password, a caller does not learn that codes are enabled, and uses none up.
    let wrong = json!({"email": EMAIL, "password": "not the password", "code": code});
    post(&app, "/auth/sign-in", wrong, &[]).await.refused(401, WRONG_PASSWORD);
    for body in [credentials(EMAIL, PASSWORD), with_code(""), with_code(" ")] {
        let answer = post(&app, "/auth/sign-in", body, &[]).await;
        answer.refused(401, NEEDED);
        assert_eq!(answer.header("set-cookie"), "");
    }
    sign_in(&app, NO_CODE).await.refused(401, WRONG);
    let signed_in = sign_in(&app, &format!(" {} {} ", &code[..3], &code[3..])).await;
    signed_in.ok();
    who(&app, &cookie(&signed_in)).await.ok();
    sign_in(&app, &code).await.refused(401, WRONG);
    app.advance(30 * SECOND);
    sign_in(&app, &code).await.refused(401, WRONG);
    sign_in(&app, &shown(&app, &secret)).await.ok();
}

#[tokio::test]
async fn a_recovery_code_works_once_and_leaves_a_line() {
    let (app, org, _, recovery) = stage().await;
    sign_in(&app, &recovery[3].to_lowercase()).await.ok();
    sign_in(&app, &recovery[3]).await.refused(401, WRONG);
    sign_in(&app, &recovery[4]).await.ok();
    let actions: Vec<_> = app.audit(org).await.into_iter().map(|row| row.action).collect();
    let count = |action: &str| actions.iter().filter(|given| *given == action).count();
    assert_eq!(count("user.add_two_factor"), 1, "{actions:?}");
    assert_eq!(count("user.use_recovery_code"), 2, "{actions:?}");
}

#[tokio::test]
async fn wrong_codes_slow_down_as_wrong_passwords_do() {
    let (app, _, secret, _) = stage().await;
    app.advance(MINUTE);
    for _ in 0..5 {
        sign_in(&app, NO_CODE).await.refused(401, WRONG);
    }
    sign_in(&app, &shown(&app, &secret)).await.is(429);
    app.advance(MINUTE);
    sign_in(&app, &shown(&app, &secret)).await.ok();
}

/// On the API and on both steps of the page.
#[tokio::test]
async fn wrong_passwords_and_wrong_codes_count_together() {
    let (app, _, secret, _) = stage().await;
    app.advance(MINUTE);
    let html = first_step(&app).await;
    let proof = hidden(&html, "proof");
    for _ in 0..2 {
        submit(&app, "/", "", &[("email", EMAIL), ("password", "not the password")]).await.is(401);
        second_step(&app, EMAIL, proof, NO_CODE).await.is(401);
    }
    sign_in(&app, NO_CODE).await.refused(401, WRONG);
    let code = shown(&app, &secret);
    let slowed_down = [
        second_step(&app, EMAIL, proof, &code).await,
        submit(&app, "/", "", &[("email", EMAIL), ("password", PASSWORD)]).await,
        sign_in(&app, &code).await,
    ];
    for answer in slowed_down {
        answer.is(429);
    }
    app.advance(MINUTE);
    second_step(&app, EMAIL, proof, &shown(&app, &secret)).await.is(303);
}

/// `/device` has the same two steps, and preserves the command line's code.
#[tokio::test]
async fn a_command_line_is_signed_in_by_two_steps() {
    let (app, _, secret, _) = stage().await;
    let asked = [("token", "sign-in"), ("code", "bcdf-ghjk"), ("email", EMAIL)];
    let with = |more: &[(&'static str, String)]| {
        let mut fields: Vec<_> = asked.map(|(name, value)| (name, value.to_owned())).to_vec();
        fields.extend_from_slice(more);
        fields
    };
    let send = async |fields: Vec<(&str, String)>| {
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        submit(&app, "/device", "", &fields).await
    };
    let first = send(with(&[("password", PASSWORD.to_owned())])).await;
    assert_eq!((first.status.as_u16(), first.header("set-cookie")), (200, ""));
    let html = first.text();
    html.says(r#"action="/device""#);
    html.lacks(PASSWORD);
    assert_eq!((hidden(&html, "token"), hidden(&html, "code")), ("sign-in", "bcdf-ghjk"));
    let proof = ("proof", hidden(&html, "proof").to_owned());
    let wrong = send(with(&[proof.clone(), ("one-time-code", NO_CODE.to_owned())])).await;
    assert_eq!((wrong.status.as_u16(), wrong.header("set-cookie")), (401, ""));
    assert_eq!(hidden(&wrong.text(), "code"), "bcdf-ghjk", "the code is asked for again");
    let done = send(with(&[proof.clone(), ("one-time-code", shown(&app, &secret))])).await;
    assert_eq!((done.status.as_u16(), done.header("location")), (303, "/device?code=bcdfghjk"));
    who(&app, &cookie(&done)).await.ok();
    app.advance(5 * MINUTE);
    let late = send(with(&[proof, ("one-time-code", shown(&app, &secret))])).await;
    late.is(401);
    assert!(late.text().contains(r#"name="password""#), "from the beginning: {}", late.text());
}

#[tokio::test]
async fn many_at_once_use_a_code_once() {
    let (app, _, secret, _) = stage().await;
    let code = shown(&app, &secret);
    let tries = (0..4).map(|_| sign_in(&app, &code));
    let answers = futures::future::join_all(tries).await;
    let signed_in = answers.iter().filter(|answer| answer.status.as_u16() == 200).count();
    assert_eq!(signed_in, 1);
}

/// The value of a hidden field.
pub fn hidden<'t>(html: &'t str, name: &str) -> &'t str {
    let rest = html.split_once(&format!(r#"name="{name}" value=""#)).unwrap_or_else(|| panic!("{html}")).1;
    rest.split_once('"').unwrap().0
}

async fn first_step(app: &TestApp) -> String {
    let fields = [("email", EMAIL), ("password", PASSWORD), ("next", "/o/x/builds")];
    let answer = submit(app, "/", "", &fields).await;
    assert_eq!((answer.status.as_u16(), answer.header("set-cookie")), (200, ""));
    assert!(!answer.text().contains(PASSWORD), "the password is not sent back");
    answer.text()
}

async fn second_step(app: &TestApp, email: &str, proof: &str, code: &str) -> Answer {
    let fields = [("email", email), ("proof", proof), ("one-time-code", code), ("next", "/o/x/builds")];
    submit(app, "/", "", &fields).await
}

#[tokio::test]
async fn a_page_signs_in_by_two_steps() {
    let (app, _, secret, _) = stage().await;
    let html = first_step(&app).await;
    assert_eq!((hidden(&html, "email"), hidden(&html, "next")), (EMAIL, "/o/x/builds"));
    let proof = hidden(&html, "proof");
    for code in ["", NO_CODE] {
        let again = second_step(&app, EMAIL, proof, code).await;
        again.is(401);
        assert_eq!(hidden(&again.text(), "proof"), proof, "the code is asked for again");
    }
    let done = second_step(&app, EMAIL, proof, &shown(&app, &secret)).await;
    assert_eq!((done.status.as_u16(), done.header("location")), (303, "/o/x/builds"));
    who(&app, &cookie(&done)).await.ok();
}

#[tokio::test]
async fn a_first_step_counts_for_one_account_and_five_minutes() {
    let (app, org, secret, _) = stage().await;
    let other = app.user(org, "bob@example.com", Role::Member).await;
    let other = who(&app, &other).await.ok()["user"].id().parse().unwrap();
    let (bobs, _) = enroll(&app, other).await;
    let html = first_step(&app).await;
    let proof = hidden(&html, "proof").to_owned();
    let again = async |email: &str, proof: &str, code: String| {
        let answer = second_step(&app, email, proof, &code).await;
        answer.is(401);
        answer.says("This took too long. Sign in again.");
        assert!(answer.text().contains(r#"name="password""#), "from the beginning");
    };
    again("bob@example.com", &proof, shown(&app, &bobs)).await;
    again("nobody@example.com", &proof, shown(&app, &bobs)).await;
    let later = proof.replacen(|digit: char| digit.is_ascii_digit(), "9", 1);
    for forged in ["x", "1.x", later.as_str()] {
        again(EMAIL, forged, shown(&app, &secret)).await;
    }
    app.advance(5 * MINUTE);
    again(EMAIL, &proof, shown(&app, &secret)).await;
    let html = first_step(&app).await;
    let link = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    let body = json!({"token": link, "password": "another good password"});
    post(&app, "/auth/reset", body, &[]).await.ok();
    again(EMAIL, hidden(&html, "proof"), shown(&app, &secret)).await;
}

#[tokio::test]
async fn an_invitation_asks_who_has_an_account_for_a_code() {
    let (app, _, secret, _) = stage().await;
    let (_, key) = app.org_with_key().await;
    let (_, token) = invite(&app, &key, EMAIL, "member").await;
    let accept = async |body: Value| post(&app, "/auth/invitation", body, &[]).await;
    accept(json!({"token": token, "password": PASSWORD})).await.refused(401, NEEDED);
    let fields = [("token", token.as_str()), ("password", PASSWORD)];
    submit(&app, "/invite", "", &fields).await.says(r#"name="code""#);
    accept(json!({"token": token, "password": PASSWORD, "code": shown(&app, &secret)})).await.ok();
}

#[tokio::test]
async fn the_secret_is_sealed_for_its_user() {
    let (app, org, secret, recovery) = stage().await;
    let session = app.user(org, "bob@example.com", Role::Member).await;
    let bob: UserId = who(&app, &session).await.ok()["user"].id().parse().unwrap();
    let mut tx = app.app.db.read().await.unwrap();
    let mut system = tx.system("a test");
    let (ada, _) = system.user_by_email(EMAIL).await.unwrap().unwrap();
    let kept = system.two_factor(ada.id).await.unwrap().unwrap();
    drop(tx);
    assert!(app.app.vault.open_two_factor(bob, &kept.sealed).is_err(), "it opens in its place only");
    let opened = app.app.vault.open_two_factor(ada.id, &kept.sealed).unwrap();
    assert_eq!(opened.as_slice(), secret.bytes());
    for text in [secret.text().to_string(), recovery[0].clone(), recovery[0].replace('-', "")] {
        assert!(!super::secrets::keeps(&app, &text), "{text}");
    }
    app.get(&session, "/auth/session").await.ok();
}
