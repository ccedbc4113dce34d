//! A real Capacitor project: the runner installs its packages, builds its web part and packs it; the second time the
//! packages come from the cache.

use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerBuilder;
use serde_json::json;

use super::calls::{artifact, create, log, succeeded, upload};
use crate::deployment::{Deployment, Ground, Turn};
use crate::packages::{files_below, packed, unpack};
use crate::projects::{bundle, root};

const PROJECT: &str = "capacitor-vite";

#[tokio::test(flavor = "multi_thread")]
async fn a_capacitor_project_is_installed_built_and_packed() {
    let deployment = Deployment::with(
        Ground::SqliteDirectory,
        Turn::beside_others().await,
        |builder: ServerBuilder| builder.env("LAUNCHWAY_NO_RUNNER", "false"),
    );
    let api = deployment.api();
    let mut files = files_below(&root().join("tests/projects").join(PROJECT));
    // Leftovers of a local build.
    files.retain(|name, _| !name.starts_with("node_modules/") && !name.starts_with("dist/"));
    let plan = json!({
        "steps": [
            {"name": "install", "run": "npm ci --loglevel=error"},
            {"name": "build", "run": "npm run build"},
            {"name": "pack", "run": "cd dist && zip -q -r -X ../web.zip ."}
        ],
        "artifacts": [{"path": "web.zip", "kind": "web"}],
        "cache": [{"key": "npm-{{ hash \"package-lock.json\" }}", "paths": ["~/.npm"]}]
    });
    let mut web = Vec::new();
    for round in ["first", "second"] {
        let body = json!({
            "bundleId": "com.example.capacitor", "platform": "android", "plan": plan,
            "source": {"uploadId": upload(&api, "source.zip", &packed(&files)).await}
        });
        let build = succeeded(&api, &create(&api, body).await).await;
        let text = log(&api, build.id()).await;
        assert_eq!(text.contains(": restored"), round == "second", "{text}");
        web.push(unpack(&artifact(&api, &build).await));
    }
    // As in a local build.
    let by_hand = tokio::task::spawn_blocking(|| files_below(&bundle(PROJECT)))
        .await
        .unwrap();
    assert!(by_hand.contains_key("index.html"));
    assert!(
        web[0] == by_hand && web[1] == by_hand,
        "{:?} and {:?}",
        web[0].keys(),
        by_hand.keys()
    );
}
