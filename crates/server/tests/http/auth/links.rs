//! One-time links: first run, invitation, new password (`docs/reference/callers.md#links-instead-of-mail`).

use launchway_domain::tenancy::Role;
use launchway_domain::time::{DAY, SECOND};
use launchway_ops::accounts;
use serde_json::{Value, json};

use super::{EMAIL, NO_AUTHENTICATION, cookie, credentials, post, who};
use crate::support::{Answer, Fields, PASSWORD, TestApp};

const DEAD: &str = "This link was already used or has expired. Ask for a new one.";
const NEW_PASSWORD: &str = "another good password";

fn set_up(token: &str) -> Value {
    json!({"token": token, "organization": "Example Apps", "email": EMAIL, "password": PASSWORD})
}

pub async fn accept(app: &TestApp, token: &str, password: &str) -> Answer {
    post(app, "/auth/invitation", json!({"token": token, "password": password}), &[]).await
}

pub async fn reset(app: &TestApp, token: &str, password: &str) -> Answer {
    post(app, "/auth/reset", json!({"token": token, "password": password}), &[]).await
}

/// Invites an address; returns the id and the token of the link.
pub async fn invite(app: &TestApp, key: &str, email: &str, role: &str) -> (String, String) {
    let made = app.post(key, "/orgs/invitations", json!({"email": email, "role": role})).await.created();
    let link = made.text("link");
    let token = link.strip_prefix(&format!("{}/invite?token=", app.origin)).unwrap();
    (made.id().to_owned(), token.to_owned())
}

#[tokio::test]
async fn the_set_up_link_makes_the_first_owner_once() {
    let app = TestApp::start().await;
    let token = accounts::offer_setup(&app.app).await.unwrap().unwrap();
    let answer = post(&app, "/auth/setup", set_up(&token), &[]).await;
    let view = answer.ok();
    assert_eq!(view["user"]["email"], EMAIL);
    view["organization"].has(json!({"name": "Example Apps", "role": "owner", "tier": "enterprise"}));
    assert_eq!(who(&app, &cookie(&answer)).await.ok(), view);
    post(&app, "/auth/setup", set_up(&token), &[]).await.refused(401, DEAD);
    assert_eq!(accounts::offer_setup(&app.app).await.unwrap(), None, "there is an organization");
    app.sign_in(EMAIL).await;
}

#[tokio::test]
async fn a_set_up_link_that_another_start_replaced_is_dead() {
    let app = TestApp::start().await;
    let old = accounts::offer_setup(&app.app).await.unwrap().unwrap();
    let new = accounts::offer_setup(&app.app).await.unwrap().unwrap();
    for token in [old.as_str(), "", "nonsense"] {
        post(&app, "/auth/setup", set_up(token), &[]).await.refused(401, DEAD);
    }
    post(&app, "/auth/setup", set_up(&new), &[]).await.ok();
}

#[tokio::test]
async fn a_set_up_link_dies_with_the_first_organization() {
    let app = TestApp::start().await;
    let token = accounts::offer_setup(&app.app).await.unwrap().unwrap();
    app.org_with_key().await;
    post(&app, "/auth/setup", set_up(&token), &[]).await.refused(401, DEAD);
}

#[tokio::test]
async fn a_wrong_form_does_not_use_the_set_up_link_up() {
    let app = TestApp::start().await;
    let token = accounts::offer_setup(&app.app).await.unwrap().unwrap();
    for (field, value, message) in [
        ("organization", "  ", "organization must have 1 to 100 visible characters"),
        ("email", "ada", "email must be an address such as ada@example.com"),
        ("password", "elevenchars", "password must have at least 12 characters"),
    ] {
        let mut body = set_up(&token);
        body[field] = json!(value);
        post(&app, "/auth/setup", body, &[]).await.refused(400, message);
    }
    post(&app, "/auth/setup", set_up(&token), &[]).await.ok();
}

#[tokio::test]
async fn two_who_use_the_set_up_link_at_once_are_one() {
    let app = TestApp::start().await;
    let token = accounts::offer_setup(&app.app).await.unwrap().unwrap();
    let (one, other) =
        tokio::join!(post(&app, "/auth/setup", set_up(&token), &[]), post(&app, "/auth/setup", set_up(&token), &[]));
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401]);
}

#[tokio::test]
async fn an_invitation_makes_an_account_for_a_new_address() {
    let (app, org, key) = TestApp::with_org().await;
    let (id, token) = invite(&app, &key, "Bob@Example.com", "admin").await;
    accept(&app, &token, "elevenchars").await.refused(400, "password must have at least 12 characters");
    let answer = accept(&app, &token, NEW_PASSWORD).await;
    let view = answer.ok();
    assert_eq!(view["user"]["email"], "bob@example.com");
    view["organization"].has(json!({"id": org, "role": "admin"}));
    who(&app, &cookie(&answer)).await.ok();
    accept(&app, &token, NEW_PASSWORD).await.refused(401, DEAD);
    assert_eq!(app.get(&key, &format!("/orgs/invitations?id={id}")).await.ok()["status"], "accepted");
}

#[tokio::test]
async fn an_invitation_asks_an_existing_account_for_its_password() {
    let app = TestApp::start().await;
    let (home, _) = app.org_with_key().await;
    app.user(home, EMAIL, Role::Owner).await;
    // The organizations are in the order in which the user joined them.
    app.advance(SECOND);
    let (org, key) = app.org_with_key().await;
    let (_, token) = invite(&app, &key, EMAIL, "member").await;
    accept(&app, &token, NEW_PASSWORD).await.refused(401, "The address or the password is wrong");
    let view = accept(&app, &token, PASSWORD).await.ok();
    let mine = |org: &Value| (org["id"].clone(), org["role"].clone());
    let organizations: Vec<_> = view["organizations"].as_array().unwrap().iter().map(mine).collect();
    assert_eq!(organizations, [(json!(home), json!("owner")), (json!(org), json!("member"))]);
    accept(&app, &token, PASSWORD).await.refused(401, DEAD);
}

#[tokio::test]
async fn two_who_take_an_invitation_at_once_are_one() {
    let (app, key) = TestApp::with_key().await;
    let (_, token) = invite(&app, &key, EMAIL, "member").await;
    let (one, other) = tokio::join!(accept(&app, &token, PASSWORD), accept(&app, &token, NEW_PASSWORD));
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401]);
    let members = app.get(&key, "/orgs/members").await.ok();
    assert_eq!(members["total"], 1);
}

#[tokio::test]
async fn an_invitation_of_a_member_changes_nothing() {
    let (app, org, key) = TestApp::with_org().await;
    let session = app.user(org, EMAIL, Role::Owner).await;
    let (id, token) = invite(&app, &key, EMAIL, "member").await;
    accept(&app, &token, PASSWORD).await.refused(400, "ada@example.com is already a member");
    assert_eq!(who(&app, &session).await.ok()["organization"]["role"], "owner");
    assert_eq!(app.get(&key, &format!("/orgs/invitations?id={id}")).await.ok()["status"], "pending");
    // No session remains whose cookie nobody has.
    let list = app.get(&session, "/auth/sessions").await.ok();
    assert_eq!(list["total"], 1);
}

#[tokio::test]
async fn an_invitation_lives_seven_days() {
    let (app, key) = TestApp::with_key().await;
    let (_, last_moment) = invite(&app, &key, "bob@example.com", "member").await;
    let (id, too_late) = invite(&app, &key, "eve@example.com", "member").await;
    app.advance(7 * DAY - SECOND);
    accept(&app, &last_moment, NEW_PASSWORD).await.ok();
    app.advance(SECOND);
    accept(&app, &too_late, NEW_PASSWORD).await.refused(401, DEAD);
    assert_eq!(app.get(&key, &format!("/orgs/invitations?id={id}")).await.ok()["status"], "expired");
}

#[tokio::test]
async fn a_deleted_invitation_is_dead() {
    let (app, key) = TestApp::with_key().await;
    let (id, token) = invite(&app, &key, "bob@example.com", "member").await;
    let path = format!("/orgs/invitations?id={id}");
    let gone = app.delete(&key, &path).await.ok();
    assert_eq!(gone, json!({"id": id, "status": "deleted"}));
    accept(&app, &token, NEW_PASSWORD).await.refused(401, DEAD);
    app.delete(&key, &path).await.refused(404, "No invitation has this id");
}

#[tokio::test]
async fn a_reset_link_sets_a_password_once_and_ends_every_session() {
    let (app, org, key) = TestApp::with_org().await;
    let session = app.user(org, EMAIL, Role::Owner).await;
    let other_user = app.user(org, "bob@example.com", Role::Member).await;
    let replaced = accounts::offer_reset(&app.app, "Ada@example.com").await.unwrap();
    let token = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    reset(&app, &replaced, NEW_PASSWORD).await.refused(401, DEAD);
    reset(&app, &token, "elevenchars").await.refused(400, "password must have at least 12 characters");
    who(&app, &session).await.ok();
    let done = reset(&app, &token, NEW_PASSWORD).await;
    assert_eq!(done.ok(), json!({"id": "password", "status": "changed"}));
    assert_eq!(done.header("set-cookie"), "");
    who(&app, &session).await.refused(401, NO_AUTHENTICATION);
    who(&app, &other_user).await.ok();
    app.get(&key, "/auth/session").await.ok();
    reset(&app, &token, PASSWORD).await.refused(401, DEAD);
    let old = post(&app, "/auth/sign-in", credentials(EMAIL, PASSWORD), &[]).await;
    old.refused(401, "The address or the password is wrong");
    post(&app, "/auth/sign-in", credentials(EMAIL, NEW_PASSWORD), &[]).await.ok();
}

#[tokio::test]
async fn a_reset_link_lives_a_day() {
    let (app, _, _) = TestApp::with_user(EMAIL, Role::Owner).await;
    let token = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    app.advance(DAY);
    reset(&app, &token, NEW_PASSWORD).await.refused(401, DEAD);
    app.sign_in(EMAIL).await;
}

/// `docs/reference/callers.md#passwords`: characters count, not bytes, and nothing is cut off.
#[tokio::test]
async fn a_password_has_at_least_12_characters() {
    let (app, _, _) = TestApp::with_user(EMAIL, Role::Owner).await;
    let twelve = "\u{e4}\u{f6}\u{fc}\u{df} \u{20ac} 345678";
    let longest = "x".repeat(1024);
    for (password, problem) in [
        ("", Some("at least 12 characters")),
        ("elevenchars", Some("at least 12 characters")),
        ("\u{1f680}\u{1f680}\u{1f680}", Some("at least 12 characters")),
        (&"x".repeat(1025), Some("at most 1024 bytes")),
        ("twelve chars", None),
        (twelve, None),
        (&longest, None),
    ] {
        let token = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
        let answer = reset(&app, &token, password).await;
        let Some(problem) = problem else {
            answer.ok();
            post(&app, "/auth/sign-in", credentials(EMAIL, password), &[]).await.ok();
            let shorter: String = password.chars().skip(1).collect();
            post(&app, "/auth/sign-in", credentials(EMAIL, &shorter), &[]).await.expect(401);
            continue;
        };
        answer.refused(400, &format!("password must have {problem}"));
    }
}
