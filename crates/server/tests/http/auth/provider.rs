//! Sign-in through an OpenID Connect provider.

mod claimed;
mod fake;
mod keys;
mod passwordless;
mod troubles;
mod ways;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use launchway_domain::tenancy::Role;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use self::fake::{begin, come_back, good_claims, is_refused, prove, session, stage};
use super::links::invite;
use super::two_factor::enroll;
use super::{EMAIL, who};
use crate::pages::page;
use crate::support::{Fields, START, Says, TestApp};

#[tokio::test]
async fn who_has_an_account_is_signed_in() {
    let (app, fake) = stage().await;
    let (org, _) = app.org_with_user(EMAIL, Role::Member).await;
    prove(&app, EMAIL).await;
    page(&app, "/", "").await.says("/sign-in/provider");
    let answer = come_back(&app, &fake, |_| {}).await;
    let view = who(&app, &session(&answer)).await.ok();
    assert_eq!(view["user"]["email"], EMAIL);
    assert_eq!(view["organization"]["id"], json!(org));
    let (form, proof) = fake.asked.lock().unwrap().pop().unwrap();
    assert_eq!(proof, format!("Basic {}", BASE64_STANDARD.encode("launchway:the%20secret")));
    for part in ["grant_type=authorization_code", "code=a%20code", "redirect_uri=http%3A%2F%2F127.0.0.1"] {
        assert!(form.contains(part), "{part}: {form}");
    }
}

#[tokio::test]
async fn the_code_is_exchanged_with_the_verifier_of_its_challenge() {
    let (app, fake) = stage().await;
    let (kept, told) = begin(&app).await;
    assert_eq!((told["response_type"].as_str(), told["code_challenge_method"].as_str()), ("code", "S256"));
    *fake.claims.lock().unwrap() = good_claims(&app, &fake, &told);
    let path = format!("/sign-in/provider/callback?code=x&state={}", told["state"]);
    page(&app, &path, &kept).await;
    let (form, _) = fake.asked.lock().unwrap().pop().unwrap();
    let verifier = form.split('&').find_map(|pair| pair.strip_prefix("code_verifier=")).unwrap();
    assert_eq!(BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)), told["code_challenge"]);
    // The parameters sent to the provider reveal neither the verifier nor what the browser stores.
    for name in ["state", "nonce", "code_challenge"] {
        assert!(told[name] != verifier && !kept.contains(&told[name]), "{name}");
    }
}

#[tokio::test]
async fn an_invitation_makes_an_account_and_no_organization() {
    let (app, fake) = stage().await;
    let (org, key) = app.org_with_key().await;
    is_refused(&come_back(&app, &fake, |_| {}).await, 403, "has no account here and no invitation");
    invite(&app, &key, EMAIL, "admin").await;
    let view = who(&app, &session(&come_back(&app, &fake, |_| {}).await)).await.ok();
    view["organization"].has(json!({"id": org, "role": "admin"}));
    // Again, by the account.
    session(&come_back(&app, &fake, |_| {}).await);
    // It has no password, and the placeholder for a missing password does not work either.
    for password in ["", "none"] {
        let body = json!({"email": EMAIL, "password": password});
        super::post(&app, "/auth/sign-in", body, &[]).await.refused(401, "The address or the password is wrong");
    }
}

#[tokio::test]
async fn tokens_that_do_not_hold_are_refused() {
    let (app, fake) = stage().await;
    app.org_with_user(EMAIL, Role::Member).await;
    let end = START / 1000;
    for (field, value, words) in [
        ("iss", json!("https://evil.example"), "not issued for this service"),
        ("aud", json!("another"), "not issued for this service"),
        ("aud", json!(["launchway", "another"]), "not issued for this service"),
        ("azp", json!("another"), "not issued for this service"),
        ("exp", json!(end - 60), "it has expired"),
        ("nonce", json!("another"), "belongs to another sign-in"),
        ("nonce", Value::Null, "belongs to another sign-in"),
        ("email_verified", json!(false), "no email address"),
        ("email_verified", json!("false"), "no email address"),
        ("email_verified", json!("TRUE"), "no email address"),
        ("email_verified", json!(1), "no email address"),
        ("email_verified", Value::Null, "no email address"),
        ("email", Value::Null, "no email address"),
        ("exp", json!("soon"), "not a signed token"),
    ] {
        let answer = come_back(&app, &fake, |claims| claims[field] = value.clone()).await;
        is_refused(&answer, 401, words);
    }
}

#[tokio::test]
async fn a_sign_in_ends_in_the_browser_where_it_began() {
    let (app, fake) = stage().await;
    app.org_with_user(EMAIL, Role::Member).await;
    let ((kept, told), (other, _)) = (begin(&app).await, begin(&app).await);
    *fake.claims.lock().unwrap() = good_claims(&app, &fake, &told);
    let anew = "This sign-in was not started in this browser";
    let path = format!("/sign-in/provider/callback?code=x&state={}", told["state"]);
    for cookie in ["", other.as_str(), "launchway-provider=x"] {
        is_refused(&page(&app, &path, cookie).await, 401, anew);
    }
    is_refused(&page(&app, "/sign-in/provider/callback?code=x", &kept).await, 401, anew);
    assert_eq!(fake.asked.lock().unwrap().len(), 0, "no code was exchanged");
    let refused = format!("/sign-in/provider/callback?error=access_denied&state={}", told["state"]);
    is_refused(&page(&app, &refused, &kept).await, 401, "did not sign you in");
}

#[tokio::test]
async fn an_account_that_asks_for_codes_asks_here_too() {
    let (app, fake) = stage().await;
    let (_, cookie) = app.org_with_user(EMAIL, Role::Member).await;
    let view = who(&app, &cookie).await.ok();
    enroll(&app, view["user"].id().parse().unwrap()).await;
    prove(&app, EMAIL).await;
    let answer = come_back(&app, &fake, |_| {}).await;
    is_refused(&answer, 200, r#"name="one-time-code""#);
}

#[tokio::test]
async fn without_a_provider_there_is_no_such_page() {
    let app = TestApp::start().await;
    for path in ["/sign-in/provider", "/sign-in/provider/callback?code=x&state=y"] {
        assert_eq!(page(&app, path, "").await.status.as_u16(), 404, "{path}");
    }
    page(&app, "/", "").await.lacks("/sign-in/provider");
}
