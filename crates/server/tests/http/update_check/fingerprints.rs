//! Fingerprints in the check: which update matches, and the reason if none does.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::stage::BUNDLE;
use crate::support::{Fields, NOBODY, TestApp};

const UNKNOWN_CHANGE: &str = "The native code of this update differs from the installed app";

/// A `lwfp-1` document; its keys are in the order of RFC 8785.
fn document(native: char, plugins: Value, resources: char) -> Value {
    let hash = |digit: char| digit.to_string().repeat(64);
    json!({
        "alg": "lwfp-1", "framework": "nativescript", "native": hash(native), "platform": "android",
        "plugins": plugins, "resources": hash(resources),
    })
}

/// The hash of a document whose keys are ASCII and sorted, so that its plain JSON text is canonical.
fn hash(document: &Value) -> String {
    hex::encode(Sha256::digest(document.to_string()))
}

async fn ask(app: &TestApp, fingerprint: &str) -> (Value, Value, Value) {
    let answer = app.checked(BUNDLE, &format!("currentVersion=1.0.0&fingerprint={fingerprint}")).await;
    let field = |name: &str| answer[name].clone();
    (field("version"), field("requiresStoreUpdate"), field("compatibilityReason"))
}

#[tokio::test]
async fn the_newest_match_wins_else_the_newest_needs_a_store_update() {
    let (app, key) = TestApp::with_key().await;
    for (version, fingerprint) in [("1.1.0", json!("one")), ("1.2.0", json!("two")), ("1.3.0", json!("three"))] {
        app.published(&key, json!({"version": version, "fingerprint": fingerprint})).await;
    }
    for (installed, version, store) in [
        ("one", "1.1.0", false),
        ("two", "1.2.0", false),
        ("three", "1.3.0", false),
        ("", "1.3.0", false),
        ("four", "1.3.0", true),
        ("Three", "1.3.0", true),
        ("thre", "1.3.0", true),
    ] {
        let reason = if store { json!(UNKNOWN_CHANGE) } else { Value::Null };
        assert_eq!(ask(&app, installed).await, (json!(version), json!(store), reason), "{installed}");
    }
    app.published(&key, json!({"version": "1.2.5"})).await;
    for (installed, version) in [("one", "1.2.5"), ("three", "1.3.0"), ("four", "1.2.5")] {
        let reply = (json!(version), json!(false), Value::Null);
        assert_eq!(ask(&app, installed).await, reply, "{installed}: an update without fingerprint agrees");
    }
}

/// Only an update that is newer than the caller and whose rollout includes it can require a store update.
#[tokio::test]
async fn an_update_that_is_no_candidate_asks_for_no_store_update() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({"version": "1.1.0", "fingerprint": "one"})).await;
    app.published(&key, json!({"version": "1.2.0", "fingerprint": "two", "rollout": 0})).await;
    app.published(&key, json!({"version": "1.3.0", "fingerprint": "two", "platform": "ios"})).await;
    app.published(&key, json!({"version": "1.4.0", "fingerprint": "two", "configuration": "beta"})).await;
    let none = json!({"updateAvailable": false, "message": "No update available"});
    let query = "currentVersion=1.1.0&platform=android&deviceId=d&fingerprint=zero";
    assert_eq!(app.checked(BUNDLE, query).await, none);
    let query = "currentVersion=1.0.0&platform=android&deviceId=d&fingerprint=zero";
    app.checked(BUNDLE, query).await.has(json!({"version": "1.1.0", "requiresStoreUpdate": true}));
}

#[tokio::test]
async fn a_store_update_has_a_link_and_the_stores_version() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({"version": "1.1.0", "fingerprint": "one"})).await;
    let answer = app.checked(BUNDLE, "currentVersion=1.0.0&fingerprint=zero").await;
    assert_eq!(answer["updateAvailable"], true);
    app.get(NOBODY, answer.text("url")).await.is(200);
}

/// A reason names at most three changes, then `and N more`: `docs/reference/updates.md#reasons`.
#[tokio::test]
async fn a_reason_names_what_changed_between_two_known_documents() {
    let (app, key) = TestApp::with_key().await;
    let installed = document('a', json!({"@nativescript/camera": "4.5.0", "b": "1.0.0", "c\"\\é": "1"}), 'b');
    let update = app.published(&key, json!({"version": "1.0.0", "fingerprint": installed})).await;
    assert_eq!(update["fingerprint"], hash(&installed));
    let plugins = |camera: &str, b: &str| json!({"@nativescript/camera": camera, "b": b, "c\"\\é": "1"});
    let rows = [
        (
            document('a', plugins("5.0.0", "1.0.0"), 'b'),
            "Native plugin version changed: @nativescript/camera 4.5.0 -> 5.0.0".to_owned(),
        ),
        (document('a', plugins("4.5.0", "1.0.0"), 'c'), "App resources changed".to_owned()),
        (document('c', plugins("4.5.0", "1.0.0"), 'b'), "Native source changed".to_owned()),
        (
            document('a', json!({"@nativescript/camera": "4.5.0", "b": "1.0.0", "c\"\\é": "1", "d": "2.0.0"}), 'b'),
            "Native plugin added: d 2.0.0".to_owned(),
        ),
        (
            document('a', json!({"@nativescript/camera": "4.5.0", "b": "1.0.0"}), 'b'),
            "Native plugin removed: c\"\\é 1".to_owned(),
        ),
        (
            document('a', plugins("5.0.0", "1.1.0"), 'c'),
            "Native plugin version changed: @nativescript/camera 4.5.0 -> 5.0.0; Native plugin version changed: b \
             1.0.0 -> 1.1.0; App resources changed"
                .to_owned(),
        ),
        (
            document('c', json!({"b": "1.1.0", "d": "1"}), 'c'),
            "Native plugin removed: @nativescript/camera 4.5.0; Native plugin version changed: b 1.0.0 -> 1.1.0; \
             Native plugin removed: c\"\\é 1; and 3 more"
                .to_owned(),
        ),
    ];
    for (at, (needed, reason)) in rows.iter().enumerate() {
        app.published(&key, json!({"version": format!("1.{}.0", at + 1), "fingerprint": needed})).await;
        let (_, store, told) = ask(&app, &hash(&installed)).await;
        assert_eq!((store, &told), (json!(true), &json!(reason)));
    }
}

#[tokio::test]
async fn a_reason_is_general_when_a_document_is_unknown() {
    let (app, key) = TestApp::with_key().await;
    let (one, two) = (document('1', json!({}), '1'), document('2', json!({}), '1'));
    app.published(&key, json!({"version": "1.1.0", "fingerprint": hash(&two)})).await;
    assert_eq!(ask(&app, &hash(&one)).await.2, UNKNOWN_CHANGE, "both unknown");
    app.published(&key, json!({"version": "1.2.0", "fingerprint": two})).await;
    assert_eq!(ask(&app, &hash(&one)).await.2, UNKNOWN_CHANGE, "the installed one unknown");
    app.published(&key, json!({"bundleId": "com.example.other", "fingerprint": one})).await;
    assert_eq!(ask(&app, &hash(&one)).await.2, UNKNOWN_CHANGE, "known of another app only");
    app.published(&key, json!({"version": "1.0.0", "fingerprint": one})).await;
    assert_eq!(ask(&app, &hash(&one)).await.2, "Native source changed");
}
