//! The public check: its parameters, the three forms of its result, its rules
//! (`docs/reference/updates.md#the-public-check`).

use crate::stage::BUNDLE;
use crate::support::{Fields, NOBODY};
use launchway_domain::time::{HOUR, iso};
use serde_json::{Value, json};

use super::Who::{Nobody, Revoked};
use super::data::{Data, document};
use super::{Error, Gets, Has, Is, Lacks, NONE, run};

const UNKNOWN_CHANGE: &str = "The native code of this update differs from the installed app";

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
    let data = Data::new().await;
    let none_found = Is(200, json!({"updateAvailable": false, "message": "No updates found for this bundle"}));
    let reason = "Native plugin version changed: @nativescript/camera 4.5.0 -> 5.0.0";
    let store = Has(
        200,
        json!({
            "updateAvailable": true, "requiresStoreUpdate": true, "platform": "ios", "version": "1.1.0",
            "buildNumber": "1", "releaseNotes": "", "compatibilityReason": reason,
        }),
    );
    let target = Has(200, json!({"updateAvailable": true, "version": "1.1.0", "releaseNotes": "Better"}));
    let rows = rows! {
        "check: authentication: none": Nobody, "GET /update/check/com.example.app?currentVersion=1.0.0" => update();
        "check: authentication: none": Revoked, "GET /update/check/com.example.app?currentVersion=1.0.0" => update();
        "check: bundleId: app bundle identifier": Nobody, "GET /update/check/com.example.none?currentVersion=1.0.0"
            => none_found.clone();
        "check: currentVersion: required": Nobody, "GET /update/check/com.example.app"
            => Error(400, "currentVersion is required");
        "check: currentBuild: not required": Nobody, "GET /update/check/com.example.app?currentVersion=1.1.9"
            => update();
        "check: platform: not required": Nobody, "GET /update/check/com.example.app?currentVersion=1.1.9" => update();
        "check: platform: `ios`": Nobody, "GET /update/check/com.example.app?currentVersion=1.0.0&platform=ios"
            => of("ios");
        "check: platform: `android`": Nobody, "GET /update/check/com.example.app?currentVersion=1.0.0&platform=android"
            => of("android");
        "check: platform: `visionos`":
            Nobody, "GET /update/check/com.example.app?currentVersion=1.0.0&platform=visionos"
            => of("visionos");
        "check: platform: one of three": Nobody, "GET /update/check/com.example.app?currentVersion=1.0.0&platform=tvos"
            => Error(400, "platform must be ios, android or visionos");
        "check: configuration: deployment target":
            Nobody, "GET /update/check/com.example.target?currentVersion=1.0.0&configuration=production"
            => target.clone();
        "check: configuration: deployment target":
            Nobody, "GET /update/check/com.example.target?currentVersion=1.0.0&configuration=staging"
            => no_update();
        "check: shape 1: plus platform, version, …":
            Nobody, "GET /update/check/com.example.app?currentVersion=1.0.0&platform=ios"
            => update();
        "check: shape 1: no message": Nobody, "GET /update/check/com.example.app?currentVersion=1.0.0"
            => Lacks(200, &["message"]);
        "check: shape 2: requiresStoreUpdate true and compatibilityReason a text naming the change":
            Nobody, "GET /update/check/com.example.native?currentVersion=1.0.0&fingerprint={hash}"
            => store.clone();
        "check: shape 3: updateAvailable false and message":
            Nobody, "GET /update/check/com.example.app?currentVersion=1.2.0"
            => no_update();
        "check: update version greater than currentVersion":
            Nobody, "GET /update/check/com.example.app?currentVersion=1.1.99&currentBuild=99"
            => update();
        "check: semantic version comparison": Nobody, "GET /update/check/com.example.app?currentVersion=1.10.0"
            => no_update();
        "check: semantic version comparison": Nobody, "GET /update/check/com.example.app?currentVersion=1.2.0-rc.1"
            => update();
        "check: equal, build number numerically greater":
            Nobody, "GET /update/check/com.example.app?currentVersion=1.2.0&currentBuild=4"
            => update();
        "check: equal, build number numerically greater":
            Nobody, "GET /update/check/com.example.app?currentVersion=1.2.0&currentBuild=10"
            => no_update();
        "check: equal, same build number":
            Nobody, "GET /update/check/com.example.app?currentVersion=1.2.0&currentBuild=5"
            => no_update();
        "check: update version lower": Nobody, "GET /update/check/com.example.app?currentVersion=1.3.0&currentBuild=1"
            => no_update();
        "check: compared with the fingerprint stored":
            Nobody, "GET /update/check/com.example.target?currentVersion=1.0.0&fingerprint={hash}\
             &configuration=production"
            => target.clone();
        "check: on mismatch requiresStoreUpdate":
            Nobody, "GET /update/check/com.example.native?currentVersion=1.0.0&fingerprint=other"
            => Has(200, json!({"requiresStoreUpdate": true, "compatibilityReason": UNKNOWN_CHANGE}));
        "check: when `fingerprint` is supplied": Nobody, "GET /update/check/com.example.native?currentVersion=1.0.0"
            => Has(200, json!({"requiresStoreUpdate": false, "compatibilityReason": null}));
        "check: no update exists for the bundle": Nobody, "GET /update/check/com.example.none?currentVersion=1.0.0"
            => none_found;
        "check: bundle id, version, platform, fingerprint and configuration":
            Nobody, "GET /update/check/com.example.target?currentVersion=1.0.0&platform=ios&fingerprint={hash}\
             &configuration=production"
            => target;
        "check: the same of an incompatible app":
            Nobody, "GET /update/check/com.example.native?currentVersion=1.0.0&platform=ios&fingerprint={hash}\
             &configuration=production"
            => store;
    };
    run(&data, rows).await;
}

/// The fingerprint hash is built from the native plugin versions, the hash of the app resources folder and the hash of the
/// native source: `docs/reference/fingerprints.md#one-document-for-each-platform`.
#[tokio::test]
async fn the_hash_is_built_from_plugins_resources_and_native_source() {
    let data = Data::new().await;
    let key = data.key(launchway_domain::scope::Scope::Update);
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
        let update = data.app.published(key, json!({"platform": "ios", "fingerprint": document})).await;
        hashes.push(update.text("fingerprint").to_owned());
    }
    assert_eq!(hashes[0], data.filled("{hash}"), "the same inputs, the same hash");
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 4, "each input counts");
}

/// `url` is valid for 1 hour, and `expiresAt` is the end of that hour: `docs/reference/updates.md#download-url`.
#[tokio::test]
async fn download_urls_are_valid_for_an_hour() {
    let data = Data::new().await;
    let app = &data.app;
    // Rounded down to a whole second: the rest of a second is not part of the hour.
    app.advance(999);
    let now = launchway_os::clock::Clock::now(&*app.clock);
    let ask = async || app.checked(BUNDLE, "currentVersion=1.0.0").await;
    let text = |answer: &Value, field: &str| answer[field].as_str().unwrap().to_owned();
    let offer = ask().await;
    assert_eq!(text(&offer, "expiresAt"), iso(now + HOUR));
    let url = text(&offer, "url");
    app.get(NOBODY, &url).await.is(200);
    app.advance(HOUR - 1);
    app.get(NOBODY, &url).await.is(200);
    app.advance(1);
    app.get(NOBODY, &url).await.is(403);
    let again = ask().await;
    app.get(NOBODY, &text(&again, "url")).await.is(200);
}

/// `docs/reference/updates.md#caching`
#[tokio::test]
async fn checks_are_never_cached() {
    let data = Data::new().await;
    for path in [
        "com.example.app?currentVersion=1.0.0",
        "com.example.app?currentVersion=9.0.0",
        "com.example.none?currentVersion=1.0.0",
    ] {
        let path = format!("/update/check/{path}");
        let answer = data.call(Nobody, reqwest::Method::GET, &path, NONE).await;
        assert_eq!(answer.header("cache-control"), "no-cache, no-store, must-revalidate", "{path}");
    }
}
