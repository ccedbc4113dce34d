//! An account that someone else may have created before the provider proved who owns the address.

use launchway_domain::tenancy::Role;
use launchway_ops::api_error::ApiError;
use launchway_ops::caller::{Browser, Origin};
use launchway_ops::{proof, sign_in};
use serde_json::json;

use super::fake::{begin, come_back, good_claims, is_refused, session, session_cookie, stage};
use crate::auth::links::{accept, invite};
use crate::auth::two_factor::enroll;
use crate::auth::{EMAIL, cookie, credentials, post, who};
use crate::device_logins;
use crate::pages::page;
use crate::support::{Answer, Fields, PASSWORD, Says, TestApp};

const DROPPED: &str = "This account had a password before you proved that the address is yours";

/// The session of a sign-in that revoked the account's earlier access.
fn claimed(answer: &Answer) -> String {
    answer.is(200);
    answer.says(DROPPED);
    session_cookie(answer).expect("a session")
}

async fn user_id(app: &TestApp, cookie: &str) -> String {
    who(app, cookie).await.ok()["user"].id().to_owned()
}

/// The attack: an admin accepts the invitation of someone else's address with the admin's own password.
#[tokio::test]
async fn the_inviting_admins_password_ends_with_the_first_sign_in() {
    let (app, fake) = stage().await;
    let (org, key) = app.org_with_key().await;
    let (_, token) = invite(&app, &key, EMAIL, "member").await;
    let planted = cookie(&accept(&app, &token, PASSWORD).await);
    let owner = claimed(&come_back(&app, &fake, |_| {}).await);
    assert_eq!(who(&app, &owner).await.ok()["organization"]["id"], json!(org));
    who(&app, &planted).await.expect(401);
    post(&app, "/auth/sign-in", credentials(EMAIL, PASSWORD), &[]).await.expect(401);
    let actions: Vec<_> = app.audit(org).await.into_iter().map(|line| line.action).collect();
    assert!(actions.iter().any(|action| action == "user.claim_by_provider"), "{actions:?}");
    // The second sign-in revokes nothing.
    session(&come_back(&app, &fake, |_| {}).await);
    assert_eq!(user_id(&app, &owner).await, user_id(&app, &session(&come_back(&app, &fake, |_| {}).await)).await);
}

/// Another form: codes of an authenticator app that only the admin has would lock out the owner of the address.
#[tokio::test]
async fn codes_that_were_planted_lock_nobody_out() {
    let (app, fake) = stage().await;
    let (_, planted) = app.org_with_user(EMAIL, Role::Member).await;
    enroll(&app, user_id(&app, &planted).await.parse().unwrap()).await;
    claimed(&come_back(&app, &fake, |_| {}).await);
    session(&come_back(&app, &fake, |_| {}).await);
}

/// Another form: access that the planted session granted, and a pending link for a new password.
#[tokio::test]
async fn what_a_planted_session_made_ends() {
    let (app, fake) = stage().await;
    let (org, planted) = app.org_with_user(EMAIL, Role::Admin).await;
    let login = device_logins::begin(&app).await;
    device_logins::confirm(&app, &planted, &login, org).await;
    let browser_key = device_logins::claim(&app, &login).await.ok()["key"].clone();
    let waiting = device_logins::begin(&app).await;
    device_logins::confirm(&app, &planted, &waiting, org).await;
    let token = app.post(&planted, "/runners/tokens", ()).await.created();
    app.post(&planted, "/api-keys", json!({"name": "Planted key", "scopes": ["update"]})).await.created();
    let link = launchway_ops::accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    let answer = come_back(&app, &fake, |_| {}).await;
    claimed(&answer);
    assert!(answer.text().contains("Planted key"), "the user is told of keys: {}", answer.text());
    app.get(browser_key.as_str().unwrap(), "/auth/session").await.expect(401);
    assert_eq!(device_logins::claim(&app, &waiting).await.ok()["status"], "denied");
    let runner = json!({"name": "mac", "labels": [], "slots": 1, "version": "0.1.0"});
    app.post(token.text("token"), "/runner/enrol", runner).await.expect(401);
    let reset = json!({"token": link, "password": "another good password"});
    post(&app, "/auth/reset", reset, &[]).await.expect(401);
}

/// A sign-in that the provider did not finish revokes nothing, and neither does a password.
#[tokio::test]
async fn only_the_provider_takes_an_account() {
    let (app, fake) = stage().await;
    let (_, own) = app.org_with_user(EMAIL, Role::Member).await;
    let refused = come_back(&app, &fake, |claims| claims["email_verified"] = json!(false)).await;
    is_refused(&refused, 401, "no email address");
    let (kept, told) = begin(&app).await;
    *fake.claims.lock().unwrap() = good_claims(&app, &fake, &told);
    let forged = page(&app, "/sign-in/provider/callback?code=x&state=y", &kept).await;
    is_refused(&forged, 401, "not started in this browser");
    who(&app, &own).await.ok();
    app.sign_in(EMAIL).await;
}

/// A password that is set after the provider's confirmation stays valid.
#[tokio::test]
async fn a_password_that_the_owner_set_stays() {
    let (app, fake) = stage().await;
    let (_, key) = app.org_with_key().await;
    invite(&app, &key, EMAIL, "member").await;
    session(&come_back(&app, &fake, |_| {}).await);
    let link = launchway_ops::accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    post(&app, "/auth/reset", json!({"token": link, "password": PASSWORD}), &[]).await.ok();
    session(&come_back(&app, &fake, |_| {}).await);
    app.sign_in(EMAIL).await;
}

/// A password that was right just before the provider's confirmation no longer works after it.
#[tokio::test]
async fn a_sign_in_that_began_before_does_not_end_after() {
    let (app, fake) = stage().await;
    app.org_with_user(EMAIL, Role::Member).await;
    let browser = Browser {
        agent: "planted".to_owned(),
        token: None,
        devices: Vec::new(),
        origin: Origin { address: "192.0.2.1".parse().unwrap(), request_id: "planted".to_owned() },
    };
    let known = proof::prove(&app.app, EMAIL, PASSWORD, None, &browser).await.unwrap();
    claimed(&come_back(&app, &fake, |_| {}).await);
    let refused = sign_in::sign_in_user(&app.app, known, &browser).await;
    assert!(matches!(refused, Err(ApiError::NotProven(_))), "it was let in");
}
