//! `/auth`: signing in and out, the cookie, sessions (`docs/reference/callers.md#sessions`).

mod known_devices;
pub mod links;
mod log;
mod other_sites;
mod provider;
mod secrets;
mod slow_down;
mod two_factor;

use launchway_config::RawSettings;
use launchway_domain::tenancy::Role;
use launchway_domain::time::{DAY, MINUTE, SECOND, iso};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Fields, PASSWORD, START, Says, TestApp};

const EMAIL: &str = "ada@example.com";
const NO_AUTHENTICATION: &str = "No authentication provided";

/// Sends JSON with these headers and nothing else.
async fn post(app: &TestApp, path: &str, body: Value, headers: &[(&str, &str)]) -> Answer {
    let mut request = app.request(Method::POST, path).json(&body);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Answer::to(request).await
}

fn credentials(email: &str, password: &str) -> Value {
    json!({"email": email, "password": password})
}

/// The cookie that an answer sets, as a browser would send it.
fn cookie(answer: &Answer) -> String {
    answer.cookie()
}

pub async fn who(app: &TestApp, cookie: &str) -> Answer {
    app.get(cookie, "/auth/session").await
}

#[tokio::test]
async fn sign_in_says_who_is_signed_in() {
    let (app, org, _) = TestApp::with_user(EMAIL, Role::Admin).await;
    // Addresses match in any letter case and with surrounding blanks.
    let answer = post(&app, "/auth/sign-in", credentials(" Ada@Example.COM ", PASSWORD), &[]).await;
    let view = answer.ok();
    assert!(view.id().starts_with("session_"), "{view}");
    let organization = json!({
        "id": org, "status": "active", "name": "Test", "tier": "enterprise", "role": "admin", "createdAt": iso(START),
    });
    let expected = json!({
        "id": view["id"], "status": "active", "kind": "session", "environment": "production",
        "user": {"id": view["user"]["id"], "email": EMAIL}, "key": null,
        "organization": organization, "organizations": [organization],
        "limits": {"source": 2_u64 << 30, "package": 512 << 20, "unpackedPackage": 2_u64 << 30},
    });
    assert_eq!(view, expected);
    assert_eq!(who(&app, &cookie(&answer)).await.ok(), expected);
}

#[tokio::test]
async fn the_cookie_is_as_strict_as_the_address_allows() {
    for (public_url, name, secure) in [
        (None, "launchway", false),
        (Some("http://launchway.internal:8787"), "launchway", false),
        (Some("https://launchway.example"), "__Host-launchway", true),
    ] {
        let settings = RawSettings { public_url: public_url.map(str::to_owned), ..RawSettings::default() };
        let app = TestApp::with(settings).await;
        app.org_with_user(EMAIL, Role::Member).await;
        let answer = post(&app, "/auth/sign-in", credentials(EMAIL, PASSWORD), &[]).await;
        let header = answer.header("set-cookie").to_owned();
        let mut parts = header.split("; ");
        let (given, token) = parts.next().unwrap().split_once('=').unwrap();
        assert_eq!(given, name);
        assert_eq!(token.len(), 43, "256 bits as base64url");
        let mut attributes: Vec<_> = parts.collect();
        attributes.sort_unstable();
        // The maximum lifetime of a session. No Domain: `__Host-` forbids one.
        let life = format!("Max-Age={}", 90 * DAY / SECOND);
        let mut expected = vec!["HttpOnly", life.as_str(), "Path=/", "SameSite=Lax"];
        expected.extend(secure.then_some("Secure"));
        assert_eq!(attributes, expected);
        who(&app, &format!("{name}={token}")).await.ok();
        // A cookie without the prefix could come from another host of the same site.
        let other = if secure { "launchway" } else { "__Host-launchway" };
        who(&app, &format!("{other}={token}")).await.refused(401, NO_AUTHENTICATION);
    }
}

#[tokio::test]
async fn sign_in_rotates_the_cookie() {
    let (app, _, first) = TestApp::with_user(EMAIL, Role::Member).await;
    let elsewhere = app.sign_in(EMAIL).await;
    let headers = [("cookie", first.as_str()), ("origin", app.origin.as_str())];
    let wrong = post(&app, "/auth/sign-in", credentials(EMAIL, "not the password"), &headers).await;
    wrong.refused(401, "The address or the password is wrong");
    who(&app, &first).await.ok();
    let answer = post(&app, "/auth/sign-in", credentials(EMAIL, PASSWORD), &headers).await;
    answer.ok();
    assert_ne!(cookie(&answer), first);
    who(&app, &cookie(&answer)).await.ok();
    who(&app, &first).await.refused(401, NO_AUTHENTICATION);
    // Other browsers stay signed in.
    who(&app, &elsewhere).await.ok();
    // The service never adopts a cookie that someone made up.
    let made_up = [("cookie", "launchway=made-up"), ("origin", app.origin.as_str())];
    let answer = post(&app, "/auth/sign-in", credentials(EMAIL, PASSWORD), &made_up).await;
    answer.ok();
    assert_ne!(cookie(&answer), "launchway=made-up");
    who(&app, "launchway=made-up").await.refused(401, NO_AUTHENTICATION);
}

#[tokio::test]
async fn sign_out_ends_the_session_and_clears_the_cookie() {
    let (app, _, first) = TestApp::with_user(EMAIL, Role::Member).await;
    let other = app.sign_in(EMAIL).await;
    let id = who(&app, &first).await.ok()["id"].clone();
    let answer = app.post(&first, "/auth/sign-out", ()).await;
    assert_eq!(answer.ok(), json!({"id": id, "status": "revoked"}));
    let cleared = answer.header("set-cookie");
    assert!(cleared.starts_with("launchway=; "), "{cleared}");
    cleared.says("; Max-Age=0");
    who(&app, &first).await.refused(401, NO_AUTHENTICATION);
    app.post(&first, "/auth/sign-out", ()).await.refused(401, NO_AUTHENTICATION);
    who(&app, &other).await.ok();
}

#[tokio::test]
async fn a_session_ends_after_90_days_however_often_it_is_used() {
    let (app, _, session) = TestApp::with_user(EMAIL, Role::Member).await;
    for _ in 0..8 {
        app.advance(10 * DAY);
        who(&app, &session).await.ok();
        app.app.last_used.flush(&app.app.db).await.unwrap();
    }
    app.advance(10 * DAY - SECOND);
    let again = who(&app, &session).await;
    again.ok();
    assert_eq!(again.header("set-cookie"), "", "nothing makes the cookie live longer");
    app.advance(SECOND);
    who(&app, &session).await.refused(401, NO_AUTHENTICATION);
    who(&app, &app.sign_in(EMAIL).await).await.ok();
}

#[tokio::test]
async fn a_session_ends_when_it_was_idle_for_30_days() {
    let (app, org, first) = TestApp::with_user(EMAIL, Role::Member).await;
    // Used just before it expires, a session is extended: once through the API, once through a page.
    app.advance(30 * DAY - MINUTE);
    app.get(&first, "/auth/sessions").await.ok();
    app.advance(30 * DAY - MINUTE);
    let page = app.get(&first, &format!("{}/", app.origin)).await;
    assert_eq!(page.header("location"), format!("/o/{org}"), "{}", page.text());
    app.app.last_used.flush(&app.app.db).await.unwrap();
    app.advance(30 * DAY - MINUTE);
    let list = app.get(&first, "/auth/sessions").await.ok();
    let now = START + 3 * (30 * DAY - MINUTE);
    assert_eq!(list["items"][0]["lastUsedAt"], iso(now));
    assert_eq!(list["items"][0]["expiresAt"], iso(START + 90 * DAY), "its whole life is shorter");
    app.advance(30 * DAY);
    who(&app, &first).await.refused(401, NO_AUTHENTICATION);
    // Expired sessions are not listed.
    let fresh = app.sign_in(EMAIL).await;
    let list = app.get(&fresh, "/auth/sessions").await.ok();
    assert_eq!(list["total"], 1);
}

#[tokio::test]
async fn sessions_are_listed_and_revocable() {
    let (app, org, first) = TestApp::with_user(EMAIL, Role::Member).await;
    app.user(org, "bob@example.com", Role::Member).await;
    app.advance(MINUTE);
    let headers = [("user-agent", "Browser/1"), ("x-forwarded-for", "203.0.113.9")];
    let answer = post(&app, "/auth/sign-in", credentials(EMAIL, PASSWORD), &headers).await;
    let second = cookie(&answer);
    let id = answer.ok()["id"].clone();
    let list = app.get(&first, "/auth/sessions").await.ok();
    list.has(json!({"total": 2, "limit": 10, "offset": 0}));
    let at = iso(START + MINUTE);
    let newest = json!({
        "id": id, "status": "active", "current": false, "userAgent": "Browser/1", "address": "203.0.113.9",
        "createdAt": at, "lastUsedAt": at, "expiresAt": iso(START + MINUTE + 30 * DAY),
    });
    assert_eq!(list["items"][0], newest);
    assert_eq!(list["items"][1]["current"], true);
    let page = app.get(&first, "/auth/sessions?limit=1&offset=1").await.ok();
    assert_eq!(page["items"], json!([list["items"][1]]));

    let path = format!("/auth/sessions?id={}", id.as_str().unwrap());
    assert_eq!(app.delete(&first, &path).await.ok(), json!({"id": id, "status": "revoked"}));
    who(&app, &second).await.refused(401, NO_AUTHENTICATION);
    app.delete(&first, &path).await.refused(404, "No session has this id");
    let list = app.get(&first, "/auth/sessions").await.ok();
    assert_eq!(list["total"], 1);
}

#[tokio::test]
async fn a_bearer_value_wins_over_a_cookie() {
    let (app, org, cookie) = TestApp::with_user(EMAIL, Role::Owner).await;
    let (other, key) = app.org_with_key().await;
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let request = app.request(Method::GET, "/auth/session").header("cookie", &cookie);
        let request = request.header("authorization", format!("{scheme} {key}"));
        let view = Answer::to(request).await.ok();
        assert_eq!((&view["kind"], &view["organization"]["id"]), (&json!("apiKey"), &json!(other)));
    }
    // A header of another scheme is ignored: the cookie counts.
    let request = app.request(Method::GET, "/auth/session").header("cookie", &cookie);
    let request = request.header("authorization", "Basic YTpi");
    let view = Answer::to(request).await.ok();
    assert_eq!(view["organization"]["id"], json!(org));
}

#[tokio::test]
async fn a_key_that_is_given_twice_is_no_key() {
    let (app, key) = TestApp::with_key().await;
    let value = format!("Bearer {key}");
    let request = app.request(Method::GET, "/auth/session");
    let request = request.header("authorization", &value).header("authorization", &value);
    Answer::to(request).await.refused(401, "Invalid or expired API key");
}
