//! A sign-in through the provider leads back to the requested page, and nowhere else.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_domain::tenancy::Role;
use launchway_os::clock::Clock;
use serde_json::json;

use super::fake::{begin, come_back_to, good_claims, is_refused, prove, session_at, session_cookie, stage};
use crate::auth::two_factor::{enroll, hidden};
use crate::auth::{EMAIL, who};
use crate::pages::{encoded, page, submit};
use crate::support::{Answer, TestApp};

/// The link to the provider that a page shows.
fn link(answer: &Answer) -> String {
    let html = answer.text();
    let rest = html.split_once(r#"href="/sign-in/provider"#).unwrap_or_else(|| panic!("{html}")).1;
    format!("/sign-in/provider{}", rest.split_once('"').unwrap().0)
}

async fn with_user(app: &TestApp) -> String {
    let (_, cookie) = app.org_with_user(EMAIL, Role::Owner).await;
    prove(app, EMAIL).await;
    cookie
}

#[tokio::test]
async fn a_sign_in_comes_back_to_the_page_that_was_asked_for() {
    let (app, fake) = stage().await;
    with_user(&app).await;
    for (asked, wanted) in [
        ("/o/org_1/builds?status=failed", "/o/org_1/builds?status=failed"),
        ("/device?code=bcdf-ghjk", "/device?code=bcdfghjk"),
        ("/device", "/device?code="),
    ] {
        let first = page(&app, asked, "").await;
        // A page of the dashboard redirects to the first page.
        let form = match first.header("location") {
            "" => first,
            sign_in => page(&app, sign_in, "").await,
        };
        let answer = come_back_to(&app, &fake, &link(&form), |_| {}).await;
        session_at(&answer, wanted);
        // Also after a refused attempt.
        let again = come_back_to(&app, &fake, &link(&form), |claims| claims["aud"] = json!("x")).await;
        is_refused(&again, 401, "not issued for this service");
        assert_eq!(link(&again), link(&form));
    }
}

#[tokio::test]
async fn the_code_of_an_app_is_asked_on_the_way() {
    let (app, fake) = stage().await;
    let cookie = with_user(&app).await;
    let user = who(&app, &cookie).await.ok()["user"]["id"].clone();
    let (secret, _) = enroll(&app, user.as_str().unwrap().parse().unwrap()).await;
    let link = link(&page(&app, "/device?code=bcdfghjk", "").await);
    let asked = come_back_to(&app, &fake, &link, |_| {}).await;
    is_refused(&asked, 200, r#"name="one-time-code""#);
    let (html, shown) = (asked.text(), secret.display_code(app.clock.now()));
    let fields = ["email", "proof", "next"].map(|name| (name, hidden(&html, name)));
    let fields = [&fields[..], &[("one-time-code", shown.as_str())]].concat();
    session_at(&submit(&app, "/", "", &fields).await, "/device?code=bcdfghjk");
}

#[tokio::test]
async fn a_sign_in_through_the_provider_leads_nowhere_else() {
    let (app, fake) = stage().await;
    with_user(&app).await;
    let long = format!("/o/{}", "x".repeat(2000));
    for next in [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "/o/\\evil",
        "/o/\r\nset-cookie: a=b",
        "/device",
        "/device?code=/../x",
        "/device?code=x&y=z",
        "/device?code=x#y",
        "/devicex",
        "/device//evil.example",
        "/api/auth/session",
        "/sign-in/provider",
        long.as_str(),
        "",
    ] {
        let path = format!("/sign-in/provider?{}", encoded(&[("next", next)]));
        session_at(&come_back_to(&app, &fake, &path, |_| {}).await, "/");
        // The same if someone else set the cookie.
        let (kept, told) = begin(&app).await;
        let token = kept.split_once('=').unwrap().1.split_once('.').unwrap().0;
        *fake.claims.lock().unwrap() = good_claims(&app, &fake, &told);
        let callback = format!("/sign-in/provider/callback?code=x&state={}", told["state"]);
        let forged = format!("launchway-provider={token}.{}", BASE64_URL_SAFE_NO_PAD.encode(next));
        let answer = page(&app, &callback, &forged).await;
        let led = answer.header("location");
        assert!(led == "/" || led == long, "{next}: {led}");
        assert!(session_cookie(&answer).is_some());
    }
}
