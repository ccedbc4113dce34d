//! Spec part 4, "Public OTA check": its parameters, its three result shapes, its seven rules.

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
async fn part_4_check_parameters_and_rules() {
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
            "4 check, authentication: none",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0",
            NONE,
            update(),
        ),
        (
            "4 check, authentication: none",
            Who::Revoked,
            "GET /update/check/com.example.app?currentVersion=1.0.0",
            NONE,
            update(),
        ),
        (
            "4 check, bundleId: app bundle identifier",
            Who::Nobody,
            "GET /update/check/com.example.none?currentVersion=1.0.0",
            NONE,
            none_found.clone(),
        ),
        (
            "4 check, currentVersion: required",
            Who::Nobody,
            "GET /update/check/com.example.app",
            NONE,
            Error(400, "currentVersion is required"),
        ),
        (
            "4 check, currentBuild: not required",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.1.9",
            NONE,
            update(),
        ),
        (
            "4 check, platform: not required",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.1.9",
            NONE,
            update(),
        ),
        (
            "4 check, platform: `ios`",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0&platform=ios",
            NONE,
            of("ios"),
        ),
        (
            "4 check, platform: `android`",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0&platform=android",
            NONE,
            of("android"),
        ),
        (
            "4 check, platform: `visionos`",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0&platform=visionos",
            NONE,
            of("visionos"),
        ),
        (
            "4 check, platform: one of three",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0&platform=tvos",
            NONE,
            Error(400, "platform must be ios, android or visionos"),
        ),
        (
            "4 check, configuration: deployment target",
            Who::Nobody,
            "GET /update/check/com.example.target?currentVersion=1.0.0&configuration=production",
            NONE,
            target.clone(),
        ),
        (
            "4 check, configuration: deployment target",
            Who::Nobody,
            "GET /update/check/com.example.target?currentVersion=1.0.0&configuration=staging",
            NONE,
            no_update(),
        ),
        (
            "4 check, shape 1: plus platform, version, …",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0&platform=ios",
            NONE,
            update(),
        ),
        (
            "4 check, shape 1: no message",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0",
            NONE,
            Lacks(200, &["message"]),
        ),
        (
            "4 check, shape 2: requiresStoreUpdate true and compatibilityReason a text naming the change",
            Who::Nobody,
            "GET /update/check/com.example.native?currentVersion=1.0.0&fingerprint={hash}",
            NONE,
            store.clone(),
        ),
        (
            "4 check, shape 3: updateAvailable false and message",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.2.0",
            NONE,
            no_update(),
        ),
        (
            "4 check rule 1: update version greater than currentVersion",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.1.99&currentBuild=99",
            NONE,
            update(),
        ),
        (
            "4 check rule 1: semantic version comparison",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.10.0",
            NONE,
            no_update(),
        ),
        (
            "4 check rule 1: semantic version comparison",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.2.0-rc.1",
            NONE,
            update(),
        ),
        (
            "4 check rule 1: equal, build number numerically greater",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.2.0&currentBuild=4",
            NONE,
            update(),
        ),
        (
            "4 check rule 1: equal, build number numerically greater",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.2.0&currentBuild=10",
            NONE,
            no_update(),
        ),
        (
            "4 check rule 1: equal, same build number",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.2.0&currentBuild=5",
            NONE,
            no_update(),
        ),
        (
            "4 check rule 1: update version lower",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.3.0&currentBuild=1",
            NONE,
            no_update(),
        ),
        (
            "4 check rule 2: compared with the fingerprint stored",
            Who::Nobody,
            "GET /update/check/com.example.target?currentVersion=1.0.0&configuration=production&fingerprint={hash}",
            NONE,
            target.clone(),
        ),
        (
            "4 check rule 2: on mismatch requiresStoreUpdate",
            Who::Nobody,
            "GET /update/check/com.example.native?currentVersion=1.0.0&fingerprint=other",
            NONE,
            Has(
                200,
                json!({"requiresStoreUpdate": true, "compatibilityReason": UNKNOWN_CHANGE}),
            ),
        ),
        (
            "4 check rule 2: when `fingerprint` is supplied",
            Who::Nobody,
            "GET /update/check/com.example.native?currentVersion=1.0.0",
            NONE,
            Has(200, json!({"requiresStoreUpdate": false, "compatibilityReason": null})),
        ),
        (
            "4 check rule 4: no update exists for the bundle",
            Who::Nobody,
            "GET /update/check/com.example.none?currentVersion=1.0.0",
            NONE,
            none_found,
        ),
        (
            "4 check rule 7: bundle id, version, platform, fingerprint and configuration",
            Who::Nobody,
            "GET /update/check/com.example.target?currentVersion=1.0.0&platform=ios&fingerprint={hash}\
             &configuration=production",
            NONE,
            target,
        ),
        (
            "4 check rule 7: the same of an incompatible app",
            Who::Nobody,
            "GET /update/check/com.example.native?currentVersion=1.0.0&platform=ios&fingerprint={hash}\
             &configuration=production",
            NONE,
            store,
        ),
    ];
    run(&stage, rows).await;
}

/// "4 check rule 3: The fingerprint hash is built from the native plugin versions, the hash of the app resources folder
/// and the hash of the native source."
#[tokio::test]
async fn part_4_check_rule_3() {
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
        hashes.push(update["fingerprint"].as_str().unwrap().to_owned());
    }
    assert_eq!(hashes[0], stage.filled("{hash}"), "the same inputs, the same hash");
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 4, "each input counts");
}

/// "4 check rule 5: `url` is valid for 1 hour; `expiresAt` states the end of validity. After expiry the caller checks
/// again." "8: Download URL validity: 1 hour."
#[tokio::test]
async fn part_4_check_rule_5_and_part_8_download_urls() {
    let stage = Stage::set().await;
    let app = &stage.app;
    // To a whole second: what is left of one is not part of the hour.
    app.advance(999);
    let now = launchway_server::clock::Clock::now(&*app.clock);
    let ask = async || app.checked(BUNDLE, "currentVersion=1.0.0").await;
    let text = |answer: &Value, field: &str| answer[field].as_str().unwrap().to_owned();
    let offer = ask().await;
    assert_eq!(text(&offer, "expiresAt"), iso(now + HOUR));
    let url = text(&offer, "url");
    assert_eq!(app.get(&url).await.status, 200);
    app.advance(HOUR - 1);
    assert_eq!(app.get(&url).await.status, 200);
    app.advance(1);
    assert_eq!(app.get(&url).await.status, 403);
    let again = ask().await;
    assert_eq!(app.get(&text(&again, "url")).await.status, 200);
}

/// "4 check rule 6: The response carries `Cache-Control: no-cache, no-store, must-revalidate`".
#[tokio::test]
async fn part_4_check_rule_6() {
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
