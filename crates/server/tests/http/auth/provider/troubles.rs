//! A provider that is down or sends invalid responses: users get a clear message, and passwords keep working.

use std::sync::atomic::Ordering;

use launchway_domain::tenancy::Role;
use launchway_domain::time::{MINUTE, SECOND};
use serde_json::json;

use super::fake::{begin, come_back, is_refused, prove, session, stage, with_issuer};
use crate::auth::EMAIL;
use crate::pages::{page, signed_in, submit};
use crate::support::{PASSWORD, Says, TestApp};

const AWAY: &str = "The sign-in provider cannot be reached. Try again, or sign in with your password.";

async fn signs_in_by_password(app: &TestApp) {
    signed_in(&submit(app, "/", "", &[("email", EMAIL), ("password", PASSWORD)]).await);
}

#[tokio::test]
async fn a_provider_that_is_away_keeps_nobody_with_a_password_out() {
    let (app, fake) = stage().await;
    app.org_with_user(EMAIL, Role::Member).await;
    prove(&app, EMAIL).await;
    fake.status.store(502, Ordering::SeqCst);
    let answer = page(&app, "/sign-in/provider", "").await;
    is_refused(&answer, 503, AWAY);
    answer.says(r#"name="password""#);
    signs_in_by_password(&app).await;
    // The next request fails at once; a little later the provider is tried again.
    fake.status.store(200, Ordering::SeqCst);
    is_refused(&page(&app, "/sign-in/provider", "").await, 503, AWAY);
    assert_eq!(fake.reads.load(Ordering::SeqCst), 1);
    app.advance(5 * SECOND);
    session(&come_back(&app, &fake, |_| {}).await);
}

#[tokio::test]
async fn a_provider_that_nothing_listens_for_is_away() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nowhere = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let app = with_issuer(&nowhere).await;
    app.org_with_user(EMAIL, Role::Member).await;
    prove(&app, EMAIL).await;
    is_refused(&page(&app, "/sign-in/provider", "").await, 503, AWAY);
    signs_in_by_password(&app).await;
}

#[tokio::test]
async fn what_a_provider_publishes_must_fit_the_settings() {
    for says in [
        json!({"issuer": "https://evil.example"}),
        json!({"issuer": null}),
        json!({"authorization_endpoint": "javascript:alert(1)"}),
        // Private addresses other than the provider's own are not called.
        json!({"jwks_uri": "http://127.0.0.1:1/keys"}),
    ] {
        let (app, fake) = stage().await;
        *fake.discovery.lock().unwrap() = says;
        is_refused(&page(&app, "/sign-in/provider", "").await, 503, AWAY);
    }
}

#[tokio::test]
async fn made_up_codes_slow_down_by_address_as_wrong_passwords_do() {
    let (app, fake) = stage().await;
    app.org_with_user(EMAIL, Role::Member).await;
    prove(&app, EMAIL).await;
    app.advance(MINUTE);
    for _ in 0..20 {
        is_refused(&come_back(&app, &fake, |claims| claims["aud"] = json!("x")).await, 401, "not issued for");
    }
    is_refused(&come_back(&app, &fake, |_| {}).await, 429, "Too many requests");
    assert_eq!(fake.asked.lock().unwrap().len(), 20, "no code was exchanged");
    app.advance(MINUTE);
    session(&come_back(&app, &fake, |_| {}).await);
    // Successful attempts do not count.
    for _ in 0..20 {
        session(&come_back(&app, &fake, |_| {}).await);
    }
}

/// A letter of another script whose lower case is ASCII: the Kelvin sign.
#[tokio::test]
async fn an_address_that_only_looks_alike_in_lower_case_is_another() {
    let (app, fake) = stage().await;
    app.org_with_user("kim@example.com", Role::Owner).await;
    prove(&app, "kim@example.com").await;
    let answer = come_back(&app, &fake, |claims| claims["email"] = json!("\u{212a}im@example.com")).await;
    is_refused(&answer, 403, "has no account here");
    session(&come_back(&app, &fake, |claims| claims["email"] = json!("Kim@Example.com")).await);
}

#[tokio::test]
async fn what_comes_back_without_the_cookies_token_is_refused() {
    let (app, fake) = stage().await;
    let (_, told) = begin(&app).await;
    let path = format!("/sign-in/provider/callback?code=x&state={}", told["state"]);
    for cookie in ["launchway-provider=.", "launchway-provider=.L28veA", "launchway-provider=%00.%%"] {
        is_refused(&page(&app, &path, cookie).await, 401, "not started in this browser");
    }
    assert_eq!(fake.asked.lock().unwrap().len(), 0);
}
