//! `/api-keys` (`docs/reference/callers.md#api-keys`).

use launchway_domain::api_key::ApiKey;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::{DAY, MINUTE, SECOND, iso};
use serde_json::{Value, json};

use crate::support::{Answer, Fields, START, TestApp};

const PATH: &str = "/api-keys";
const INVALID: &str = "Invalid or expired API key";

/// An organization with an admin who is signed in.
async fn with_admin() -> (TestApp, String) {
    let (app, _, cookie) = TestApp::with_user("ada@example.com", Role::Admin).await;
    (app, cookie)
}

async fn create(app: &TestApp, cookie: &str, body: Value) -> Answer {
    app.post(cookie, PATH, body).await
}

/// Creates a key for updates; returns its id and the key.
async fn created(app: &TestApp, cookie: &str) -> (String, String) {
    let made = create(app, cookie, json!({"name": "CI", "scopes": ["update"]})).await.created();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("id"), text("key"))
}

async fn read(app: &TestApp, cookie: &str, id: &str) -> Value {
    app.get(cookie, &format!("{PATH}?id={id}")).await.ok()
}

async fn revoke(app: &TestApp, cookie: &str, id: &str) -> Answer {
    app.delete(cookie, &format!("{PATH}?id={id}")).await
}

#[tokio::test]
async fn only_the_answer_that_made_a_key_carries_it() {
    let (app, cookie) = with_admin().await;
    let user = app.get(&cookie, "/auth/session").await.ok()["user"]["id"].clone();
    let answer = create(&app, &cookie, json!({"name": " CI ", "scopes": ["update", "build"]})).await;
    let mut made = answer.created();
    let key = made.as_object_mut().unwrap().remove("key").unwrap();
    let key = key.as_str().unwrap();
    let expected = json!({
        "id": made["id"], "status": "active", "name": "CI", "prefix": &key[..12], "scopes": ["build", "update"],
        "createdAt": iso(START), "createdBy": user, "lastUsedAt": null, "expiresAt": null,
    });
    assert_eq!(made, expected);
    assert!(made.id().starts_with("key_"), "{made}");

    // `lw_`, 40 base62 characters, and 6 for their CRC32: a change of any character is detected.
    assert!(key.starts_with("lw_") && key.len() == 49, "{key}");
    assert!(key[3..].bytes().all(|byte| byte.is_ascii_alphanumeric()), "{key}");
    assert!(ApiKey::parse(key).is_some());
    let flipped = if key.ends_with('0') { "1" } else { "0" };
    assert!(ApiKey::parse(&format!("{}{flipped}", &key[..48])).is_none());

    let view = app.get(key, "/auth/session").await.ok();
    view.has(json!({"kind": "apiKey", "id": made["id"]}));
    let path = format!("{PATH}?id={}", made.id());
    for path in [PATH, path.as_str(), "/auth/session"] {
        let shown = app.get(&cookie, path).await.text();
        assert!(!shown.contains(&key[13..]), "{path} shows the key");
    }
}

#[tokio::test]
async fn a_key_has_some_of_three_scopes() {
    let (app, cookie) = with_admin().await;
    const WANTED: &str = "scopes must contain one or more of build, submit, update";
    for (scopes, kept) in [
        (json!(["build"]), json!(["build"])),
        (json!(["update", "submit", "build"]), json!(["build", "submit", "update"])),
        (json!(["update", "update"]), json!(["update"])),
    ] {
        let made = create(&app, &cookie, json!({"name": "CI", "scopes": scopes})).await.created();
        assert_eq!(made["scopes"], kept);
        assert_eq!(read(&app, &cookie, made.id()).await["scopes"], kept);
    }
    for scopes in [
        json!([]),
        json!(["admin"]),
        json!(["build", "admin"]),
        json!(["Build"]),
        json!(["build "]),
        json!([""]),
        json!(["build,update"]),
        json!(["*"]),
    ] {
        create(&app, &cookie, json!({"name": "CI", "scopes": scopes})).await.refused(400, WANTED);
    }
    for scopes in [json!("update"), json!({"update": true}), json!([1]), Value::Null] {
        let answer = create(&app, &cookie, json!({"name": "CI", "scopes": scopes})).await;
        let message = answer.refusal(400);
        assert!(message.starts_with("scopes"), "{message}");
    }
}

#[tokio::test]
async fn a_key_has_a_name_and_perhaps_an_end() {
    let (app, cookie) = with_admin().await;
    let name = "name must have 1 to 100 visible characters";
    let days = "expiresInDays must be a whole number from 1 to 3650";
    for (field, value, message) in [
        ("name", json!(""), name),
        ("name", json!("  "), name),
        ("name", json!("x".repeat(101)), name),
        ("name", json!("a\u{7}b"), name),
        ("expiresInDays", json!(0), days),
        ("expiresInDays", json!(-1), days),
        ("expiresInDays", json!(3651), days),
        ("expiresInDays", json!(i64::MAX), days),
    ] {
        let mut body = json!({"name": "CI", "scopes": ["update"]});
        body[field] = value;
        create(&app, &cookie, body).await.refused(400, message);
    }
    for value in [json!(1.5), json!("1"), json!(1e30), json!([1])] {
        let body = json!({"name": "CI", "scopes": ["update"], "expiresInDays": value});
        let message = create(&app, &cookie, body).await.refusal(400);
        assert!(message.starts_with("expiresInDays: "), "{message}");
    }
    let list = app.get(&cookie, PATH).await.ok();
    assert_eq!(list["total"], 0);
}

#[tokio::test]
async fn a_key_expires_by_the_clock() {
    let (app, cookie) = with_admin().await;
    let body = json!({"name": "CI", "scopes": ["update"], "expiresInDays": 2});
    let made = create(&app, &cookie, body).await.created();
    assert_eq!(made["expiresAt"], iso(START + 2 * DAY));
    let (id, key) = (made.id(), made.text("key"));
    app.advance(2 * DAY - 1);
    app.get(key, "/update").await.ok();
    app.advance(1);
    app.get(key, "/update").await.refused(401, INVALID);
    assert_eq!(read(&app, &cookie, id).await["status"], "expired");
    // Revocation takes precedence over expiry.
    revoke(&app, &cookie, id).await.ok();
    assert_eq!(read(&app, &cookie, id).await["status"], "revoked");
}

/// A second DELETE of a key is 200 again: `docs/reference/conventions.md#results-of-creates-reads-and-deletes`.
#[tokio::test]
async fn a_revoked_key_is_refused_at_once_and_stays_in_the_list() {
    let (app, cookie) = with_admin().await;
    let (id, key) = created(&app, &cookie).await;
    app.get(&key, "/update").await.ok();
    for _ in 0..2 {
        let gone = revoke(&app, &cookie, &id).await.ok();
        assert_eq!(gone, json!({"id": id, "status": "revoked"}));
        app.get(&key, "/update").await.refused(401, INVALID);
    }
    let list = app.get(&cookie, PATH).await.ok();
    assert_eq!((&list["total"], &list["items"][0]["status"]), (&json!(1), &json!("revoked")));
    revoke(&app, &cookie, "key_01h455vb4pex5vsknk084sn02q").await.refused(404, "No API key has this id");
    revoke(&app, &cookie, "").await.refused(400, "id is required");
}

#[tokio::test]
async fn last_use_is_shown_to_the_minute() {
    let (app, cookie) = with_admin().await;
    let (id, key) = created(&app, &cookie).await;
    assert_eq!(read(&app, &cookie, &id).await["lastUsedAt"], Value::Null);
    app.advance(5 * MINUTE + 42 * SECOND);
    app.get(&key, "/update").await.ok();
    assert_eq!(read(&app, &cookie, &id).await["lastUsedAt"], iso(START + 5 * MINUTE));
    // A call that the key is rejected for counts as a use too; a call after its expiry does not.
    app.advance(MINUTE);
    app.get(&key, "/build").await.expect(403);
    assert_eq!(read(&app, &cookie, &id).await["lastUsedAt"], iso(START + 6 * MINUTE));
    revoke(&app, &cookie, &id).await.ok();
    app.advance(MINUTE);
    app.get(&key, "/update").await.expect(401);
    assert_eq!(read(&app, &cookie, &id).await["lastUsedAt"], iso(START + 6 * MINUTE));
}

#[tokio::test]
async fn keys_are_listed_newest_first() {
    let (app, cookie) = with_admin().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        app.advance(1);
        ids.insert(0, created(&app, &cookie).await.0);
    }
    for (query, range) in [("", 0..3), ("?limit=2", 0..2), ("?limit=2&offset=2", 2..3), ("?offset=3", 3..3)] {
        let list = app.get(&cookie, &format!("{PATH}{query}")).await.ok();
        let listed: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
        assert_eq!(listed, ids[range].iter().collect::<Vec<_>>(), "{query}");
        assert_eq!(list["total"], 3);
    }
}

/// `docs/reference/callers.md#admin-scope`: implies no other, and is never given over HTTP.
#[tokio::test]
async fn an_admin_key_makes_keys_but_none_like_itself() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let admin = app.key(org, &[Scope::Admin]).await;
    let list = app.get(&admin, PATH).await.ok();
    let record = &list["items"][0];
    record.has(json!({"scopes": ["admin"], "createdBy": "operator"}));
    let answer = app.post(&admin, PATH, json!({"name": "like me", "scopes": ["admin"]})).await;
    answer.refused(400, "scopes must contain one or more of build, submit, update");
    let made = app.post(&admin, PATH, json!({"name": "CI", "scopes": ["build"]})).await.created();
    assert_eq!(made["createdBy"], record["id"]);
    let refused = app.get(&admin, "/build").await;
    refused.refused(403, "API key does not have 'build' scope");
    // It can even revoke itself.
    let own = format!("{PATH}?id={}", record.id());
    app.delete(&admin, &own).await.ok();
    app.delete(&admin, &own).await.refused(401, INVALID);
}
