//! `Idempotency-Key`: the first response is repeated; how often, for whom and for how long
//! (`docs/reference/conventions.md#idempotency`).

use launchway_domain::id::OrgId;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::{DAY, MINUTE};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Answer, Fields, Setup, TestApp, package};

/// Posts with an idempotency key, as the holder of an API key.
async fn post(app: &TestApp, key: &str, once: &str, path: &str, body: &Value) -> Answer {
    let request = app.request(Method::POST, path).bearer_auth(key).header("idempotency-key", once);
    Answer::to(request.json(body)).await
}

async fn total(app: &TestApp, key: &str, path: &str) -> Value {
    app.get(key, path).await.ok()["total"].clone()
}

fn api_key(name: &str) -> Value {
    json!({"name": name, "scopes": ["update"]})
}

/// The body of a publish whose bytes are already uploaded.
async fn update(app: &TestApp, key: &str, version: &str) -> Value {
    let upload = app.upload(key, &package("a", b"a")).await;
    json!({"uploadId": upload, "bundleId": "com.example.app", "platform": "ios", "version": version})
}

#[tokio::test]
async fn a_repeated_request_gets_its_first_answer_without_secrets() {
    let (app, key) = TestApp::with_key().await;
    let upload = json!({"fileName": "a.zip", "size": 1, "sha256": "a".repeat(64)});
    for (path, listed, body, secret) in [
        ("/update", Some("/update"), update(&app, &key, "1.0.0").await, None),
        ("/api-keys", Some("/api-keys"), api_key("ci"), Some("key")),
        ("/apps", Some("/apps"), json!({"bundleId": "com.example.other"}), None),
        ("/orgs/invitations", Some("/orgs/invitations"), json!({"email": "new@example.com"}), Some("link")),
        ("/uploads", None, upload, None),
    ] {
        let first = post(&app, &key, "once", path, &body).await.created();
        let before = match listed {
            Some(list) => total(&app, &key, list).await,
            None => Value::Null,
        };
        app.advance(MINUTE);
        let mut expected = first.clone();
        if let Some(field) = secret {
            assert!(expected.as_object_mut().unwrap().remove(field).is_some(), "{path}: {first}");
        }
        for _ in 0..2 {
            let again = post(&app, &key, "once", path, &body).await;
            assert_eq!(
                (again.created(), again.header("content-type")),
                (expected.clone(), "application/json"),
                "{path}"
            );
        }
        if let Some(list) = listed {
            assert_eq!(total(&app, &key, list).await, before, "{path}");
        }
    }
}

/// Users create organizations, whether or not they are already members of one.
#[tokio::test]
async fn an_organization_is_made_once_by_a_user_with_and_without_one() {
    let app = TestApp::with(settings!(open_organizations = "true")).await;
    let (org, _) = app.org_with_user("owner@example.com", Role::Owner).await;
    let cookie = app.user(org, "lonely@example.com", Role::Member).await;
    let session = app.get(&cookie, "/auth/session").await.ok();
    let make = async || {
        let request = app.request(Method::POST, "/orgs").header("cookie", &cookie).header("origin", &app.origin);
        let request = request.header("idempotency-key", "once").json(&json!({"name": "Mine"}));
        Answer::to(request).await.created()
    };
    app.delete(&cookie, &format!("/orgs/members?id={}", session["user"].id())).await.ok();
    let twins = futures::future::join_all([make(), make(), make()]).await;
    let later = make().await;
    assert!(twins.iter().all(|twin| *twin == later), "{twins:?}");
    let orgs = app.get(&cookie, "/orgs").await.ok();
    assert_eq!(orgs["total"], 1);
}

#[tokio::test]
async fn the_same_key_with_another_body_is_400() {
    let (app, key) = TestApp::with_key().await;
    let used = "This Idempotency-Key was used with another body. Use a new key.";
    post(&app, &key, "once", "/api-keys", &api_key("one")).await.created();
    post(&app, &key, "once", "/api-keys", &api_key("two")).await.refused(400, used);
    let published = update(&app, &key, "1.0.0").await;
    post(&app, &key, "once", "/update", &published).await.created();
    let other = update(&app, &key, "1.0.1").await;
    post(&app, &key, "once", "/update", &other).await.refused(400, used);
    app.post(&key, "/update", other).await.created();
}

/// "Scoped to organization, caller, method and path".
#[tokio::test]
async fn another_caller_organization_or_path_is_another_request() {
    let (app, org, key) = TestApp::with_org().await;
    let colleague = app.key(org, &[Scope::Admin, Scope::Update]).await;
    let (_, other) = app.org_with_key().await;
    let mut ids = std::collections::HashSet::new();
    for caller in [&key, &colleague, &other] {
        for once in ["once", "Once"] {
            let made = post(&app, caller, once, "/api-keys", &api_key("ci")).await.created();
            assert!(ids.insert(made["id"].clone()) && made["key"].is_string());
        }
    }
    let body = json!({"bundleId": "com.example.app"});
    post(&app, &key, "once", "/apps", &body).await.created();
    let cookie = app.user(org, "owner@example.com", Role::Owner).await;
    let by_user = app.request(Method::POST, "/api-keys").header("cookie", &cookie).header("origin", &app.origin);
    let by_user = by_user.header("idempotency-key", "once").json(&api_key("ci"));
    let made = Answer::to(by_user).await.created();
    assert!(ids.insert(made["id"].clone()));
}

#[tokio::test]
async fn an_answer_is_kept_for_a_day() {
    let (app, key) = TestApp::with_key().await;
    let first = post(&app, &key, "once", "/api-keys", &api_key("ci")).await.created();
    app.advance(DAY - 1);
    launchway_jobs::clean_up::clean_up(&app.app).await.unwrap();
    let again = post(&app, &key, "once", "/api-keys", &api_key("ci")).await.created();
    assert_eq!((again["id"] == first["id"], again.get("key")), (true, None));
    app.advance(1);
    let anew = post(&app, &key, "once", "/api-keys", &api_key("other")).await.created();
    assert_ne!(anew["id"], first["id"]);
    assert!(anew["key"].is_string());
    app.advance(DAY);
    launchway_jobs::clean_up::clean_up(&app.app).await.unwrap();
    let anew = post(&app, &key, "once", "/api-keys", &api_key("other")).await.created();
    assert!(anew["key"].is_string());
}

/// "only 2xx answers are kept": a failed request may be retried with the same key.
#[tokio::test]
async fn an_answer_that_is_no_success_is_not_kept() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    let key = app.key(org, &Scope::ALL).await;
    let bytes = package("a", b"a");
    let sha256 = hex::encode(Sha256::digest(&bytes));
    let body = json!({"fileName": "a.zip", "size": bytes.len(), "sha256": sha256});
    let upload = app.post(&key, "/uploads", body).await.created();
    let body = json!({"uploadId": upload["id"], "bundleId": "com.example.app", "platform": "ios", "version": "1.0.0"});
    assert_eq!(post(&app, &key, "once", "/update", &body).await.status, 400, "no bytes yet");
    let sent = app.request(Method::PUT, upload.text("url")).body(bytes).send().await.unwrap();
    assert!(sent.status().is_success());
    let limited = async || post(&app, &key, "once", "/update", &body).await.status.as_u16();
    while app.get(&key, "/apps").await.status == 200 {}
    assert_eq!(limited().await, 429);
    app.advance(MINUTE);
    assert_eq!([limited().await, limited().await], [201, 201]);
    assert_eq!(total(&app, &key, "/update").await, 1);
}

async fn no_trace_of_a_second(app: &TestApp, org: OrgId, action: &str) {
    let audit = app.audit(org).await;
    assert_eq!(audit.iter().filter(|row| row.action == action).count(), 1, "{action}");
}

/// "a simultaneous twin waits for the first".
#[tokio::test]
async fn simultaneous_twins_make_one_and_get_the_same_answer() {
    let app = TestApp::start().await;
    simultaneous_twins(&app).await;
}

#[tokio::test]
async fn simultaneous_twins_make_one_on_postgres_too() {
    let app = TestApp::with(Setup::on_postgres()).await;
    simultaneous_twins(&app).await;
}

async fn simultaneous_twins(app: &TestApp) {
    let (org, key) = app.org_with_key().await;
    for (path, action, body) in [
        ("/update", "update.publish", update(app, &key, "1.0.0").await),
        ("/api-keys", "key.create", api_key("ci")),
        ("/apps", "app.create", json!({"bundleId": "com.example.other"})),
    ] {
        let known = total(app, &key, path).await.as_i64().unwrap();
        let twins = (0..8).map(|_| post(app, &key, "twins", path, &body));
        let mut answers: Vec<_> =
            futures::future::join_all(twins).await.iter().map(|answer| answer.created()).collect();
        let secrets = answers.iter_mut().filter_map(|answer| answer.as_object_mut().unwrap().remove("key")).count();
        assert_eq!(secrets, usize::from(path == "/api-keys"), "a secret is shown once");
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{path}: {answers:?}");
        assert_eq!(total(app, &key, path).await, known + 1, "{path}");
        if path == "/update" {
            no_trace_of_a_second(app, org, action).await;
        }
    }
    let packages = launchway_blob::Key::new("packages").unwrap();
    assert_eq!(app.app.blob.list(Some(&packages)).await.unwrap().len(), 1, "copies of the twins are gone");
}

/// "authorization is checked anew".
#[tokio::test]
async fn who_may_no_longer_gets_no_answer_again() {
    let app = TestApp::start().await;
    let (org, admin) = app.org_with_key().await;
    let made = post(&app, &admin, "first", "/api-keys", &api_key("ci")).await.created();
    let key = made.text("key");
    let body = update(&app, key, "1.0.0").await;
    post(&app, key, "once", "/update", &body).await.created();
    app.delete(&admin, &format!("/api-keys?id={}", made.id())).await.ok();
    post(&app, key, "once", "/update", &body).await.refused(401, "Invalid or expired API key");

    app.user(org, "owner@example.com", Role::Owner).await;
    let cookie = app.user(org, "admin@example.com", Role::Admin).await;
    let session = app.get(&cookie, "/auth/session").await.ok();
    let make = async || {
        let request = app.request(Method::POST, "/api-keys").header("cookie", &cookie).header("origin", &app.origin);
        Answer::to(request.header("idempotency-key", "once").json(&api_key("ci"))).await
    };
    make().await.created();
    app.patch(&admin, &format!("/orgs/members?id={}", session["user"].id()), json!({"role": "member"})).await.ok();
    make().await.refused(403, "This requires the role admin in the organization, but your role is member");
}

#[tokio::test]
async fn the_header_has_a_form_and_counts_only_for_creations() {
    let (app, key) = TestApp::with_key().await;
    let wrong = "Idempotency-Key must be 1 to 255 visible ASCII characters, given once";
    let send = async |values: &[&[u8]]| {
        let mut request = app.request(Method::POST, "/api-keys").bearer_auth(&key);
        for value in values {
            request = request.header("idempotency-key", reqwest::header::HeaderValue::from_bytes(value).unwrap());
        }
        Answer::to(request.json(&api_key("ci"))).await
    };
    let (longest, too_long) = ([b'~'; 255], [b'~'; 256]);
    for values in [&[&b""[..]][..], &[b"a b"], &[b"a\tb"], &[&too_long], &["é".as_bytes()], &[b"\xff"], &[b"a", b"a"]]
    {
        send(values).await.refused(400, wrong);
    }
    assert_eq!(total(&app, &key, "/api-keys").await, 1);
    for value in [&b"!"[..], &longest, b"01234567-89ab-cdef-0123-456789abcdef", b"\"quoted\""] {
        let made = send(&[value]).await.created();
        assert_eq!(send(&[value]).await.created()["id"], made["id"]);
    }
    let made = app.published(&key, json!({})).await;
    for rollout in [10, 20] {
        let path = format!("/update?id={}", made.id());
        let request = app.request(Method::PATCH, &path).bearer_auth(&key).header("idempotency-key", "once");
        assert_eq!(Answer::to(request.json(&json!({"rollout": rollout}))).await.ok()["rollout"], rollout);
    }
}
