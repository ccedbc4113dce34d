//! The provider's signing keys, and how this service authenticates to the provider.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use launchway_domain::tenancy::Role;
use launchway_domain::time::{MINUTE, SECOND};
use serde_json::json;

use super::fake::{Fake, Signer, come_back, is_refused, prove, session, stage};
use crate::auth::EMAIL;
use crate::support::{Says, TestApp};

async fn with_user() -> (TestApp, Arc<Fake>) {
    let (app, fake) = stage().await;
    app.org_with_user(EMAIL, Role::Member).await;
    prove(&app, EMAIL).await;
    (app, fake)
}

#[tokio::test]
async fn a_token_may_be_signed_with_rsa() {
    let (app, fake) = with_user().await;
    *fake.signer.lock().unwrap() = Signer::rsa("rsa");
    session(&come_back(&app, &fake, |_| {}).await);
}

#[tokio::test]
async fn that_the_address_is_verified_may_be_said_by_text() {
    let (app, fake) = with_user().await;
    session(&come_back(&app, &fake, |claims| claims["email_verified"] = json!("true")).await);
}

/// A provider rotates its keys, under another key id or the same one.
#[tokio::test]
async fn new_keys_are_read_at_most_once_a_minute() {
    for kid in ["two", "one"] {
        let (app, fake) = with_user().await;
        session(&come_back(&app, &fake, |_| {}).await);
        assert_eq!(fake.reads.load(Ordering::SeqCst), 1);
        *fake.signer.lock().unwrap() = Signer::ec(kid);
        app.advance(MINUTE - SECOND);
        is_refused(&come_back(&app, &fake, |_| {}).await, 401, "token was refused");
        assert_eq!(fake.reads.load(Ordering::SeqCst), 1, "it was read within the minute");
        app.advance(SECOND);
        session(&come_back(&app, &fake, |_| {}).await);
        assert_eq!(fake.reads.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn a_provider_that_takes_the_secret_by_form_alone_gets_it_so() {
    let (app, fake) = with_user().await;
    *fake.discovery.lock().unwrap() = json!({"token_endpoint_auth_methods_supported": ["client_secret_post"]});
    session(&come_back(&app, &fake, |_| {}).await);
    let (form, proof) = fake.asked.lock().unwrap().pop().unwrap();
    assert_eq!(proof, "");
    form.says("&client_id=launchway&client_secret=the%20secret");
}

/// Forged tokens: without a signature, or signed with something public.
#[tokio::test]
async fn a_token_does_not_choose_how_it_is_checked() {
    let (app, fake) = with_user().await;
    for head in [
        json!({"alg": "none"}),
        json!({"alg": "HS256", "kid": "one"}),
        json!({"alg": "ES256", "kid": "one", "crit": ["exp"]}),
    ] {
        *fake.head.lock().unwrap() = Some(head);
        is_refused(&come_back(&app, &fake, |_| {}).await, 401, "token was refused");
    }
}
