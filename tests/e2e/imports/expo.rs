//! `launchway import expo`: phones that run an update of the old service are told that there is nothing new, others get it under its
//! old id, and apps with a certificate get what the command signed.

use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_testing::says::Fields;
use reqwest::Response;
use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::{BUNDLE, Move, client, steps, steps_on};
use crate::cli::Outcome;
use crate::deployment::Ground;

const KEY: &str = include_str!("../../../crates/credentials/tests/fixtures/rsa.p8");
/// A full release for both platforms, and a staged one above it.
const FULL: &str = "019abcde-0000-7000-8000-000000000001";
const FULL_ON_IOS: &str = "019abcde-0000-7000-8000-000000000002";
const STAGED: &str = "019abcde-0000-7000-8000-000000000003";
const GROUP: &str = "11111111-0000-4000-8000-000000000001";
const FULL_AT: &str = "2025-11-01T10:00:00.000Z";
const STAGED_AT: &str = "2025-11-02T10:00:00.000Z";
const UNKNOWN: &str = "019abcde-0000-7000-8000-000000000000";
const EXPO: [&str; 3] = ["expo", "channels.json", "updates.json"];

fn update(id: &str, platform: &str, more: &Value) -> Value {
    let mut update = json!({
        "id": id, "createdAt": FULL_AT, "group": GROUP, "branch": "main", "message": "Faster start", "runtimeVersion": "1.0.0",
        "platform": platform, "manifestPermalink": format!("https://u.expo.dev/update/{id}"), "isRollBackToEmbedded": false,
    });
    for (name, value) in more.as_object().unwrap() {
        update[name] = value.clone();
    }
    update
}

/// Writes what the tools of the service print for these channels, which all serve one branch.
fn write_channels(moving: &Move, channels: &[&str]) {
    let channel = |name: &&str| json!({"id": "1", "name": name, "isPaused": false, "updateBranches": [{"id": "2", "name": "main"}]});
    let channels: Vec<Value> = channels.iter().map(channel).collect();
    moving.file(
        "channels.json",
        json!({"currentPage": channels, "hasNextPage": false}).to_string(),
    );
}

fn write_updates(moving: &Move, with_staged: bool) {
    let mut updates = vec![
        update(FULL, "android", &json!({})),
        update(FULL_ON_IOS, "ios", &json!({})),
    ];
    if with_staged {
        let staged =
            json!({"createdAt": STAGED_AT, "rolloutPercentage": 1, "group": "11111111-0000-4000-8000-000000000003"});
        updates.insert(0, update(STAGED, "android", &staged));
    }
    moving.file("updates.json", json!(updates).to_string());
}

/// Writes what `npx expo export` writes for these platforms.
fn export(moving: &Move, name: &str, platforms: &[&str]) {
    let folder = moving.folder.path().join("packages").join(name);
    fs::create_dir_all(folder.join("assets")).unwrap();
    let mut files = json!({});
    for platform in platforms {
        let script = format!("index-{platform}.hbc");
        fs::write(folder.join(&script), format!("{name} on {platform}")).unwrap();
        files[platform] = json!({"bundle": script, "assets": [{"path": "assets/4e3f", "ext": "png"}]});
    }
    fs::write(folder.join("assets/4e3f"), "an image").unwrap();
    let metadata = json!({"version": 0, "bundler": "metro", "fileMetadata": files});
    fs::write(folder.join("metadata.json"), metadata.to_string()).unwrap();
}

/// Asks as a phone of this channel that runs an update.
async fn asked(moving: &Move, channel: &str, running: &str, more: &[(&str, &str)]) -> Response {
    let url = format!("{}/expo/{BUNDLE}", moving.deployment.node().origin());
    let headers = [
        ("accept", "application/expo+json"),
        ("expo-protocol-version", "1"),
        ("expo-platform", "android"),
        ("expo-runtime-version", "1.0.0"),
        ("expo-channel-name", channel),
        ("expo-current-update-id", running),
    ];
    let headers = headers.iter().chain(more);
    let request = headers.fold(client().get(url), |request, (name, value)| {
        request.header(*name, *value)
    });
    request.send().await.unwrap()
}

/// The manifest that a phone gets; null if there is nothing new.
async fn offered(moving: &Move, channel: &str, running: &str) -> Value {
    let answer = asked(moving, channel, running, &[]).await;
    match answer.status().as_u16() {
        200 => answer.json().await.unwrap(),
        status => {
            assert_eq!(status, 204);
            Value::Null
        }
    }
}

#[tokio::test]
async fn an_app_moves_in_from_expo() {
    let moving = Move::new(Ground::SqliteDirectory).await;
    write_channels(&moving, &["production"]);
    write_updates(&moving, true);
    let check_steps = |outcome: &Outcome| {
        assert_eq!(
            steps_on(outcome, 0),
            ["create_app".to_owned(), format!("publish {FULL_ON_IOS}")]
        );
        assert_eq!(steps_on(outcome, 1), [FULL, STAGED].map(|id| format!("publish {id}")));
    };
    check_steps(&moving.import(&[&EXPO[..], &["--dry-run"]].concat()));
    assert_eq!(moving.api.get("/apps").await.ok()["total"], 0, "nothing was sent");

    // Nothing is sent without all packages, or with one that lacks the platform.
    export(&moving, GROUP, &["android", "ios"]);
    let refused = moving.import(&EXPO);
    assert!(
        refused
            .stderr
            .contains(&format!("lacks the packages of {STAGED} of production")),
        "{refused:?}"
    );
    export(&moving, STAGED, &["ios"]);
    let refused = moving.import(&EXPO);
    assert!(
        refused.stderr.contains(&format!(
            "is not the package of {STAGED}: the export has no android app"
        )),
        "{refused:?}"
    );
    assert_eq!(moving.api.get("/apps").await.ok()["total"], 0, "nothing was sent");

    export(&moving, STAGED, &["android"]);
    check_steps(&moving.import(&EXPO));
    for held in [FULL, STAGED] {
        assert_eq!(offered(&moving, "production", held).await, Value::Null, "{held}");
    }
    let manifest = offered(&moving, "production", UNKNOWN).await;
    assert_eq!((manifest.text("id"), manifest.text("createdAt")), (FULL, FULL_AT));
    let script = client().get(manifest["launchAsset"].text("url")).send().await.unwrap();
    assert_eq!(script.text().await.unwrap(), format!("{GROUP} on android"));

    let again = moving.import(&EXPO);
    assert_eq!((steps(&again), steps_on(&again, 1)), (vec![], vec![]));
    assert_eq!(again.json()["platforms"][1]["present"], 2);
    assert_eq!(moving.updates().await, 3, "two for Android and one for iOS");
    a_withdrawn_import_leads_back(&moving).await;
}

/// Withdraws the update that devices know under this id.
async fn withdraw(moving: &Move, id: &str) {
    let found = moving
        .api
        .get(&format!("/update?protocol=expo&foreignId={id}"))
        .await
        .ok();
    let path = format!("/update?id={}", found["items"][0].text("id"));
    moving.api.patch(&path, json!({"status": "withdrawn"})).await.ok();
}

/// Whoever runs an update that is withdrawn goes back to what is below it.
async fn a_withdrawn_import_leads_back(moving: &Move) {
    withdraw(moving, STAGED).await;
    let back = offered(moving, "production", STAGED).await;
    assert_eq!(
        back["launchAsset"]["url"],
        offered(moving, "production", UNKNOWN).await["launchAsset"]["url"]
    );
    assert!(back.text("createdAt") > STAGED_AT, "{back}");
    assert_ne!(back.text("id"), FULL);
    assert_eq!(steps(&moving.import(&EXPO)), [""; 0], "it stays withdrawn");
}

#[tokio::test]
async fn an_interrupted_import_from_expo_goes_on() {
    let moving = Move::new(Ground::PostgresS3).await;
    write_channels(&moving, &["production"]);
    write_updates(&moving, false);
    export(&moving, GROUP, &["android", "ios"]);
    export(&moving, STAGED, &["android"]);
    let android = [&EXPO[..], &["--platform", "android"]].concat();
    assert_eq!(
        steps(&moving.import(&android)),
        ["create_app".to_owned(), format!("publish {FULL}")]
    );
    // Another channel serves the same branch: its phones load the same content once more, since an id names one update.
    write_channels(&moving, &["production", "beta"]);
    write_updates(&moving, true);
    let rest = [FULL, STAGED, STAGED].map(|id| format!("publish {id}"));
    assert_eq!(steps(&moving.import(&android)), rest);
    let other = offered(&moving, "beta", FULL).await;
    assert_ne!(other.text("id"), FULL);
    assert!(other.text("createdAt") > FULL_AT, "{other}");
    assert_eq!(offered(&moving, "beta", other.text("id")).await, Value::Null);
    assert_eq!(offered(&moving, "production", STAGED).await, Value::Null);
    assert_eq!(steps(&moving.import(&android)), [""; 0]);
    assert_eq!(moving.updates().await, 4);
}

/// The text that a phone with the certificate gets, verified.
async fn verified(moving: &Move, running: &str) -> Value {
    let wish = ("expo-expect-signature", "sig, keyid=\"main\", alg=\"rsa-v1_5-sha256\"");
    let answer = asked(moving, "production", running, &[wish]).await;
    assert_eq!(answer.status().as_u16(), 200);
    let header = answer.headers()["expo-signature"].to_str().unwrap().to_owned();
    let body = answer.bytes().await.unwrap();
    let (_, rest) = header.split_once("sig=\"").unwrap();
    let signature = BASE64_STANDARD.decode(rest.split_once('"').unwrap().0).unwrap();
    let der: String = KEY.lines().filter(|line| !line.starts_with('-')).collect();
    let pair = RsaKeyPair::from_pkcs8(&BASE64_STANDARD.decode(der).unwrap()).unwrap();
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
    public.verify(&body, &signature).unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[tokio::test]
async fn an_app_with_a_certificate_moves_in_from_expo() {
    let moving = Move::new(Ground::SqliteDirectory).await;
    write_channels(&moving, &["production"]);
    write_updates(&moving, true);
    let back = json!({"isRollBackToEmbedded": true, "runtimeVersion": "2.0.0", "createdAt": STAGED_AT});
    let other = update("019abcde-0000-7000-8000-000000000009", "android", &back);
    moving.file("back.json", json!([other]).to_string());
    export(&moving, GROUP, &["android", "ios"]);
    export(&moving, STAGED, &["android"]);
    moving.file("key.pem", KEY);
    let key = [
        "--expo-signing-key",
        "key.pem",
        "--expo-key-id",
        "main",
        "--platform",
        "android",
    ];
    let signed = [&EXPO[..], &["back.json"], &key].concat();
    assert_eq!(steps(&moving.import(&signed)).len(), 4);
    let manifest = verified(&moving, UNKNOWN).await;
    assert_eq!((manifest.text("id"), manifest.text("createdAt")), (FULL, FULL_AT));
    for held in [FULL, STAGED] {
        assert_eq!(offered(&moving, "production", held).await, Value::Null, "{held}");
    }
    assert_eq!(steps(&moving.import(&signed)), [""; 0]);

    // Its undo was signed with it.
    withdraw(&moving, STAGED).await;
    let undo = verified(&moving, STAGED).await;
    assert_eq!(undo["launchAsset"], manifest["launchAsset"]);
    assert_eq!(undo.text("createdAt"), "2025-11-02T10:00:00.001Z");
    moving.file("empty.json", "[]");
    let refused = moving.import(&[
        "capgo",
        "empty.json",
        "--expo-signing-key",
        "key.pem",
        "--platform",
        "ios",
    ]);
    assert!(
        refused
            .stderr
            .contains("--expo-signing-key is only for updates of Expo"),
        "{refused:?}"
    );
}
