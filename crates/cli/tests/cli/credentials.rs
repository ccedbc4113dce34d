//! `credential`: the file and its passwords go to the server and are never displayed.

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page};

const ID: &str = "credential_01kb0000000000000000000001";
const PASSWORD: &str = "hunter2-of-this-test";

/// A credential in the form of the API, with these fields replaced.
pub fn credential(changed: Value) -> Value {
    let mut credential = json!({
        "id": ID,
        "status": "active",
        "kind": "android_keystore",
        "name": "Upload key",
        "bundleId": null,
        "fingerprint": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "facts": {"alias": "upload", "keySize": 2048, "bundleIds": ["com.example.app", "com.example.other"]},
        "expiresAt": "2053-11-01T08:00:00.000Z",
        "createdBy": "user_01kb0000000000000000000001",
        "createdAt": "2026-11-01T08:00:00.000Z",
    });
    let fields = credential.as_object_mut().expect("an object");
    fields.extend(changed.as_object().expect("an object").clone());
    credential
}

fn added() -> Reply {
    Reply::new(201, credential(json!({})).to_string())
}

#[tokio::test]
async fn look_and_delete() {
    let service = json!({"kind": "google_service_account", "name": "Play", "bundleId": "com.example.app",
        "expiresAt": null, "facts": {}});
    let expired = json!({"status": "expired"});
    let server = FakeServer::start([
        Reply::new(200, page(&[credential(service), credential(expired)], 2, 0)),
        Reply::new(200, credential(json!({})).to_string()),
        Reply::new(200, json!({"id": ID, "status": "deleted"}).to_string()),
    ])
    .await;
    let stage = Stage::with(&server);
    let rows: [&[&str]; 4] = [
        &["credential", "list"],
        &["credential", "show", ID],
        &["credential", "delete", ID, "--yes"],
        &["credential", "delete", ID],
    ];
    let mut text = String::new();
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
    let asked = [
        "GET /api/credentials?limit=10&offset=0".to_owned(),
        format!("GET /api/credentials?id={ID}"),
        format!("DELETE /api/credentials?id={ID}"),
    ];
    assert_eq!(server.lines(), asked);
}

#[tokio::test]
async fn a_password_comes_from_a_pipe_or_a_variable() {
    let server = FakeServer::start((0..3).map(|_| added())).await;
    let mut stage = Stage::with(&server);
    stage
        .file("release.jks", b"a keystore")
        .file("AuthKey_2X9R4HXF34.p8", "a key");
    let named = [
        "credential",
        "add",
        "release.jks",
        "--name",
        "Upload key",
        "--alias",
        "upload",
    ];
    let mut text = stage.run_with(&named, &format!("{PASSWORD}\n")).await;
    stage
        .set("LAUNCHWAY_CREDENTIAL_PASSWORD", PASSWORD)
        .set("LAUNCHWAY_CREDENTIAL_KEY_PASSWORD", "of the key");
    text.push_str(
        &stage
            .run(&["credential", "add", "release.jks", "--bundle-id", "com.example.app"])
            .await,
    );
    let store = [
        "credential",
        "add",
        "AuthKey_2X9R4HXF34.p8",
        "--issuer-id",
        "issuer",
        "--json",
    ];
    assert_eq!(stage.json(&store).await["id"], ID);
    assert!(!text.contains(PASSWORD), "{text}");
    assert_snapshot!(text);
    let sent: Vec<Value> = server.seen().iter().map(|seen| seen.json()).collect();
    // Base64 of the files.
    let (keystore, key) = ("YSBrZXlzdG9yZQ==", "YSBrZXk=");
    let first = json!({"kind": "android_keystore", "name": "Upload key", "content": keystore, "password": PASSWORD,
        "alias": "upload"});
    let second = json!({"kind": "android_keystore", "content": keystore, "password": PASSWORD,
        "keyPassword": "of the key", "bundleId": "com.example.app"});
    let third = json!({"kind": "app_store_connect_key", "content": key, "keyId": "2X9R4HXF34", "issuerId": "issuer"});
    assert_eq!(sent, [first, second, third]);
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../credentials/tests/fixtures");
    std::fs::read(folder.join(name)).expect("a fixture")
}

#[tokio::test]
async fn a_file_is_what_is_in_it_whatever_its_name() {
    let server = FakeServer::start((0..3).map(|_| added())).await;
    let mut stage = Stage::with(&server);
    stage
        .file("release.p12", fixture("keytool17.p12"))
        .file("certificate.keystore", fixture("distribution.p12"));
    stage.set("LAUNCHWAY_CREDENTIAL_PASSWORD", "store-secret");
    for (arguments, kind) in [
        (&["release.p12"][..], "android_keystore"),
        (&["certificate.keystore"], "apple_certificate"),
        (&["release.p12", "--kind", "apple_certificate"], "apple_certificate"),
    ] {
        stage.run(&[&["credential", "add"], arguments].concat()).await;
        let sent = server.seen().pop().expect("a request").json();
        assert_eq!(sent["kind"], kind, "{arguments:?}");
    }
    stage.set("LAUNCHWAY_CREDENTIAL_PASSWORD", "another");
    let said = stage.run(&["credential", "add", "release.p12"]).await;
    assert!(
        said.contains("the password is wrong") && said.contains("--kind android_keystore"),
        "{said}"
    );
    assert_eq!(server.seen().len(), 3, "nothing is sent that nobody can open");
}

#[tokio::test]
async fn an_android_keystore_is_made_and_added() {
    let server = FakeServer::start([added()]).await;
    let mut stage = Stage::with(&server);
    stage.set("LAUNCHWAY_CREDENTIAL_PASSWORD", PASSWORD);
    let create = ["credential", "create", "android-keystore"];
    let more = [
        "new.p12",
        "--alias",
        "release",
        "--common-name",
        "Example, Inc.",
        "--add",
        "--json",
    ];
    let made = stage.json(&[&create[..], &more].concat()).await;
    assert_eq!((&made["file"], &made["alias"]), (&json!("new.p12"), &json!("release")));
    assert_eq!(made["subject"], r"CN=Example\, Inc.");
    let path = stage.project().join("new.p12");
    let file = std::fs::read(&path).expect("the file");
    let sent = server.seen()[0].json();
    assert_eq!(
        (&sent["kind"], &sent["password"]),
        (&json!("android_keystore"), &json!(PASSWORD))
    );
    assert_eq!(
        BASE64_STANDARD
            .decode(sent["content"].as_str().expect("text"))
            .expect("Base64"),
        file
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            std::fs::metadata(&path).expect("the file").permissions().mode() & 0o777,
            0o600
        );
    }
    let again = stage.run(&[&create[..], &["new.p12"]].concat()).await;
    assert!(
        again.contains("new.p12 exists already") && again.ends_with("--- exit 2\n"),
        "{again}"
    );
    assert_eq!(std::fs::read(&path).expect("the file"), file);
    stage.set("LAUNCHWAY_CREDENTIAL_PASSWORD", "short");
    let short = stage.run(&create).await;
    assert!(
        short.contains("the password must have at least 6 characters"),
        "{short}"
    );
    assert!(!stage.project().join("upload-keystore.p12").exists());
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let server = FakeServer::start([Reply::error(
        400,
        "Bad Request",
        "The password does not open the keystore",
    )])
    .await;
    let stage = Stage::with(&server);
    stage
        .file("release.jks", "a keystore")
        .file("empty.p8", "")
        .file("secret", "what?");
    let mut text = stage.run_with(&["credential", "add", "release.jks"], PASSWORD).await;
    let rows: [&[&str]; 4] = [
        &["credential", "add", "missing.jks"],
        &["credential", "add", "empty.p8"],
        &["credential", "add", "secret"],
        &["credential", "add", "release.jks", "--kind", "keystore"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
    assert_eq!(server.seen().len(), 1);
}
