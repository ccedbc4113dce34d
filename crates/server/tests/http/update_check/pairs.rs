//! Hashes of the same native code: `lwfp-1` includes signing settings, `lwfp-2` does not, and the server knows which
//! hashes belong together.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::stage::BUNDLE;
use crate::support::{Fields, TestApp};

/// A document with this native source; its keys are in the order of RFC 8785.
fn document(algorithm: &str, native: char) -> Value {
    let hash = |digit: char| digit.to_string().repeat(64);
    json!({
        "alg": algorithm, "framework": "native", "native": hash(native), "platform": "android",
        "plugins": {}, "resources": hash('0'),
    })
}

fn hash(document: &Value) -> String {
    hex::encode(Sha256::digest(document.to_string()))
}

/// Reports both hashes of a build to the server.
async fn told(app: &TestApp, key: &str, document: &Value, lwfp2: &str) -> u16 {
    let git = json!({"url": "https://example.com/app.git", "ref": "main"});
    let body = json!({"bundleId": BUNDLE, "platform": "android", "source": {"git": git}, "fingerprint": document});
    let path = format!("/build?lwfp2={lwfp2}");
    app.post(key, &path, body).await.status.as_u16()
}

/// Whether an app with this hash is offered the newest update over the air.
async fn takes(app: &TestApp, installed: &str) -> bool {
    let query = format!("currentVersion=1.0.0&fingerprint={installed}");
    app.checked(BUNDLE, &query).await["requiresStoreUpdate"] == false
}

#[tokio::test]
async fn apps_that_differ_only_in_signing_take_the_same_updates() {
    let (app, key) = TestApp::with_key().await;
    let (one, other, changed) = (document("lwfp-1", '1'), document("lwfp-1", '2'), document("lwfp-1", '3'));
    let second = hash(&document("lwfp-2", 'a'));
    // An update published by an older command line, which knows only one hash.
    app.published(&key, json!({"version": "1.1.0", "fingerprint": other})).await;
    assert!(takes(&app, &hash(&other)).await);
    assert!(!takes(&app, &hash(&one)).await, "nobody has told that they are the same");

    assert_eq!(told(&app, &key, &one, &second).await, 201);
    assert!(!takes(&app, &hash(&one)).await, "the update's own pair is not known yet");
    assert_eq!(told(&app, &key, &other, &second).await, 201);
    for installed in [hash(&one), hash(&other), second.clone()] {
        assert!(takes(&app, &installed).await, "{installed}");
    }
    assert!(!takes(&app, &hash(&changed)).await);
    assert_eq!(told(&app, &key, &changed, &hash(&document("lwfp-2", 'b'))).await, 201);
    assert!(!takes(&app, &hash(&changed)).await, "other native code stays other native code");
}

#[tokio::test]
async fn an_update_tells_both_hashes_itself_and_may_be_of_either() {
    let (app, key) = TestApp::with_key().await;
    let (one, other, second) = (document("lwfp-1", '1'), document("lwfp-1", '2'), document("lwfp-2", 'a'));
    let first = app.published(&key, json!({"version": "1.1.0"})).await;
    let body = json!({
        "bundleId": BUNDLE, "platform": "android", "version": "1.2.0", "sourceUpdateId": first["id"], "fingerprint": one,
    });
    let update = app.post(&key, &format!("/update?lwfp2={}", hash(&second)), body).await.created();
    assert_eq!(update["fingerprint"], hash(&one), "older servers beside compare this one");
    assert!(takes(&app, &hash(&one)).await && takes(&app, &hash(&second)).await);
    assert_eq!(told(&app, &key, &other, &hash(&second)).await, 201);
    assert!(takes(&app, &hash(&other)).await);

    // Published with only the other document.
    app.published(&key, json!({"version": "1.3.0", "fingerprint": second})).await;
    for installed in [&one, &other, &second] {
        let query = format!("currentVersion=1.0.0&fingerprint={}", hash(installed));
        app.checked(BUNDLE, &query).await.has(json!({"version": "1.3.0", "requiresStoreUpdate": false}));
    }
}

#[tokio::test]
async fn nobody_but_the_owner_pairs_hashes_of_an_app() {
    let (app, key) = TestApp::with_key().await;
    let (_, stranger) = app.org_with_key().await;
    let (old, new) = (document("lwfp-1", '1'), document("lwfp-1", '2'));
    // Before anyone owns the app, and when someone else does.
    assert_eq!(told(&app, &stranger, &old, &hash(&new)).await, 201);
    app.published(&key, json!({"version": "1.1.0", "fingerprint": new})).await;
    assert!(!takes(&app, &hash(&old)).await);
    assert_eq!(told(&app, &stranger, &old, &hash(&new)).await, 403);
    assert!(!takes(&app, &hash(&old)).await);
    // The first report stays.
    assert_eq!(told(&app, &key, &old, "0").await, 201);
    assert_eq!(told(&app, &key, &old, &hash(&new)).await, 201);
    assert!(!takes(&app, &hash(&old)).await);
    assert_eq!(told(&app, &key, &old, "a%20b").await, 400);
}

#[tokio::test]
async fn what_differs_only_in_what_signs_it_is_the_same_everywhere() {
    let (app, key) = TestApp::with_key().await;
    let runner = app.runner(&key, &[]).await;
    let (one, other, second) = (document("lwfp-1", '1'), document("lwfp-1", '2'), hash(&document("lwfp-2", 'a')));
    app.published(&key, json!({"version": "1.1.0"})).await;
    assert_eq!(told(&app, &key, &one, &second).await, 201);
    assert_eq!(told(&app, &key, &other, &second).await, 201);
    let held = app.take(&runner).await;
    let end = json!({
        "status": "success", "error": null, "phases": [], "artifacts": [], "logSize": 0, "fingerprint": other,
    });
    held.tell(&format!("/runner/finish?lwfp2={second}"), end).await.ok();
    let builds = app.get(&key, "/build?status=success").await.ok();
    let build = &builds["items"][0];
    build.has(json!({"fingerprint": hash(&other), "warnings": []}));

    let id = build.id();
    let view = app.get(&key, &format!("/fingerprints?id={id}")).await.ok();
    assert_eq!(view["lwfp2"], json!(second));
    let update = app.published(&key, json!({"version": "1.2.0", "fingerprint": one, "buildId": id})).await;
    assert_eq!(update["fingerprint"], hash(&other), "the update belongs to the build");
    let update = app.published(&key, json!({"version": "1.3.0", "fingerprint": one})).await;
    let difference = app.get(&key, &format!("/fingerprints/diff?from={id}&to={}", update.id())).await.ok();
    difference.has(json!({"same": true, "reason": null}));
}

#[tokio::test]
async fn what_a_build_says_of_itself_pairs_no_hashes() {
    let (app, key) = TestApp::with_key().await;
    let runner = app.runner(&key, &[]).await;
    let (old, new) = (document("lwfp-1", '1'), document("lwfp-1", '2'));
    app.published(&key, json!({"version": "1.1.0", "fingerprint": new})).await;
    assert_eq!(told(&app, &key, &document("lwfp-1", '3'), "0").await, 201);
    let held = app.take(&runner).await;
    let end = json!({
        "status": "success", "error": null, "phases": [], "artifacts": [], "logSize": 0, "fingerprint": old,
    });
    held.tell(&format!("/runner/finish?lwfp2={}", hash(&new)), end).await.ok();
    assert!(!takes(&app, &hash(&old)).await);
}
