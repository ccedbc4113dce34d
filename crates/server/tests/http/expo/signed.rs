//! Updates of Expo that their developers sign: Expo's own certificates verify what is served, and the server signs nothing.

use std::cell::RefCell;
use std::io::{Cursor, Read};

use launchway_domain::platform::Platform;
use launchway_domain::release::RuntimeVersion;
use launchway_domain::time::EpochMs;
use launchway_foreign::expo::{Asset, Export, Manifest, Part, Previous, SignedRelease};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::phone::{Expo, Phone};
use super::{Day, export};
use crate::apps::transfer;
use crate::foreign_updates::publish;
use crate::stage::BUNDLE;
use crate::support::{Answer, Fields, Says, TestApp, with};

/// The manifest of an export, as its developer writes it.
fn manifest(day: &Day, zip: &[u8], number: u128, created_at: EpochMs) -> Manifest {
    let mut archive = zip::ZipArchive::new(Cursor::new(zip)).unwrap();
    let mut read = |path: &str| {
        let mut bytes = Vec::new();
        archive.by_name(path).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    };
    let listed = Export::parse(&read("metadata.json"), Platform::Android).unwrap();
    let config: Value = serde_json::from_slice(&read("expoConfig.json")).unwrap();
    let mut asset = |path: &str, key: &str, extension: &str| {
        let sha256 = Sha256::digest(read(path)).into();
        Asset::new(key, extension, sha256, &day.app.origin, BUNDLE)
    };
    Manifest {
        id: Uuid::from_u128(number),
        created_at,
        runtime_version: RuntimeVersion::parse("1.0.0").unwrap(),
        launch_asset: asset(&listed.bundle, "script", "bundle"),
        assets: listed.assets.iter().map(|file| asset(&file.path, file.key(), &file.extension)).collect(),
        metadata: [("configuration".to_owned(), "production".to_owned())].into(),
        extra: json!({"expoClient": config}).as_object().unwrap().clone(),
    }
}

/// A developer of the app.
struct Developer<'e> {
    expo: RefCell<&'e mut Expo>,
    key: String,
}

impl Developer<'_> {
    fn sign(&self, manifest: &Manifest, previous: Option<Previous<'_>>) -> SignedRelease {
        let sign = |bytes: &[u8]| Ok::<_, String>(self.expo.borrow_mut().sign(&self.key, bytes));
        SignedRelease::sign(manifest, previous, "main", sign).unwrap()
    }

    /// What is sent for a release.
    fn expo(release: &SignedRelease, previous: Option<&Value>) -> Value {
        let mut undo = json!({"embedded": text(&release.embedded)});
        if let (Some(part), Some(update)) = (&release.previous, previous) {
            undo["previous"] = text(part);
            undo["previousUpdateId"] = update["id"].clone();
        }
        json!({"part": text(&release.manifest), "undo": undo})
    }
}

fn text(part: &Part) -> Value {
    let signature = part.signature.as_ref().unwrap().header();
    json!({"body": String::from_utf8(part.body.clone()).unwrap(), "signature": signature})
}

async fn send(day: &Day, zip: &[u8], expo: Value) -> Answer {
    let own = json!({"format": "expo", "runtimeVersion": "1.0.0", "configuration": "production", "expo": expo});
    publish(&day.app, &day.key, zip, own).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_developers_sign_is_served_as_it_is() {
    let mut expo = Expo::install();
    for app in TestApp::on_both().await {
        signed_releases(&Day::new(app).await, &mut expo).await;
    }
}

async fn signed_releases(day: &Day, expo: &mut Expo) {
    let (key, certificate) = expo.keys();
    let (_, other_certificate) = expo.keys();
    let phone = |device: &str| day.phone(device).verifying(&certificate, "main");
    day.release("unsigned", json!({})).await;
    assert_eq!(phone("device-1").sync(expo), "nothing", "a client that verifies is not sent what it would refuse");

    // One release after the other, each with its undo.
    let developer = Developer { expo: RefCell::new(expo), key };
    let (zips, now) = (["one", "two", "three"].map(|name| export(name, 3)), day.app.app.clock.now());
    let manifests: Vec<_> =
        zips.iter().zip(1..).map(|(zip, number)| manifest(day, zip, number, now + number as i64 * 1000)).collect();
    let mut updates: Vec<Value> = Vec::new();
    for (number, zip) in zips.iter().enumerate() {
        let before = number
            .checked_sub(1)
            .map(|before| Previous { manifest: &manifests[before], id: Uuid::from_u128(100 + number as u128) });
        let release = developer.sign(&manifests[number], before);
        let sent = Developer::expo(&release, updates.last());
        updates.push(send(day, zip, sent).await.created());
    }
    let expo = developer.expo.into_inner();
    let mut holder = phone("device-1");
    assert_eq!(holder.sync(expo), "three");
    let answer = phone("device-2").check(expo);
    assert_eq!(answer["parts"]["manifest"]["text"].as_str().unwrap().as_bytes(), manifests[2].to_json());
    assert_eq!(day.phone("device-2").verifying(&other_certificate, "main").sync(expo), "a manifest that is not signed");
    assert_eq!(day.phone("device-2").verifying(&certificate, "other").sync(expo), "nothing");
    assert_eq!(day.phone("device-2").sync(expo), "three", "a client that does not verify takes it, too");

    undo(day, expo, &updates, holder, phone("device-3")).await;
}

/// The undo is served on a withdrawal, and never on a pause.
async fn undo(day: &Day, expo: &mut Expo, updates: &[Value], mut holder: Phone, mut fresh: Phone) {
    day.change(&updates[2], json!({"status": "paused"})).await;
    assert_eq!(holder.sync(expo), "nothing");
    assert_eq!(fresh.sync(expo), "two");
    day.change(&updates[2], json!({"status": "withdrawn"})).await;
    assert_eq!(holder.sync(expo), "two");
    assert_eq!(holder.running(), Uuid::from_u128(102).to_string());
    assert_eq!(holder.sync(expo), "nothing");
    assert_eq!(fresh.sync(expo), "nothing", "it never had what was withdrawn");
    // What the undo leads to is withdrawn, too: only the built-in content is later.
    day.change(&updates[1], json!({"status": "withdrawn"})).await;
    assert_eq!(holder.sync(expo), "built-in");
    assert_eq!(holder.sync(expo), "one, which is not later");
    assert_eq!(fresh.sync(expo), "one");
    assert_eq!(fresh.running(), Uuid::from_u128(101).to_string());
}

/// An undo is sealed for an organization. Whoever gets the app can withdraw the update, and its devices leave it.
#[tokio::test]
async fn the_undo_of_a_moved_app_is_served() {
    let app = TestApp::start().await;
    let (source, key) = app.org_with_key().await;
    let (target, theirs) = app.org_with_key().await;
    let day = Day { app, key };
    let (zip, now) = (export("one", 3), day.app.app.clock.now());
    let manifest = manifest(&day, &zip, 1, now);
    let sign = |_: &[u8]| Ok::<_, String>(vec![1; 256]);
    let release = SignedRelease::sign(&manifest, None, "main", sign).unwrap();
    let update = send(&day, &zip, Developer::expo(&release, None)).await.created();
    let id = update.id().parse().unwrap();
    let sealed = async |org| {
        let mut tx = day.app.app.db.read().await.unwrap();
        tx.org(org).signed_part(id).await.unwrap().unwrap().1.unwrap()
    };
    let before = sealed(source).await;
    transfer(&day.app, target).await;
    assert_ne!(sealed(target).await, before);

    let path = format!("/update?id={}", update.id());
    day.app.patch(&theirs, &path, json!({"status": "withdrawn"})).await.ok();
    let asked = day
        .app
        .request(Method::GET, &format!("{}/expo/{BUNDLE}", day.app.origin))
        .header("expo-platform", "android")
        .header("expo-protocol-version", "1")
        .header("expo-runtime-version", "1.0.0")
        .header("expo-channel-name", "production")
        .header("expo-current-update-id", manifest.id.to_string());
    let answer = Answer::to(asked).await;
    answer.is(200);
    answer.says(str::from_utf8(&release.embedded.body).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_could_not_take_is_refused() {
    let mut expo = Expo::install();
    let day = Day::new(TestApp::start().await).await;
    let (key, _) = expo.keys();
    let developer = Developer { expo: RefCell::new(&mut expo), key };
    let (zip, now) = (export("one", 3), day.app.app.clock.now());
    let good = manifest(&day, &zip, 1, now);
    let signed = |manifest: &Manifest| Developer::expo(&developer.sign(manifest, None), None);
    let at = |created_at| signed(&Manifest { created_at, ..good.clone() });
    let elsewhere = String::from_utf8(good.to_json()).unwrap().replace(&day.app.origin, "https://cdn.example.com");
    let elsewhere = Manifest::parse(elsewhere.as_bytes()).unwrap();
    let other_files = manifest(&day, &export("two", 3), 1, now);
    let other_runtime = Manifest { runtime_version: RuntimeVersion::parse("2.0.0").unwrap(), ..good.clone() };
    let patched = |patch: Value| with(signed(&good), &patch);
    let origin = day.app.origin.clone();
    for (sent, message) in [
        (at(now + 301_000), "expo.part must be created at most 5 minutes ahead of the server's clock".to_owned()),
        (
            signed(&elsewhere),
            format!(
                "expo.part names a file at another address than {origin}/expo/BUNDLE/assets/SHA256, where this server serves it"
            ),
        ),
        (signed(&other_files), "expo.part names a file that is not in the package, or another script".to_owned()),
        (signed(&other_runtime), "expo.part has another runtimeVersion than the request".to_owned()),
        (
            patched(json!({"undo": null})),
            "expo.undo is required: without it, devices cannot leave the update once it is withdrawn".to_owned(),
        ),
        (
            patched(json!({"undo": at(now + 1)["undo"]})),
            "expo.undo must be created right after the update: previous one millisecond later, embedded two".to_owned(),
        ),
        (
            patched(json!({"part": {"body": "{}", "signature": signed(&good)["part"]["signature"]}})),
            "expo.part is not a manifest of Expo Updates: missing field `id` at line 1 column 2".to_owned(),
        ),
        (
            patched(json!({"part": {"body": signed(&good)["part"]["body"], "signature": "sig=1"}})),
            "expo.part.signature must be an expo-signature header with sig, keyid and alg=\"rsa-v1_5-sha256\""
                .to_owned(),
        ),
        (
            patched(json!({"certificateChain": "--launchway-part"})),
            "expo.certificateChain must be certificates in PEM, of at most 16 KiB".to_owned(),
        ),
    ] {
        send(&day, &zip, sent).await.refused(400, &message);
    }
    send(&day, &zip, signed(&good)).await.created();
    let again = send(&day, &zip, signed(&Manifest { id: Uuid::from_u128(2), ..good.clone() })).await;
    assert!(again.text().contains("must be created more than 2 ms after the newest update"), "{}", again.text());
    let same_id = send(&day, &zip, at(now + 1000)).await;
    let id = good.id;
    same_id.refused(400, &format!("expo: another update of this app and platform already has the id {id}"));
}

#[tokio::test]
async fn what_was_signed_says_its_id_and_time() {
    let day = Day::new(TestApp::start().await).await;
    let (zip, now) = (export("one", 3), day.app.app.clock.now());
    let sign = |_: &[u8]| Ok::<_, String>(vec![1; 256]);
    let release = SignedRelease::sign(&manifest(&day, &zip, 1, now), None, "main", sign).unwrap();
    let twice =
        "What was signed for clients of Expo has its time, and a manifest also its id. Leave these out of foreignIds.";
    let named = json!({"protocol": "expo", "id": Uuid::from_u128(9).to_string()});
    let fields = json!({"format": "expo", "expo": Developer::expo(&release, None), "foreignIds": [named]});
    publish(&day.app, &day.key, &zip, fields).await.refused(400, twice);
    // A directive has a time, and no id.
    let back = async |named: &Value| {
        let body = json!({"kind": "embedded", "bundleId": BUNDLE, "platform": "android", "version": "1.0.9",
                          "runtimeVersion": "1.0.0", "expo": {"part": text(&release.embedded)}, "foreignIds": [named]});
        day.app.post(&day.key, "/update", body).await
    };
    back(&with(named.clone(), &json!({"createdAt": "2024-01-01T10:00:00.000Z"}))).await.refused(400, twice);
    let made = back(&named).await.created();
    assert_eq!(day.read(&made).await["foreignIds"], json!([named]));
}
