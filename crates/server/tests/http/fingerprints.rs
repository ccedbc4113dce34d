//! The native contents of builds and updates: `/fingerprints`, and what a runner found
//! (`docs/reference/fingerprints.md`).

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::stage::BUNDLE;
use crate::support::{Answer, Fields, TestApp};

/// A document with one plugin; its keys are in the order of RFC 8785.
fn document(camera: &str) -> Value {
    let hash = "0".repeat(64);
    json!({
        "alg": "lwfp-1", "framework": "capacitor", "native": hash, "platform": "android",
        "plugins": {"@capacitor/camera": camera}, "resources": hash,
    })
}

fn hash(document: &Value) -> String {
    hex::encode(Sha256::digest(document.to_string()))
}

const CHANGED: &str = "Native plugin version changed: @capacitor/camera 7.0.4 -> 7.0.5";

async fn build(app: &TestApp, key: &str, fields: Value) -> Value {
    let git = json!({"url": "https://example.com/app.git", "ref": "main"});
    let mut body = json!({"bundleId": BUNDLE, "platform": "android", "source": {"git": git}});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    app.post(key, "/build", body).await.created()
}

async fn get(app: &TestApp, key: &str, path: &str) -> Answer {
    app.get(key, path).await
}

#[tokio::test]
async fn documents_are_kept_and_differences_explained() {
    let (app, key) = TestApp::with_key().await;
    let (old, new) = (document("7.0.4"), document("7.0.5"));
    let built = build(&app, &key, json!({"fingerprint": old, "configuration": "production"})).await;
    let update = app.published(&key, json!({"bundleId": BUNDLE, "platform": "android", "fingerprint": new})).await;
    let id = |resource: &Value| resource.id().to_owned();
    let (built, update) = (id(&built), id(&update));

    let told = get(&app, &key, &format!("/fingerprints?id={built}")).await.ok();
    let expected = json!({
        "id": built, "status": "queued", "bundleId": BUNDLE, "platform": "android", "configuration": "production",
        "version": null, "buildNumber": null, "fingerprint": hash(&old), "lwfp2": null, "document": old,
    });
    assert_eq!(told, expected);
    let told = get(&app, &key, &format!("/fingerprints?id={update}")).await.ok();
    told.has(json!({"status": "published", "document": new}));

    let path = format!("/fingerprints/diff?from={built}&to={update}");
    let told = get(&app, &key, &path).await.ok();
    told.has(json!({"same": false, "reason": CHANGED}));
    let change = json!({
        "kind": "plugin", "name": "@capacitor/camera", "from": "7.0.4", "to": "7.0.5", "message": CHANGED,
    });
    assert_eq!(told["changes"], json!([change]));
    assert_eq!((&told["from"]["id"], &told["to"]["id"]), (&json!(built), &json!(update)));
    let told = get(&app, &key, &format!("/fingerprints/diff?from={built}&to={built}")).await.ok();
    let nothing = (&told["same"], &told["reason"], &told["changes"]);
    assert_eq!(nothing, (&json!(true), &Value::Null, &json!([])));

    // Only the hash of one is known.
    let opaque = app.published(&key, json!({"version": "9.0.0", "fingerprint": "abc"})).await;
    let opaque = id(&opaque);
    let told = get(&app, &key, &format!("/fingerprints/diff?from={built}&to={opaque}")).await.ok();
    let reason = "The native code of this update differs from the installed app";
    told.has(json!({"reason": reason, "changes": null}));
    assert_eq!(told["to"]["document"], Value::Null);

    let bare = id(&build(&app, &key, json!({})).await);
    let told = get(&app, &key, &format!("/fingerprints?id={bare}")).await.ok();
    told.has(json!({"fingerprint": null, "document": null}));
    let refused = get(&app, &key, &format!("/fingerprints/diff?from={bare}&to={update}")).await;
    refused.refused(400, &format!("{bare} has no fingerprint"));
}

#[tokio::test]
async fn the_form_is_checked_and_others_see_nothing() {
    let (app, key) = TestApp::with_key().await;
    let (_, stranger) = app.org_with_key().await;
    let built = build(&app, &key, json!({"fingerprint": document("7.0.4")})).await;
    let built = built.id();
    for (path, message) in [
        ("/fingerprints".to_owned(), "id is required"),
        ("/fingerprints?id=".to_owned(), "id is required"),
        ("/fingerprints/diff".to_owned(), "from is required"),
        (format!("/fingerprints/diff?from={built}"), "to is required"),
        (format!("/fingerprints?id={built}&id={built}"), "id is given twice"),
        ("/fingerprints/latest".to_owned(), "bundleId is required"),
        (format!("/fingerprints/latest?bundleId={BUNDLE}"), "platform is required"),
        (format!("/fingerprints/latest?bundleId={BUNDLE}&platform=web"), "platform must be ios, android or visionos"),
    ] {
        get(&app, &key, &path).await.refused(400, message);
    }
    let unknown = "No build or update has this id";
    let unused = "build_01h455vb4pex5vsknk084sn02q";
    for id in [built, unused, "update_01h455vb4pex5vsknk084sn02q", "nonsense"] {
        for path in [
            format!("/fingerprints?id={id}"),
            format!("/fingerprints/diff?from={id}&to={id}"),
            format!("/fingerprints/diff?from={id}&to={unused}"),
        ] {
            get(&app, &stranger, &path).await.refused(404, unknown);
        }
    }
    let path = format!("/fingerprints/diff?from={built}&to={unused}");
    get(&app, &key, &path).await.refused(404, unknown);
}

#[tokio::test]
async fn the_latest_is_the_newest_that_succeeded_and_fits() {
    let (app, org, key) = TestApp::with_org().await;
    let (_, stranger) = app.org_with_key().await;
    let runner = app.runner(&key, &[]).await;
    let finished = async |camera: Option<&str>, configuration: Option<&str>, status: &str| {
        // Ids of the same millisecond have no order.
        app.advance(1000);
        let id = app.queue(org, |build| build.configuration = configuration.map(|name| name.parse().unwrap())).await;
        let held = app.take(&runner).await;
        let error = json!({"code": "STEP_FAILED", "phase": null, "message": "no"});
        let end = json!({
            "status": status, "error": (status == "failed").then_some(error), "fingerprint": camera.map(document),
        });
        held.finish(end).await.ok();
        id.to_string()
    };
    let latest = async |rest: &str| {
        let path = format!("/fingerprints/latest?bundleId=COM.example.app&platform=android{rest}");
        get(&app, &key, &path).await
    };
    let none = "No successful build of this app for this platform has a fingerprint";
    latest("").await.refused(404, none);
    let staging = finished(Some("7.0.1"), Some("staging"), "success").await;
    let for_all = finished(Some("7.0.2"), None, "success").await;
    let production = finished(Some("7.0.3"), Some("production"), "success").await;
    finished(None, Some("production"), "success").await;
    finished(Some("7.0.4"), Some("production"), "failed").await;
    for (rest, expected) in [
        ("", &production),
        ("&configuration=", &production),
        ("&configuration=production", &production),
        ("&configuration=staging", &for_all),
        ("&configuration=other", &for_all),
    ] {
        let told = latest(rest).await.ok();
        assert_eq!(told["id"], json!(expected), "{rest}");
        assert!(told["document"].is_object());
    }
    assert_ne!(staging, for_all);
    get(&app, &stranger, &format!("/fingerprints/latest?bundleId={BUNDLE}&platform=android")).await.refused(404, none);
    let other = format!("/fingerprints/latest?bundleId={BUNDLE}&platform=ios");
    get(&app, &key, &other).await.refused(404, none);
}

#[tokio::test]
async fn a_build_keeps_its_runners_findings_and_warns_of_others() {
    let (app, key) = TestApp::with_key().await;
    let runner = app.runner(&key, &[]).await;
    let (sent, found) = (document("7.0.4"), document("7.0.5"));
    let with_reason = format!(
        "The requested fingerprint differs from that of the built app: {CHANGED}. The build keeps the runner's \
         fingerprint."
    );
    let without = "The requested fingerprint differs from that of the built app. The build keeps the runner's \
         fingerprint.";
    for (at_first, warnings) in [
        (sent, vec![with_reason]),
        (json!("abc"), vec![without.to_owned()]),
        (found.clone(), vec![]),
        (Value::Null, vec![]),
    ] {
        let made = build(&app, &key, json!({"fingerprint": at_first})).await;
        let path = format!("/build?id={}", made.id());
        let held = app.take(&runner).await;
        held.finish(json!({"fingerprint": found})).await.ok();
        let ended = get(&app, &key, &path).await.ok();
        assert_eq!(ended["fingerprint"], hash(&found), "{at_first}");
        assert_eq!(ended["warnings"], json!(warnings), "{at_first}");
        assert_eq!(get(&app, &key, &format!("/fingerprints?id={}", made.id())).await.ok()["document"], found);
    }
}

#[tokio::test]
async fn what_a_runner_warns_of_is_kept_without_secrets() {
    let (app, key) = TestApp::with_key().await;
    app.post(&key, "/env", json!({"name": "TOKEN", "value": "hunter2-secret"})).await.created();
    let runner = app.runner(&key, &[]).await;
    let made = build(&app, &key, json!({})).await;
    let held = app.take(&runner).await;
    let warnings: Vec<_> = (0..60).map(|number| format!("{number} hunter2-secret")).collect();
    held.finish(json!({ "warnings": warnings })).await.ok();
    let path = format!("/build?id={}", made.id());
    let ended = get(&app, &key, &path).await.ok();
    let kept = ended["warnings"].as_array().unwrap();
    assert_eq!(kept.len(), 50);
    assert!(!ended.to_string().contains("hunter2"), "{ended}");
}

/// The check explains with the documents of builds, including those that arrived after the update.
#[tokio::test]
async fn a_check_with_the_hash_of_a_build_is_told_what_changed() {
    let (app, key) = TestApp::with_key().await;
    let runner = app.runner(&key, &[]).await;
    let (old, new) = (document("7.0.4"), document("7.0.5"));
    app.published(&key, json!({"bundleId": BUNDLE, "platform": "android", "fingerprint": new})).await;
    let ask = async |installed: &Value| {
        let query = format!("currentVersion=1.0.0&fingerprint={}", hash(installed));
        app.checked(BUNDLE, &query).await
    };
    assert_eq!(ask(&old).await["compatibilityReason"], "The native code of this update differs from the installed app");
    // Sent with a build.
    build(&app, &key, json!({"fingerprint": old})).await;
    ask(&old).await.has(json!({"requiresStoreUpdate": true, "compatibilityReason": CHANGED}));
    // Found by a runner.
    let older = document("7.0.3");
    let held = app.take(&runner).await;
    held.finish(json!({"fingerprint": older})).await.ok();
    let expected = "Native plugin version changed: @capacitor/camera 7.0.3 -> 7.0.5";
    assert_eq!(ask(&older).await["compatibilityReason"], expected);
    assert_eq!(ask(&new).await["requiresStoreUpdate"], false);
}

#[tokio::test]
async fn a_document_of_another_platform_is_refused() {
    let (app, key) = TestApp::with_key().await;
    let document = document("7.0.4");
    let is_for_ios = "fingerprint.platform is android, but this is for ios. Send the document of that platform.";
    let sent = json!({"platform": "ios", "fingerprint": document});
    app.publish(&key, sent.clone()).await.refused(400, is_for_ios);
    crate::stage::builds::build(&app, &key, sent).await.refused(400, is_for_ios);
    // A runner's document counts as little: its build stays as it was.
    let made = build(&app, &key, json!({"platform": "ios"})).await;
    let runner = app.runner(&key, &["os=macos"]).await;
    let held = app.take(&runner).await;
    held.finish(json!({"fingerprint": document})).await.refused(400, is_for_ios);
    held.finish(json!({"fingerprint": "abc"})).await.ok();
    let path = format!("/build?id={}", made.id());
    assert_eq!(get(&app, &key, &path).await.ok()["fingerprint"], "abc");
}
