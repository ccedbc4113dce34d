//! `/orgs/invitations`: links for one address, once, for 7 days (`docs/reference/callers.md#invitations`). Accepting one:
//! `auth/links.rs`.

use launchway_domain::tenancy::Role;
use launchway_domain::time::{DAY, MINUTE, iso};
use reqwest::Method;
use serde_json::{Value, json};

use super::{EMAIL, get};
use crate::support::{Fields, START, TestApp};

const PATH: &str = "/orgs/invitations";

#[tokio::test]
async fn the_link_is_shown_to_who_made_it_and_never_again() {
    let (app, _, admin) = TestApp::with_user(EMAIL, Role::Admin).await;
    let mut made = app.post(&admin, PATH, json!({"email": " Bob@Example.com "})).await.created();
    let link = made.as_object_mut().unwrap().remove("link").unwrap();
    assert!(link.as_str().unwrap().starts_with(&format!("{}/invite?token=", app.origin)), "{link}");
    let expected = json!({
        "id": made["id"], "status": "pending", "email": "bob@example.com", "role": "member",
        "createdAt": iso(START), "expiresAt": iso(START + 7 * DAY),
    });
    assert_eq!(made, expected);
    assert!(made.id().starts_with("invitation_"), "{made}");
    assert_eq!(get(&app, &admin, &format!("{PATH}?id={}", made.id())).await.ok(), expected);
    app.advance(MINUTE);
    let second = app.post(&admin, PATH, json!({"email": "eve@example.com", "role": "admin"})).await.created();
    assert_eq!(second["role"], "admin");
    let list = get(&app, &admin, PATH).await.ok();
    assert_eq!((&list["total"], &list["items"][1]), (&json!(2), &expected));
    assert_eq!((&list["items"][0]["id"], list["items"][0].get("link")), (&second["id"], None));
}

#[tokio::test]
async fn only_an_owner_invites_an_owner() {
    let (app, org, key) = TestApp::with_org().await;
    let body = || Some(json!({"email": "bob@example.com", "role": "owner"}));
    let admin = app.user(org, EMAIL, Role::Admin).await;
    app.post(&admin, PATH, body()).await.refused(403, "Only an owner can add or remove owners");
    let owner = app.user(org, "owner@example.com", Role::Owner).await;
    assert_eq!(app.post(&owner, PATH, body()).await.created()["role"], "owner");
    // A key with the admin scope is the operator's.
    assert_eq!(app.post(&key, PATH, body()).await.created()["role"], "owner");
}

#[tokio::test]
async fn an_invitation_has_an_address_and_a_role() {
    let (app, key) = TestApp::with_key().await;
    let address = "email must be an address such as ada@example.com";
    for (body, message) in [
        (json!({"email": "bob"}), address),
        (json!({"email": ""}), address),
        (json!({"email": "a b@example.com"}), address),
        (json!({"email": format!("{}@example.com", "a".repeat(250))}), address),
        (json!({"email": EMAIL, "role": "root"}), "role must be member, admin or owner"),
        (json!({}), "missing field `email`"),
    ] {
        app.post(&key, PATH, body).await.refused(400, message);
    }
    let list = app.get(&key, PATH).await.ok();
    assert_eq!(list["total"], 0);
}

#[tokio::test]
async fn an_invitation_is_deleted_once() {
    let (app, key) = TestApp::with_key().await;
    let made = app.post(&key, PATH, json!({"email": EMAIL})).await.created();
    let path = format!("{PATH}?id={}", made.id());
    let gone = app.delete(&key, &path).await.ok();
    assert_eq!(gone, json!({"id": made["id"], "status": "deleted"}));
    for method in [Method::DELETE, Method::GET] {
        app.send(&key, method, &path, ()).await.refused(404, "No invitation has this id");
    }
    let list: Value = app.get(&key, PATH).await.ok();
    assert_eq!(list["total"], 0);
}
