//! `/env`: environment variables of builds (`docs/reference/environment.md`).

use launchway_domain::actor::Actor;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::iso;
use launchway_ops::write::Write;
use launchway_vault::Place;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Fields, START, Says, TestApp, with};

async fn set(app: &TestApp, key: &str, body: Value) -> Answer {
    app.post(key, "/env", body).await
}

#[tokio::test]
async fn a_variable_is_secret_unless_told_otherwise() {
    let (app, org, key) = TestApp::with_org().await;
    let cookie = app.user(org, "ada@example.com", Role::Admin).await;
    let made = app.post(&cookie, "/env", json!({"name": "TOKEN", "value": "hunter2-of-the-test"})).await.created();
    let user = made.text("createdBy");
    assert!(user.starts_with("user_") && made.id().starts_with("env_"), "{made}");
    let expected = json!({
        "id": made["id"], "status": "active", "name": "TOKEN", "kind": "variable", "path": null,
        "visibility": "secret", "value": null, "bundleId": null, "configurations": [], "platforms": [],
        "createdBy": user, "createdAt": iso(START), "updatedAt": iso(START),
    });
    assert_eq!(made, expected);
    let path = format!("/env?id={}", made.id());
    for answer in [app.get(&key, &path).await, app.get(&key, "/env").await, app.get(&key, "/audit").await] {
        answer.ok();
        answer.lacks("hunter2");
    }
}

#[tokio::test]
async fn a_plain_value_is_shown() {
    let (app, key) = TestApp::with_key().await;
    let value = "line one\nline \"two\" ü";
    let body = json!({"name": "GREETING", "value": value, "visibility": "plain"});
    let made = set(&app, &key, body).await.created();
    assert_eq!(made["value"], value);
    assert_eq!(app.get(&key, &format!("/env?id={}", made.id())).await.ok(), made);
    let listed = app.get(&key, "/env").await.ok();
    assert_eq!(listed, json!({"items": [made], "total": 1, "limit": 10, "offset": 0}));
    // The audit log records that it was set, but not the value.
    assert_eq!(app.get(&key, "/audit?action=env.create").await.ok()["items"][0]["after"]["value"], Value::Null);
}

#[tokio::test]
async fn the_same_name_and_scope_is_replaced() {
    let (app, key) = TestApp::with_key().await;
    let scope = json!({"bundleId": "com.example.app", "configurations": ["staging", "production", "staging"],
        "platforms": ["ios", "android"]});
    let body =
        |value: &str, scope: &Value| with(json!({"name": "TOKEN", "value": value, "visibility": "plain"}), scope);
    let first = set(&app, &key, body("one", &scope)).await.created();
    first.has(json!({"configurations": ["production", "staging"], "platforms": ["ios", "android"]}));
    app.advance(1000);
    let same = json!({"bundleId": "COM.example.App", "configurations": ["production", "staging"],
        "platforms": ["android", "ios", "ios"]});
    let mut secret = body("two", &same);
    secret["visibility"] = json!("secret");
    let second = set(&app, &key, secret).await.ok();
    second.has(json!({"id": first["id"], "createdAt": first["createdAt"]}));
    second.has(json!({"value": null, "updatedAt": iso(START + 1000)}));
    for other in [
        json!({}),
        json!({"bundleId": "com.example.app"}),
        json!({"configurations": ["production"]}),
        json!({"platforms": ["ios"]}),
    ] {
        set(&app, &key, body("three", &other)).await.created();
    }
    let listed = app.get(&key, "/env?limit=100").await.ok();
    assert_eq!(listed["total"], 5);
    let audit = app.get(&key, "/audit?action=env.change").await.ok();
    assert_eq!((&audit["total"], &audit["items"][0]["before"]["visibility"]), (&json!(1), &json!("plain")));
}

#[tokio::test]
async fn a_file_has_a_path() {
    let (app, key) = TestApp::with_key().await;
    let body =
        json!({"name": "GOOGLE_SERVICES", "value": "{}", "kind": "file", "path": "android/app/google-services.json"});
    let made = set(&app, &key, body).await.created();
    made.has(json!({"kind": "file", "path": "android/app/google-services.json"}));
}

#[tokio::test]
async fn a_wrong_form_is_named_without_the_value() {
    let (app, key) = TestApp::with_key().await;
    let long = "hunter2".repeat(10_000);
    let many: Vec<String> = (0..51).map(|number| format!("c{number}")).collect();
    let cases = [
        (json!({"value": "hunter2"}), "missing field `name`"),
        (json!({"name": "A"}), "missing field `value`"),
        (json!({"name": "A", "value": 42_4242}), "value: must be a text"),
        (json!({"name": "A", "value": ["hunter2"]}), "value: invalid type: sequence, expected a text"),
        (
            json!({"name": "1A", "value": "hunter2"}),
            "name must be 1 to 255 letters, digits and `_`, and not start with a digit",
        ),
        (
            json!({"name": "LAUNCHWAY_SIGNING_KEY", "value": "hunter2"}),
            "name must not be LAUNCHWAY_SIGNING_KEY: anybody who controls this server would have the key. Sign updates on your own \
             computer, or in CI that this server does not control.",
        ),
        (json!({"name": "A", "value": long}), "value has 70000 bytes, but must have at most 65536"),
        (
            json!({"name": "A", "value": "hunter2\u{0}"}),
            "value must not contain a NUL character, because environment variables cannot",
        ),
        (json!({"name": "A", "value": "hunter2", "kind": "folder"}), "kind must be one of variable, file"),
        (json!({"name": "A", "value": "hunter2", "visibility": "hidden"}), "visibility must be one of plain, secret"),
        (json!({"name": "A", "value": "hunter2", "path": "x"}), "path is only for kind file"),
        (
            json!({"name": "A", "value": "hunter2", "kind": "file"}),
            "path is required for kind file: the path of the file in the workspace",
        ),
        (
            json!({"name": "A", "value": "hunter2", "kind": "file", "path": "../x"}),
            "path must be relative to the build's workspace, with `/`, without `.` and `..` as parts",
        ),
        (
            json!({"name": "A", "value": "hunter2", "configurations": ["a b"]}),
            "configurations: each must be 1 to 64 letters, digits, `.`, `_` and `-`",
        ),
        (json!({"name": "A", "value": "hunter2", "configurations": many}), "configurations must have at most 50 names"),
        // An unset variable of a script must not widen the scope to every app.
        (
            json!({"name": "A", "value": "hunter2", "bundleId": ""}),
            "bundleId must be a bundle identifier such as com.example.app, of at most 155 letters, digits, `.`, `_` \
             and `-`",
        ),
        (
            json!({"name": "A", "value": "hunter2", "platforms": ["web"]}),
            "platforms: each must be ios, android or visionos",
        ),
    ];
    for (body, message) in cases {
        let answer = set(&app, &key, body.clone()).await;
        answer.expect(400);
        let told = answer.json().text("message").to_owned();
        assert!(told.starts_with(message) && !told.contains("hunter2") && !told.contains("4242"), "{body}: {told}");
    }
    let unknown = set(&app, &key, json!({"name": "A", "value": "hunter2", "scope": "x"})).await;
    assert!(unknown.expect(400).text("message").contains("`scope`"));
    assert_eq!(app.get(&key, "/env").await.ok()["total"], 0);
}

#[tokio::test]
async fn a_repeated_request_is_answered_again() {
    let (app, key) = TestApp::with_key().await;
    let send = |value: &'static str| {
        let request = app.request(Method::POST, "/env").bearer_auth(&key).header("idempotency-key", "one");
        async move { Answer::to(request.json(&json!({"name": "A", "value": value}))).await }
    };
    let first = send("hunter2").await.created();
    assert_eq!(send("hunter2").await.created(), first);
    send("hunter3").await.expect(400);
    let replaced = app.request(Method::POST, "/env").bearer_auth(&key).header("idempotency-key", "two");
    let body = json!({"name": "A", "value": "hunter4"});
    let answer = Answer::to(replaced.try_clone().unwrap().json(&body)).await.ok();
    assert_eq!(Answer::to(replaced.json(&body)).await.ok(), answer);
    assert_eq!(app.get(&key, "/audit?action=env.change").await.ok()["total"], 1);
}

#[tokio::test]
async fn a_deleted_one_is_gone() {
    let (app, key) = TestApp::with_key().await;
    let made = set(&app, &key, json!({"name": "A", "value": "x"})).await.created();
    let path = format!("/env?id={}", made.id());
    let gone = app.delete(&key, &path).await.ok();
    assert_eq!(gone, json!({"id": made["id"], "status": "deleted"}));
    for method in [Method::DELETE, Method::GET] {
        app.send(&key, method, &path, ()).await.refused(404, "No environment variable has this id");
    }
}

#[tokio::test]
async fn there_is_a_most_of_them() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let key = app.key(org, &launchway_domain::scope::Scope::ALL).await;
    for number in 0..1000 {
        // Stays within the rate limit of one minute.
        if number % 900 == 0 {
            app.advance(launchway_domain::time::MINUTE);
        }
        set(&app, &key, json!({"name": format!("N{number}"), "value": ""})).await.created();
    }
    let message = "This organization has the maximum of 1000 environment variables. Delete one first.";
    set(&app, &key, json!({"name": "MORE", "value": ""})).await.refused(400, message);
    set(&app, &key, json!({"name": "N7", "value": "x"})).await.ok();
}

/// The key of a change that did not complete may be missing from the database: nothing may be sealed with it
/// afterwards.
#[tokio::test]
async fn a_key_that_was_never_kept_seals_nothing() {
    let (app, org, key) = TestApp::with_org().await;
    let mut broken = Write::open(&app.app, org, Actor::Operator, None).await.unwrap();
    // Twice, like a change with an Idempotency-Key: its response is sealed too.
    for record in ["one", "two"] {
        broken.seal(&Place::new(record, "value"), b"lost").await.unwrap();
    }
    drop(broken);
    let body = json!({"name": "GREETING", "value": "hello", "visibility": "plain"});
    let made = set(&app, &key, body).await.created();
    // A process that starts later knows only what is in the database.
    let later = app.another_node().await;
    let listed = later.get(&key, "/env").await.ok();
    assert_eq!(listed["items"], json!([made]));
}
