//! Passwords and the tokens of links and cookies are never stored in clear: not in audit rows, not in events, nowhere
//! in the database.

use std::path::Path;

use launchway_domain::tenancy::Role;
use launchway_ops::accounts;
use serde_json::json;

use super::links::invite;
use super::{EMAIL, cookie, credentials, post};
use crate::support::{Fields, PASSWORD, TestApp};

/// The bytes of every file of the database.
fn database(directory: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let parts = files.filter(|path| path.to_string_lossy().contains("launchway.db"));
    parts.flat_map(|path| std::fs::read(path).unwrap()).collect()
}

/// Whether the service stores this text in clear. Also reports whether a text that must be stored is found.
pub fn keeps(app: &TestApp, text: &str) -> bool {
    let bytes = database(&app.app.config.data_dir);
    assert!(bytes.windows(EMAIL.len()).any(|window| window == EMAIL.as_bytes()), "the search finds what is there");
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn no_password_and_no_token_is_kept() {
    let app = TestApp::start().await;
    let set_up = accounts::offer_setup(&app.app).await.unwrap().unwrap();
    let body = json!({"token": set_up, "organization": "Example", "email": EMAIL, "password": PASSWORD});
    let owner = cookie(&post(&app, "/auth/setup", body, &[]).await);
    let made = app.post(&owner, "/api-keys", json!({"name": "CI", "scopes": ["update"]})).await.created();
    let key = made.text("key").to_owned();
    let (org, _) = app.org_with_user("bob@example.com", Role::Admin).await;
    let admin = app.key(org, &[launchway_domain::scope::Scope::Admin]).await;
    let (_, invitation) = invite(&app, &admin, "eve@example.com", "member").await;
    let (_, open) = invite(&app, &admin, "mal@example.com", "member").await;
    let chosen = "a password that eve chose";
    post(&app, "/auth/invitation", json!({"token": invitation, "password": chosen}), &[]).await.ok();
    let reset = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    let guess = "a guess that was wrong";
    post(&app, "/auth/sign-in", credentials(EMAIL, guess), &[]).await.expect(401);
    let signed_in = app.sign_in(EMAIL).await;
    let unused_reset = accounts::offer_reset(&app.app, "bob@example.com").await.unwrap();
    let anew = "a password that ada set anew";
    post(&app, "/auth/reset", json!({"token": reset, "password": anew}), &[]).await.ok();

    let token = |cookie: &str| cookie.split_once('=').unwrap().1.to_owned();
    let (owner, signed_in) = (token(&owner), token(&signed_in));
    for secret in [
        set_up.as_str(),
        &owner,
        &signed_in,
        &key,
        &admin,
        &invitation,
        &open,
        &reset,
        &unused_reset,
        PASSWORD,
        chosen,
        guess,
        anew,
    ] {
        assert!(!keeps(&app, secret), "{secret}");
    }
}
