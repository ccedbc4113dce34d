//! Updates for clients of other services: what may be published, how they are named and ordered, and deployment keys
//! (`docs/reference/foreign-clients.md#publishing`).

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Tier;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::stage::BUNDLE;
use crate::support::{Answer, Fields, TestApp, package, with};

/// Publishes a package with these fields over the defaults.
pub async fn publish(app: &TestApp, key: &str, zip: &[u8], fields: Value) -> Answer {
    let upload = app.upload(key, zip).await;
    let body = json!({"uploadId": upload, "bundleId": BUNDLE, "platform": "android", "version": "1.0.1"});
    app.post(key, "/update", with(body, &fields)).await
}

/// Publishes a package of CodePush.
pub async fn codepush(app: &TestApp, key: &str, script: &str, fields: Value) -> Value {
    let zip = package("CodePush/main.jsbundle", script.as_bytes());
    publish(app, key, &zip, with(json!({"format": "codepush"}), &fields)).await.created()
}

/// Publishes a bundle of hot-updater with this id.
async fn hot_updater(app: &TestApp, key: &str, id: &str) -> Answer {
    hot_updater_bundle(app, key, id, json!({})).await
}

/// Publishes a bundle of hot-updater with this id, and these fields over the defaults.
pub async fn hot_updater_bundle(app: &TestApp, key: &str, id: &str, fields: Value) -> Answer {
    let manifest = json!({"bundleId": id, "assets": {}}).to_string();
    let zip = package("manifest.json", manifest.as_bytes());
    publish(app, key, &zip, with(json!({"format": "hot-updater"}), &fields)).await
}

/// The ids of an update, as `protocol id`.
async fn ids(app: &TestApp, key: &str, update: &Value) -> Vec<String> {
    let read = app.get(key, &format!("/update?id={}", update.id())).await.ok();
    let text = |id: &Value| format!("{} {}", id.text("protocol"), id.text("id"));
    read["foreignIds"].as_array().unwrap().iter().map(text).collect()
}

#[tokio::test]
async fn a_codepush_package_is_named_by_label_and_hash() {
    for app in TestApp::on_both().await {
        let (_, key) = app.org_with_key().await;
        let first = codepush(&app, &key, "one", json!({"configuration": "production"})).await;
        assert_eq!((&first["format"], &first["sequence"]), (&json!("codepush"), &json!(1)));
        let hash = format!("production/{}", hash_of("one"));
        assert_eq!(ids(&app, &key, &first).await, [format!("codepush {hash}"), "codepush production/v1".to_owned()]);
        // The same content again: the hash names the newer release.
        let again = json!({"sourceUpdateId": first.id(), "bundleId": BUNDLE, "platform": "android", "version": "1.0.2",
                           "configuration": "production", "binaryRange": "^1.0.0"});
        let second = app.post(&key, "/update", again).await.created();
        assert_eq!(ids(&app, &key, &first).await, ["codepush production/v1"]);
        assert_eq!(ids(&app, &key, &second).await, [format!("codepush {hash}"), "codepush production/v2".to_owned()]);
        assert_eq!((&second["format"], &second["binaryRange"]), (&json!("codepush"), &json!("^1.0.0")));
        let found = app.get(&key, "/update?protocol=codepush&foreignId=production/v1").await.ok();
        assert_eq!((&found["total"], &found["items"][0]["id"]), (&json!(1), &first["id"]));
    }
}

/// CodePush's hash of a package whose only file is a script with this content.
fn hash_of(script: &str) -> String {
    let entry = format!("CodePush/main.jsbundle:{}", hex::encode(Sha256::digest(script)));
    hex::encode(Sha256::digest(json!([entry]).to_string()))
}

#[tokio::test]
async fn labels_that_the_server_chooses_are_above_given_ones() {
    let (app, key) = TestApp::with_key().await;
    let label = |id: &str| json!([{"protocol": "codepush", "id": id}]);
    let given = codepush(&app, &key, "a", json!({"foreignIds": label("v57")})).await;
    assert_eq!(given["sequence"], 57);
    let next = codepush(&app, &key, "b", json!({})).await;
    assert_eq!(next["sequence"], 58);
    assert!(ids(&app, &key, &next).await.contains(&"codepush /v58".to_owned()));
    let zip = package("CodePush/main.jsbundle", b"c");
    let again = publish(&app, &key, &zip, json!({"format": "codepush", "foreignIds": label("v57")})).await;
    again.refused(400, "foreignIds: another update of this app and platform already has the codepush id `v57`");
}

#[tokio::test]
async fn our_own_check_offers_none_of_them() {
    let (app, key) = TestApp::with_key().await;
    let ours = app.published(&key, json!({"version": "1.0.0"})).await;
    codepush(&app, &key, "a", json!({"version": "1.0.1"})).await;
    let capgo = json!([{"protocol": "capgo"}]);
    app.published(&key, json!({"version": "1.0.2", "binaryRange": "*", "foreignIds": capgo})).await;
    let back = json!({"kind": "embedded", "bundleId": BUNDLE, "platform": "android", "version": "1.0.3"});
    let back = app.post(&key, "/update", back).await.created();
    assert_eq!((&back["kind"], &back["sequence"], &back["size"]), (&json!("embedded"), &json!(4), &json!(0)));
    let offered = app.checked(BUNDLE, "currentVersion=0.9.0&platform=android&deviceId=d").await;
    assert_eq!(offered["id"], ours["id"]);
    // They are paused, withdrawn and deleted as any other.
    let path = format!("/update?id={}", back.id());
    assert_eq!(app.patch(&key, &path, json!({"status": "paused"})).await.ok()["status"], "paused");
    assert_eq!(app.get(&key, "/update?status=paused").await.ok()["total"], 1);
    assert_eq!(app.patch(&key, &path, json!({"status": "withdrawn"})).await.ok()["status"], "withdrawn");
    app.delete(&key, &path).await.ok();
}

#[tokio::test]
async fn an_archive_is_for_capgo_if_it_says_so() {
    let (app, key) = TestApp::with_key().await;
    let capgo = json!([{"protocol": "capgo"}]);
    let first = app.published(&key, json!({"foreignIds": capgo})).await;
    assert_eq!(ids(&app, &key, &first).await, ["capgo 1.0.1"]);
    let second = app.published(&key, json!({"foreignIds": capgo})).await;
    assert_eq!(ids(&app, &key, &second).await, ["capgo 1.0.1+2"]);
    let plain = app.published(&key, json!({})).await;
    assert_eq!(ids(&app, &key, &plain).await, [""; 0]);
    // The same bytes again are for the same clients, under a new name, unless the request says otherwise.
    let again = json!({"sourceUpdateId": first.id(), "bundleId": BUNDLE, "platform": "android", "version": "1.0.1"});
    let reissued = app.post(&key, "/update", again.clone()).await.created();
    assert_eq!(ids(&app, &key, &reissued).await, ["capgo 1.0.1+4"]);
    let ours = app.post(&key, "/update", with(again, &json!({"foreignIds": []}))).await.created();
    assert_eq!(ids(&app, &key, &ours).await, [""; 0]);
}

#[tokio::test]
async fn a_bundle_of_hot_updater_is_published_once_and_in_order() {
    let (app, key) = TestApp::with_key().await;
    let id = |last: u8| format!("0190a8c6-0000-7000-8000-0000000000{last:02}");
    let first = hot_updater(&app, &key, &id(5)).await.created();
    assert_eq!(ids(&app, &key, &first).await, [format!("hot-updater {}", id(5))]);
    for late in [5, 4] {
        hot_updater(&app, &key, &id(late)).await.refused(
            400,
            &format!(
                "The bundle {} is not newer than one that was published before. Build the bundle again.",
                id(late)
            ),
        );
    }
    hot_updater(&app, &key, &id(6)).await.created();
    let again = json!({"sourceUpdateId": first.id(), "bundleId": BUNDLE, "platform": "android", "version": "1.0.9"});
    app.post(&key, "/update", again).await.refused(
        400,
        "The id of a hot-updater bundle is inside its archive, so it can be published once. Build the bundle again.",
    );
    let zip = package("index.html", b"no bundle");
    publish(&app, &key, &zip, json!({"format": "hot-updater"})).await.refused(
        400,
        "The package has no manifest.json with a bundleId at its root. Publish the archive that hot-updater's own build plugin made.",
    );
    let other = json!({"fileHash": "ab".repeat(32)});
    hot_updater_bundle(&app, &key, &id(7), other).await.refused(
        400,
        "fileHash is the SHA-256 of another package. Leave it out, or give the signature that hot-updater made.",
    );
}

#[tokio::test]
async fn what_no_client_could_use_is_refused() {
    let (app, key) = TestApp::with_key().await;
    for (fields, message) in [
        (json!({"format": "zip"}), "format must be archive, expo, codepush or hot-updater"),
        (json!({"kind": "other"}), "kind must be update or embedded"),
        (
            json!({"kind": "embedded", "uploadId": "x"}),
            "An update of kind embedded has no package. Leave out uploadId, sourceUpdateId, format, and foreignIds except that of expo.",
        ),
        (
            json!({"uploadId": "x", "format": "codepush", "runtimeVersion": "1"}),
            "runtimeVersion is only for updates of format expo",
        ),
        (
            json!({"uploadId": "x", "format": "archive", "binaryRange": "^1.0.0"}),
            "Our own check offers no update with a binaryRange. Use fingerprint, or add capgo to foreignIds if Capgo's client installs it.",
        ),
        (
            json!({"uploadId": "x", "format": "codepush", "binaryRange": "one"}),
            "binaryRange must be a range of versions such as `^1.2.0` or `>=1.0.0 <2.0.0`, of at most 256 characters",
        ),
        (
            json!({"uploadId": "x", "format": "codepush", "foreignIds": [{"protocol": "capgo"}]}),
            "foreignIds names codepush only for updates of format codepush, capgo only for format archive, and expo only for format expo and kind embedded",
        ),
        (
            json!({"uploadId": "x", "format": "codepush", "fileHash": "sig:AAAA"}),
            "fileHash is only for updates of format hot-updater",
        ),
        (
            json!({"uploadId": "x", "format": "hot-updater", "fileHash": "sig:"}),
            "fileHash must be a SHA-256 as 64 hexadecimal digits, or `sig:` and a signature in base64 of at most 1024 bytes",
        ),
        (
            json!({"uploadId": "x", "format": "archive", "foreignIds": [{"protocol": "capgo", "id": "a b"}]}),
            "foreignIds: id must be 1 to 200 visible ASCII characters",
        ),
        (
            json!({"uploadId": "x", "format": "archive", "foreignIds": [{"protocol": "capgo"}, {"protocol": "capgo"}]}),
            "foreignIds must name each protocol at most once",
        ),
        (
            json!({"uploadId": "x", "format": "archive", "foreignIds": [{"protocol": "capgo", "createdAt": "2026-11-20T10:00:00.000Z"}]}),
            "foreignIds: createdAt is only for expo",
        ),
        (
            json!({"kind": "embedded", "foreignIds": [{"protocol": "capgo", "id": "1.0.0"}]}),
            "An update of kind embedded has no package. Leave out uploadId, sourceUpdateId, format, and foreignIds except that of expo.",
        ),
    ] {
        let body = json!({"bundleId": BUNDLE, "platform": "android", "version": "1.0.1"});
        app.post(&key, "/update", with(body, &fields)).await.refused(400, message);
    }
}

#[tokio::test]
async fn deployment_keys_are_given_or_made() {
    let (app, org, key) = TestApp::with_org().await;
    let body = json!({"bundleId": BUNDLE, "platform": "ios", "configuration": "production"});
    let made = app.post(&key, "/deployment-keys", body.clone()).await.created();
    assert_eq!((&made["platform"], &made["configuration"]), (&json!("ios"), &json!("production")));
    assert_eq!(made.text("key").len(), 43);
    let given = with(body, &json!({"key": "abcdefghij_-KEY", "configuration": null}));
    app.advance(1);
    let kept = app.post(&key, "/deployment-keys", given.clone()).await.created();
    assert_eq!((&kept["key"], &kept["configuration"]), (&json!("abcdefghij_-KEY"), &Value::Null));
    app.post(&key, "/deployment-keys", given)
        .await
        .refused(400, &format!("The app {BUNDLE} already has this deployment key"));
    let short = json!({"bundleId": BUNDLE, "platform": "ios", "key": "short"});
    app.post(&key, "/deployment-keys", short).await.refused(400, "key must be 10 to 100 letters, digits, `-` and `_`");
    let listed = app.get(&key, &format!("/deployment-keys?bundleId={BUNDLE}")).await.ok();
    assert_eq!(listed["items"], json!([kept, made]));
    assert_eq!(app.get(&key, &format!("/deployment-keys?id={}", made.id())).await.ok(), made);
    app.delete(&key, &format!("/deployment-keys?id={}", made.id())).await.ok();
    app.delete(&key, &format!("/deployment-keys?id={}", made.id())).await.is(404);
    let actions: Vec<_> = app.audit(org).await.into_iter().map(|line| line.action).collect();
    assert_eq!(
        actions[actions.len() - 3..],
        ["deployment_key.create", "deployment_key.create", "deployment_key.delete"]
    );
}

#[tokio::test]
async fn a_key_of_an_app_of_others_cannot_be_made() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({})).await;
    let other = app.org(Tier::Enterprise).await;
    let stranger = app.key(other, &[Scope::Update]).await;
    let body = json!({"bundleId": BUNDLE, "platform": "android", "key": "abcdefghij"});
    app.post(&stranger, "/deployment-keys", body).await.is(403);
}
