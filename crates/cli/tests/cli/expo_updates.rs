//! `update` with an export of Expo, for apps with Expo's client.

use std::process::Output;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_foreign::expo::{Directive, Manifest, Signature};
use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::publish::{MINIMUM, asked};
use crate::stage::{Stage, page, update};

const KEY: &str = include_str!("../../../credentials/tests/fixtures/rsa.p8");
/// When the update that phones have was created.
const BEFORE: &str = "2026-11-20T10:00:00.000Z";

/// A project with an export, and a server that takes an update after these responses.
async fn stage(settings: Value, before: impl IntoIterator<Item = Reply>) -> (FakeServer, Stage) {
    let server = FakeServer::start(before).await;
    let upload = json!({
        "id": "upload_01kb0000000000000000000001", "status": "pending", "method": "PUT", "headers": {},
        "url": format!("{}/objects/1", server.url()), "expiresAt": "2026-11-20T10:00:00.000Z",
    });
    server.then([
        Reply::new(201, upload.to_string()),
        Reply::new(200, ""),
        Reply::new(201, update(json!({"format": "expo"})).to_string()),
    ]);
    let stage = Stage::with(&server);
    let files = json!({"bundle": "_expo/index.hbc", "assets": [{"path": "assets/4e3f", "ext": "png"}]});
    let metadata = json!({"version": 0, "fileMetadata": {"android": files}});
    stage
        .file(
            "package.json",
            r#"{"dependencies": {"expo": "54.0.0", "expo-updates": "57.0.24"}}"#,
        )
        .file("app.json", json!({"expo": settings}).to_string())
        .file("dist/metadata.json", metadata.to_string())
        .file("dist/expoConfig.json", r#"{"name": "App"}"#)
        .file("dist/_expo/index.hbc", "the script")
        .file("dist/assets/4e3f", "an image")
        .file("key.pem", KEY);
    (server, stage)
}

async fn run(stage: &Stage, more: &[&str]) -> Output {
    let arguments: Vec<&str> = MINIMUM.iter().chain(more).copied().collect();
    stage.command(&arguments).output().await.expect("it runs")
}

#[tokio::test]
async fn an_export_is_published_for_the_runtime_of_the_project() {
    let (server, stage) = stage(json!({"runtimeVersion": "1.2.0"}), []).await;
    let output = run(&stage, &[]).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let asked = asked(&server);
    assert_eq!(
        (&asked["format"], &asked["runtimeVersion"]),
        (&json!("expo"), &json!("1.2.0"))
    );
    assert_eq!((&asked["fingerprint"], &asked["expo"]), (&Value::Null, &Value::Null));
    // Nothing was asked about builds: these apps know no fingerprints.
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_runtime_that_only_a_build_computes_must_be_given() {
    let computed = json!({"runtimeVersion": {"policy": "fingerprint"}});
    let (_server, stage) = stage(computed.clone(), []).await;
    let output = run(&stage, &[]).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("the runtime version of the installed app is not known"),
        "{said}"
    );
    assert!(
        said.contains("npx expo-updates runtimeversion:resolve --platform android"),
        "{said}"
    );
    let (server, stage) = self::stage(computed, []).await;
    let output = run(&stage, &["--runtime-version", "abc"]).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(asked(&server)["runtimeVersion"], "abc");
}

#[tokio::test]
async fn a_key_for_what_is_no_export_is_refused() {
    let (_server, stage) = stage(json!({}), []).await;
    stage.file("dist/metadata.json", "{}");
    let output = run(&stage, &["--expo-signing-key", "key.pem"]).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("--expo-signing-key is only for an export of Expo"),
        "{said}"
    );
    stage.file("key.pem", "no key");
    let output = run(&stage, &["--expo-signing-key", "key.pem", "--runtime-version", "1"]).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("key.pem is not a private RSA key of at least 2,048 bits in PEM"),
        "{said}"
    );
}

/// What phones have before.
fn served() -> String {
    let asset = |hash: &str, key: &str| {
        json!({
            "hash": hash, "key": key, "contentType": "application/javascript", "fileExtension": "",
            "url": format!("https://cdn.example.com/expo/com.example.app/assets/{key}"),
        })
    };
    json!({
        "id": "0193c9a1-7c4e-7d7e-8a9b-0123456789ab", "createdAt": BEFORE, "runtimeVersion": "1.2.0",
        "launchAsset": asset(&"A".repeat(43), "before"), "assets": [], "metadata": {}, "extra": {},
    })
    .to_string()
}

/// Verifies a signed text with the public part of the key.
fn verified(signed: &Value, key_id: &str) -> String {
    let der = KEY.lines().filter(|line| !line.starts_with('-')).collect::<String>();
    let pair = RsaKeyPair::from_pkcs8(&BASE64_STANDARD.decode(der).expect("Base64")).expect("a key");
    let body = signed["body"].as_str().expect("a text");
    let signature = Signature::parse(signed["signature"].as_str().expect("a text")).expect("a header");
    assert_eq!(signature.key_id, key_id);
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
    let is_by_key = public.verify(body.as_bytes(), &signature.bytes);
    is_by_key.expect("a signature by the key");
    body.to_owned()
}

#[tokio::test]
async fn a_manifest_is_signed_with_its_undo_and_the_key_stays() {
    let before = "update_01kb0000000000000000000009";
    let known = page(&[update(json!({"id": before}))], 1, 0);
    let settings = json!({"runtimeVersion": "1.2.0", "updates": {"codeSigningMetadata": {"keyid": "main", "alg": "rsa-v1_5-sha256"}}});
    let (server, stage) = stage(settings, [Reply::new(200, served()), Reply::new(200, known)]).await;
    let output = run(&stage, &["--expo-signing-key", "key.pem"]).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.seen()[0].line, "GET /expo/com.example.app");
    let expo = asked(&server)["expo"].clone();
    let manifest = Manifest::parse(verified(&expo["part"], "main").as_bytes()).unwrap();
    let undo = Manifest::parse(verified(&expo["undo"]["previous"], "main").as_bytes()).unwrap();
    let Directive::RollBack(embedded) =
        Directive::parse(verified(&expo["undo"]["embedded"], "main").as_bytes()).unwrap()
    else {
        panic!("another directive")
    };
    assert_eq!(expo["undo"]["previousUpdateId"], before);
    assert_eq!(
        (undo.created_at, embedded.commit_time),
        (manifest.created_at + 1, manifest.created_at + 2)
    );
    assert_eq!(
        (undo.launch_asset.key.as_str(), manifest.runtime_version.as_str()),
        ("before", "1.2.0")
    );
    assert!(
        manifest
            .files()
            .all(|asset| asset.is_at("https://cdn.example.com", "com.example.app"))
    );
    assert_eq!(
        (
            manifest.assets[0].key.as_str(),
            manifest.extra["expoClient"]["name"].as_str()
        ),
        ("4e3f", Some("App"))
    );
    assert!(
        server
            .seen()
            .iter()
            .all(|request| !String::from_utf8_lossy(&request.body).contains("PRIVATE KEY"))
    );
}
