//! The public check: its parameters, its three forms of result, its rules (`docs/reference/updates.md#the-public-check`).

use crate::support::{Fields, NOBODY};
use launchway_domain::time::{HOUR, iso};
use reqwest::Method;
use serde_json::{Value, json};

use super::stage::{Stage, document};
use super::{Error, Gets, Has, Is, Lacks, NONE, Row, Who, run};

const BUNDLE: &str = "com.example.app";
const UNKNOWN_CHANGE: &str = "The native code of this update differs from the installed app.";

fn update() -> Gets {
    Has(
        200,
        json!({
            "updateAvailable": true, "requiresStoreUpdate": false, "version": "1.2.0", "buildNumber": "5",
            "compatibilityReason": null,
        }),
    )
}

fn no_update() -> Gets {
    Is(200, json!({"updateAvailable": false, "message": "No update available"}))
}

fn of(platform: &str) -> Gets {
    Has(200, json!({"updateAvailable": true, "platform": platform}))
}

#[tokio::test]
async fn check_parameters_and_rules() {
    let stage = Stage::set().await;
    let none_found = Is(
        200,
        json!({"updateAvailable": false, "message": "No updates found for this bundle"}),
    );
    let reason = "Native plugin version changed: @nativescript/camera 4.5.0 -> 5.0.0";
    let store = Has(
        200,
        json!({
            "updateAvailable": true, "requiresStoreUpdate": true, "platform": "ios", "version": "1.1.0",
            "buildNumber": "1", "releaseNotes": "", "compatibilityReason": reason,
        }),
    );
    let target = Has(
        200,
        json!({"updateAvailable": true, "version": "1.1.0", "releaseNotes": "Better"}),
    );
    let rows: [Row; 29] = [
        (
            "check: authentication: none",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0",
            NONE,
            update(),
        ),
        (
            "check: authentication: none",
            Who::Revoked,
            "GET /update/check/com.example.app?currentVersion=1.0.0",
            NONE,
            update(),
        ),
        (
            "check: bundleId: app bundle identifier",
            Who::Nobody,
            "GET /update/check/com.example.none?currentVersion=1.0.0",
            NONE,
            none_found.clone(),
        ),
        (
            "check: currentVersion: required",
            Who::Nobody,
            "GET /update/check/com.example.app",
            NONE,
            Error(400, "currentVersion is required"),
        ),
        (
            "check: currentBuild: not required",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.1.9",
            NONE,
            update(),
        ),
        (
            "check: platform: not required",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.1.9",
            NONE,
            update(),
        ),
        (
            "check: platform: `ios`",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0&platform=ios",
            NONE,
            of("ios"),
        ),
        (
            "check: platform: `android`",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0&platform=android",
            NONE,
            of("android"),
        ),
        (
            "check: platform: `visionos`",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0&platform=visionos",
            NONE,
            of("visionos"),
        ),
        (
            "check: platform: one of three",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0&platform=tvos",
            NONE,
            Error(400, "platform must be ios, android or visionos"),
        ),
        (
            "check: configuration: deployment target",
            Who::Nobody,
            "GET /update/check/com.example.target?currentVersion=1.0.0&configuration=production",
            NONE,
            target.clone(),
        ),
        (
            "check: configuration: deployment target",
            Who::Nobody,
            "GET /update/check/com.example.target?currentVersion=1.0.0&configuration=staging",
            NONE,
            no_update(),
        ),
        (
            "check: shape 1: plus platform, version, …",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0&platform=ios",
            NONE,
            update(),
        ),
        (
            "check: shape 1: no message",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0",
            NONE,
            Lacks(200, &["message"]),
        ),
        (
            "check: shape 2: requiresStoreUpdate true and compatibilityReason a text naming the change",
            Who::Nobody,
            "GET /update/check/com.example.native?currentVersion=1.0.0&fingerprint={hash}",
            NONE,
            store.clone(),
        ),
        (
            "check: shape 3: updateAvailable false and message",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.2.0",
            NONE,
            no_update(),
        ),
        (
            "check: update version greater than currentVersion",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.1.99&currentBuild=99",
            NONE,
            update(),
        ),
        (
            "check: semantic version comparison",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.10.0",
            NONE,
            no_update(),
        ),
        (
            "check: semantic version comparison",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.2.0-rc.1",
            NONE,
            update(),
        ),
        (
            "check: equal, build number numerically greater",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.2.0&currentBuild=4",
            NONE,
            update(),
        ),
        (
            "check: equal, build number numerically greater",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.2.0&currentBuild=10",
            NONE,
            no_update(),
        ),
        (
            "check: equal, same build number",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.2.0&currentBuild=5",
            NONE,
            no_update(),
        ),
        (
            "check: update version lower",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.3.0&currentBuild=1",
            NONE,
            no_update(),
        ),
        (
            "check: compared with the fingerprint stored",
            Who::Nobody,
            "GET /update/check/com.example.target?currentVersion=1.0.0&configuration=production&fingerprint={hash}",
            NONE,
            target.clone(),
        ),
        (
            "check: on mismatch requiresStoreUpdate",
            Who::Nobody,
            "GET /update/check/com.example.native?currentVersion=1.0.0&fingerprint=other",
            NONE,
            Has(
                200,
                json!({"requiresStoreUpdate": true, "compatibilityReason": UNKNOWN_CHANGE}),
            ),
        ),
        (
            "check: when `fingerprint` is supplied",
            Who::Nobody,
            "GET /update/check/com.example.native?currentVersion=1.0.0",
            NONE,
            Has(200, json!({"requiresStoreUpdate": false, "compatibilityReason": null})),
        ),
        (
            "check: no update exists for the bundle",
            Who::Nobody,
            "GET /update/check/com.example.none?currentVersion=1.0.0",
            NONE,
            none_found,
        ),
        (
            "check: bundle id, version, platform, fingerprint and configuration",
            Who::Nobody,
            "GET /update/check/com.example.target?currentVersion=1.0.0&platform=ios&fingerprint={hash}\
             &configuration=production",
            NONE,
            target,
        ),
        (
            "check: the same of an incompatible app",
            Who::Nobody,
            "GET /update/check/com.example.native?currentVersion=1.0.0&platform=ios&fingerprint={hash}\
             &configuration=production",
            NONE,
            store,
        ),
    ];
    run(&stage, rows).await;
}

/// The fingerprint hash is built from the native plugin versions, the hash of the app resources folder and the hash of the
/// native source: `docs/reference/fingerprints.md#one-document-for-each-platform`.
#[tokio::test]
async fn the_hash_is_built_from_plugins_resources_and_native_source() {
    let stage = Stage::set().await;
    let key = stage.key(launchway_domain::scope::Scope::Update);
    let other = "1".repeat(64);
    let mut hashes = Vec::new();
    for (field, value) in [
        ("alg", json!("lwfp-1")),
        ("plugins", json!({"@nativescript/camera": "4.5.1"})),
        ("resources", json!(other)),
        ("native", json!(other)),
    ] {
        let mut document = document("4.5.0");
        document[field] = value;
        let update = stage.app.published(key, json!({"fingerprint": document})).await;
        hashes.push(update.text("fingerprint").to_owned());
    }
    assert_eq!(hashes[0], stage.filled("{hash}"), "the same inputs, the same hash");
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 4, "each input counts");
}

/// `url` is valid for 1 hour, and `expiresAt` says until when: `docs/reference/updates.md#download-url`.
#[tokio::test]
async fn download_urls_are_valid_for_an_hour() {
    let stage = Stage::set().await;
    let app = &stage.app;
    // To a whole second: what is left of one is not part of the hour.
    app.advance(999);
    let now = launchway_os::clock::Clock::now(&*app.clock);
    let ask = async || app.checked(BUNDLE, "currentVersion=1.0.0").await;
    let text = |answer: &Value, field: &str| answer[field].as_str().unwrap().to_owned();
    let offer = ask().await;
    assert_eq!(text(&offer, "expiresAt"), iso(now + HOUR));
    let url = text(&offer, "url");
    assert_eq!(app.get(NOBODY, &url).await.status, 200);
    app.advance(HOUR - 1);
    assert_eq!(app.get(NOBODY, &url).await.status, 200);
    app.advance(1);
    assert_eq!(app.get(NOBODY, &url).await.status, 403);
    let again = ask().await;
    assert_eq!(app.get(NOBODY, &text(&again, "url")).await.status, 200);
}

/// `docs/reference/updates.md#caching`
#[tokio::test]
async fn checks_are_never_cached() {
    let stage = Stage::set().await;
    for path in [
        "com.example.app?currentVersion=1.0.0",
        "com.example.app?currentVersion=9.0.0",
        "com.example.none?currentVersion=1.0.0",
    ] {
        let path = format!("/update/check/{path}");
        let answer = stage.call(Who::Nobody, Method::GET, &path, NONE).await;
        assert_eq!(
            answer.header("cache-control"),
            "no-cache, no-store, must-revalidate",
            "{path}"
        );
    }
}
