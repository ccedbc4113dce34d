//! The embedded runner's `launchway fingerprint embed`: a build reports its native contents, and the app contains the
//! hash (`docs/reference/fingerprints.md#embedding`).

use std::collections::BTreeMap;

use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerBuilder;
use serde_json::{Value, json};

use super::calls::{artifact, create, succeeded, upload};
use crate::deployment::{Deployment, Ground, Turn};
use crate::packages::packed;

#[tokio::test(flavor = "multi_thread")]
async fn a_build_tells_its_fingerprint_and_warns_of_another() {
    let deployment = Deployment::with(
        Ground::SqliteDirectory,
        Turn::beside_others().await,
        |builder: ServerBuilder| builder.env("LAUNCHWAY_NO_RUNNER", "false"),
    );
    let api = deployment.api();
    let files = [
        ("settings.gradle", "include ':app'\n"),
        ("app/build.gradle", "apply plugin: 'com.android.application'\n"),
        ("app/src/main/AndroidManifest.xml", "<manifest/>\n"),
    ];
    let files: BTreeMap<_, _> = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
        .collect();
    let plan = json!({
        "steps": [{"name": "embed fingerprint", "run": "launchway fingerprint embed android"}],
        "artifacts": [{"path": "app/src/main/res/values/launchway_fingerprint.xml", "kind": "xml"}],
    });
    let build = async |fingerprint: Value| {
        let body = json!({
            "bundleId": "com.example.native", "platform": "android", "plan": plan, "fingerprint": fingerprint,
            "source": {"uploadId": upload(&api, "source.zip", &packed(&files)).await}
        });
        succeeded(&api, &create(&api, body).await).await
    };
    let first = build(Value::Null).await;
    let hash = first["fingerprint"].as_str().expect("a fingerprint");
    assert_eq!(first["warnings"], json!([]));
    let embedded = String::from_utf8(artifact(&api, &first).await).unwrap();
    assert!(embedded.contains(&format!(">{hash}</string>")), "{embedded}");

    let path = format!("/fingerprints?id={}", first.id());
    let told = api.get(&path).await.ok();
    let mut other = told["document"].clone();
    assert_eq!(other["framework"], "native");
    other["plugins"] = json!({"camera": "1.0.0"});
    let second = build(other).await;
    assert_eq!(second["fingerprint"], hash);
    let warnings = second["warnings"].to_string();
    assert!(warnings.contains("Native plugin removed: camera 1.0.0"), "{warnings}");
}
