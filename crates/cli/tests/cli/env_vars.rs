//! `env`: values come from standard input, files and prompts, and are never displayed.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page};

const ID: &str = "env_01kb0000000000000000000001";
const OTHER: &str = "env_01kb0000000000000000000002";
const SECRET: &str = "hunter2-of-this-test";

/// A variable in the form of the API, with these fields replaced.
pub fn variable(changed: Value) -> Value {
    let mut variable = json!({
        "id": ID,
        "status": "active",
        "name": "SENTRY_AUTH_TOKEN",
        "kind": "variable",
        "path": null,
        "visibility": "secret",
        "value": null,
        "bundleId": null,
        "configurations": [],
        "platforms": [],
        "createdBy": "user_01kb0000000000000000000001",
        "createdAt": "2026-11-01T08:00:00.000Z",
        "updatedAt": "2026-11-20T10:00:00.000Z",
    });
    let fields = variable.as_object_mut().expect("an object");
    fields.extend(changed.as_object().expect("an object").clone());
    variable
}

fn set() -> Reply {
    Reply::new(201, variable(json!({})).to_string())
}

#[tokio::test]
async fn list_and_delete() {
    let plain = json!({"name": "API_URL", "visibility": "plain", "value": "https://api.example.com",
        "bundleId": "com.example.app", "configurations": ["production", "staging"], "platforms": ["ios"]});
    let file = json!({"name": "GOOGLE_SERVICES", "kind": "file", "path": "android/app/google-services.json"});
    let all = [variable(json!({})), variable(plain), variable(file)];
    let twice = [
        variable(json!({})),
        variable(json!({"id": OTHER, "platforms": ["android"]})),
    ];
    let gone = || Reply::new(200, json!({"id": ID, "status": "deleted"}).to_string());
    let server = FakeServer::start([
        Reply::new(200, page(&all, 3, 0)),
        Reply::new(200, page(&all, 3, 0)),
        gone(),
        gone(),
        Reply::new(200, page(&twice, 2, 0)),
        Reply::new(200, page(&[], 0, 0)),
    ])
    .await;
    let stage = Stage::with(&server);
    let rows: [&[&str]; 6] = [
        &["env", "list"],
        &["env", "delete", "SENTRY_AUTH_TOKEN", "--yes"],
        &["env", "delete", ID, "--yes"],
        &["env", "delete", "SENTRY_AUTH_TOKEN", "--yes"],
        &["env", "delete", "NOTHING", "--yes"],
        &["env", "delete", ID],
    ];
    let mut text = String::new();
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
    let asked = [
        "GET /api/env?limit=10&offset=0".to_owned(),
        "GET /api/env?limit=100&offset=0".to_owned(),
        format!("DELETE /api/env?id={ID}"),
        format!("DELETE /api/env?id={ID}"),
        "GET /api/env?limit=100&offset=0".to_owned(),
        "GET /api/env?limit=100&offset=0".to_owned(),
    ];
    assert_eq!(server.lines(), asked);
}

#[tokio::test]
async fn a_value_is_piped_in_or_read_from_a_file_and_never_shown() {
    let server = FakeServer::start((0..4).map(|_| set())).await;
    let stage = Stage::with(&server);
    stage
        .file("token.txt", format!("{SECRET}\n"))
        .file("google-services.json", "{\n}\n");
    let name = "SENTRY_AUTH_TOKEN";
    let mut text = stage.run_with(&["env", "set", name], &format!("{SECRET}\n")).await;
    text.push_str(&stage.run_with(&["env", "set", name, "-"], SECRET).await);
    text.push_str(&stage.run(&["env", "set", name, "@token.txt"]).await);
    let file = ["env", "set", "GOOGLE_SERVICES", "--file", "google-services.json"];
    let to = ["--path", "android/app/google-services.json", "--platform", "android"];
    text.push_str(&stage.run(&[&file[..], &to].concat()).await);
    assert!(!text.contains(SECRET), "{text}");
    assert_snapshot!(text);
    let sent: Vec<Value> = server.seen().iter().map(|seen| seen.json()).collect();
    let secret = json!({"name": name, "value": SECRET});
    assert_eq!(sent[..3], [secret.clone(), secret.clone(), secret]);
    let file = json!({"name": "GOOGLE_SERVICES", "value": "{\n}\n", "kind": "file",
        "path": "android/app/google-services.json", "platforms": ["android"]});
    assert_eq!(sent[3], file);
}

#[tokio::test]
async fn a_plain_value_may_be_an_argument_and_has_a_scope() {
    let server = FakeServer::start([set()]).await;
    let stage = Stage::with(&server);
    let arguments = [
        "env",
        "set",
        "API_URL",
        "https://api.example.com",
        "--plain",
        "--bundle-id",
        "com.example.app",
    ];
    let scope = [
        "--configuration",
        "production",
        "--configuration",
        "staging",
        "--platform",
        "ios",
    ];
    let shown = stage.json(&[&arguments[..], &scope, &["--json"]].concat()).await;
    assert_eq!(shown, variable(json!({})));
    let wanted = json!({"name": "API_URL", "value": "https://api.example.com", "visibility": "plain",
        "bundleId": "com.example.app", "configurations": ["production", "staging"], "platforms": ["ios"]});
    assert_eq!(server.seen()[0].json(), wanted);
}

#[tokio::test]
async fn a_file_of_many_is_imported() {
    let named = |name: &str| Reply::new(201, variable(json!({"name": name})).to_string());
    let server = FakeServer::start([
        named("A"),
        named("B"),
        named("A"),
        Reply::error(400, "Bad Request", "This organization has 500 environment variables"),
    ])
    .await;
    let stage = Stage::with(&server);
    stage
        .file(".env", format!("# of production\nA={SECRET}\nexport B='two words'\n"))
        .file("broken.env", format!("A=1\n{SECRET}\n"));
    let mut text = stage
        .run(&["env", "import", ".env", "--configuration", "production"])
        .await;
    // Variables set before a failure remain set, and are reported.
    text.push_str(&stage.run_with(&["env", "import", "-", "--json"], "A=1\nB=2\n").await);
    text.push_str(&stage.run(&["env", "import", "broken.env"]).await);
    text.push_str(&stage.run(&["env", "import", "missing.env"]).await);
    assert!(!text.contains(SECRET), "{text}");
    assert_snapshot!(text);
    let sent: Vec<Value> = server.seen().iter().map(|seen| seen.json()).collect();
    let production = json!(["production"]);
    assert_eq!(
        sent[0],
        json!({"name": "A", "value": SECRET, "configurations": production})
    );
    assert_eq!(
        sent[1],
        json!({"name": "B", "value": "two words", "configurations": production})
    );
    assert_eq!(sent.len(), 4);
}

#[tokio::test]
async fn what_is_wrong_is_said_before_anything_is_sent() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    stage
        .file("release.jks", [0xfe, 0xed, 0xfe, 0xed])
        .file("large.txt", "x".repeat(65537));
    let rows: [&[&str]; 8] = [
        &["env", "set", "TOKEN", "in-clear"],
        &["env", "set", "TOKEN", "@missing.txt"],
        &["env", "set", "TOKEN", "@large.txt"],
        &["env", "set", "TOKEN"],
        &["env", "set", "STORE", "--file", "release.jks"],
        &["env", "set", "STORE", "--file", "../release.jks"],
        &["env", "set", "STORE", "value", "--file", "release.jks"],
        &["env", "set", "STORE", "--path", "x"],
    ];
    let mut text = String::new();
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
    assert!(server.seen().is_empty());
}
