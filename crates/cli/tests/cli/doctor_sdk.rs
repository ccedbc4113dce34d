//! `doctor` on an app with the SDK: what only the server knows. Faults of the project have tests beside the checks.

use serde_json::json;

use crate::fake_server::{FakeServer, Reply};
use crate::project::description;
use crate::session::caller;
use crate::stage::Stage;

/// A Capacitor app that contains the SDK and calls it.
fn app(stage: &Stage, settings: &str) {
    stage
        .file(
            "package.json",
            json!({"dependencies": {"@launchway/capacitor": "0.1.0"}}).to_string(),
        )
        .file("capacitor.config.json", json!({"appId": "com.example.app"}).to_string())
        .file(
            "src/main.ts",
            "import { Launchway } from '@launchway/capacitor';\nLaunchway.sync();\n",
        )
        .file("launchway.toml", settings);
}

fn trust(repository: Option<&str>) -> Reply {
    let body = json!({"bundleId": "com.example.app", "repository": repository, "snapshot": null, "onlineKey": null,
        "pendingOnlineKey": null, "roles": [], "drafts": [], "otherFormatsAllowed": false});
    Reply::new(200, body.to_string())
}

/// A server of this version with these further answers, and what `doctor` says of an app that asks it.
async fn findings(answers: impl IntoIterator<Item = Reply>) -> (String, Vec<String>) {
    let version = description(env!("CARGO_PKG_VERSION"));
    let session = Reply::new(200, caller(json!({})).to_string());
    let server = FakeServer::start([version, session].into_iter().chain(answers)).await;
    let stage = Stage::with(&server);
    app(&stage, &format!("[server]\nurl = '{}'\n", server.url()));
    (stage.run(&["doctor"]).await, server.lines())
}

#[tokio::test]
async fn the_server_that_apps_ask_is_checked_once() {
    let (text, asked) = findings([trust(None)]).await;
    let expected = "warning  apps ask http://server/api, which only this machine reaches\n         \
                    → use the https address of the server before the app is built for users\n";
    assert!(text.contains(expected), "{text}");
    assert_eq!(
        asked[2..],
        ["GET /api/trust?bundleId=com.example.app"],
        "it is asked once"
    );
}

#[tokio::test]
async fn an_app_without_the_trust_file_of_its_server_is_a_problem() {
    let repository = "07".repeat(16);
    let (text, _) = findings([trust(Some(&repository))]).await;
    let expected = "problem  com.example.app has signed updates, but the project has no launchway.trust.json\n         \
                    → get the file from the source repository of the app, so that the app takes no unsigned updates\n";
    assert!(text.contains(expected), "{text}");
    for unknown in [
        Reply::error(404, "Not Found", "No such app"),
        Reply::error(403, "Forbidden", "no"),
    ] {
        let (text, _) = findings([unknown]).await;
        assert!(!text.contains("signed updates"), "{text}");
    }
}

#[tokio::test]
async fn an_address_that_is_missing_or_wrong_is_a_problem() {
    let rows = [
        (
            "",
            "problem  the app contains the SDK, but launchway.toml does not name its server\n         \
             → set url under [server], or server_url under [sdk], such as https://launchway.example.com\n",
        ),
        (
            "[sdk]\nserver_url = 'launchway.example.com'\n",
            "problem  launchway.toml: server_url under [sdk] is `launchway.example.com`, but must start with https:// or \
             http://\n         → correct the address\n",
        ),
        (
            "[sdk]\nserver_url = 'http://127.0.0.1:9'\n",
            "problem  apps ask http://127.0.0.1:9/api, which does not respond: cannot reach http://127.0.0.1:9",
        ),
    ];
    for (settings, expected) in rows {
        let stage = Stage::new();
        app(&stage, settings);
        let text = stage.run(&["doctor"]).await;
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn another_server_that_apps_ask_is_checked_too() {
    let own = FakeServer::start([description("0.0.1")]).await;
    let server = FakeServer::start([
        description(env!("CARGO_PKG_VERSION")),
        Reply::new(200, caller(json!({})).to_string()),
        trust(None),
    ])
    .await;
    let stage = Stage::with(&server);
    app(
        &stage,
        &format!(
            "[server]\nurl = '{}'\n[sdk]\nserver_url = '{}'\n",
            server.url(),
            own.url()
        ),
    );
    let package = json!({"name": "@launchway/capacitor", "version": "0.1.0"}).to_string();
    stage.file("node_modules/@launchway/capacitor/package.json", package);
    let text = stage.run(&["doctor"]).await;
    let newer = "warning  @launchway/capacitor 0.1.0 is newer than the server, which is 0.0.1\n";
    assert!(text.contains(newer), "{text}");
    assert!(
        text.contains("([sdk]), but updates are published on http://server/api ([server])\n"),
        "{text}"
    );
    assert_eq!(own.lines(), ["GET /api/openapi.json"]);
}

#[tokio::test]
async fn an_app_without_the_sdk_is_asked_nothing_of_it() {
    let server = FakeServer::start([
        description(env!("CARGO_PKG_VERSION")),
        Reply::new(200, caller(json!({})).to_string()),
    ])
    .await;
    let stage = Stage::with(&server);
    app(&stage, "");
    stage.file("package.json", json!({"dependencies": {}}).to_string());
    let text = stage.run(&["doctor"]).await;
    assert!(!text.contains("SDK of") && !text.contains("the SDK"), "{text}");
    assert_eq!(server.lines().len(), 2);
}
