//! `POST /update` of an app with a root: signed at once, or waiting for signatures.

use launchway_blob::Key;
use launchway_developers::{new_key, role_of};
use launchway_domain::app::Package;
use launchway_domain::release::Format;
use launchway_domain::time::HOUR;
use launchway_domain::update::Update;
use launchway_store::NewUpdate;
use serde_json::{Value, json};

use super::{Scene, page};
use crate::stage::BUNDLE;
use crate::support::{Answer, Fields, NOBODY, START, with};

#[tokio::test]
async fn a_signed_update_is_published_with_its_metadata() {
    let mut scene = Scene::new().await;
    let before = scene.trust().await;
    let update = scene.publish_signed(1, "one").await.created();
    assert_eq!((&update["status"], &update["trustRole"]), (&json!("published"), &json!("c-production")));
    assert_eq!(update.text("manifest").len(), 64);
    assert_eq!(scene.offered().await, update["id"]);
    assert_eq!(scene.version("c-production").await, 2);
    let after = scene.trust().await;
    assert!(after["snapshot"].as_u64() > before["snapshot"].as_u64());
    assert_eq!(after["roles"][4]["targets"], 1);
    assert_eq!(scene.events().await, ["trust.changed", "update.published"], "publishing is no change of trust");
    assert!(scene.actions().await.ends_with(&["update.publish".to_owned()]));
}

#[tokio::test]
async fn without_signatures_an_update_waits() {
    let mut scene = Scene::new().await;
    let update = scene.publish_unsigned(1, "one").await.created();
    assert_eq!((&update["status"], &update["trustRole"]), (&json!("awaiting_signature"), &json!("c-production")));
    assert_eq!(scene.offered().await, Value::Null);
    let query = "currentVersion=1.0.0&platform=android&configuration=production";
    assert_eq!(scene.stage.checked(BUNDLE, query).await["message"], "No updates found for this bundle");
    let list = scene.stage.get(&scene.stage.key, "/update?status=awaiting_signature").await.ok();
    assert_eq!((&list["total"], &list["items"][0]["id"]), (&json!(1), &update["id"]));
    let path = format!("/update?id={}", update.id());
    for change in [json!({"status": "published"}), json!({"rollout": 5}), json!({"status": "withdrawn"})] {
        let message = scene.stage.patch(&scene.stage.key, &path, change).await.refusal(400);
        assert!(message.starts_with("An update that awaits its signature cannot be changed"), "{message}");
    }
    let draft = scene.draft().await;
    assert_eq!((&draft["updateIds"], &draft["version"]), (&json!([update["id"]]), &json!(2)));
    assert_eq!((&draft["threshold"], &draft["keys"][0]["signed"]), (&json!(1), &json!(false)));
    // The signature publishes it, and its ramp begins then.
    scene.stage.advance(HOUR);
    let body = scene.signatures().await;
    let change = scene.stage.post(&scene.stage.key, "/trust/signatures", body).await.created();
    assert_eq!(change["publishedUpdateIds"], json!([update["id"]]));
    assert_eq!((&change["accepted"], &change["drafts"]), (&json!(["c-production"]), &json!([])));
    assert_eq!((scene.status(&update).await, scene.offered().await), (json!("published"), update["id"].clone()));
    let told = ["trust.changed", "trust.changed", "update.awaiting_signature", "update.published"];
    assert_eq!(scene.events().await, told);
    let actions = scene.actions().await;
    for action in ["update.await", "trust.sign", "update.release", "trust.change"] {
        assert!(actions.iter().any(|line| line == action), "{action} in {actions:?}");
    }
}

#[tokio::test]
async fn who_is_slower_is_told_the_version_to_fetch() {
    let mut scene = Scene::new().await;
    let content = scene.developers.signers(&role_of("production")).content.clone();
    let first = scene.publication(1, "one").await;
    let signers = scene.developers.signers(&role_of("production"));
    (signers.version, signers.content) = (1, content);
    let second = scene.publication(2, "two").await;
    let post = |body: Value| scene.stage.post(&scene.stage.key, "/update", body);
    let answers = tokio::join!(post(first), post(second));
    let (won, lost) = if answers.0.status == 201 { (answers.0, answers.1) } else { (answers.1, answers.0) };
    won.created();
    let message = lost.refusal(400);
    assert_eq!(
        message,
        "`c-production` has version 2, but version 2 is in use. Fetch version 2 and sign a higher one."
    );
    let all = scene.stage.get(&scene.stage.key, "/update").await.ok();
    assert_eq!(all["total"], 1, "nothing of the slower one is there");
    assert_eq!(scene.version("c-production").await, 2);
}

#[tokio::test]
async fn a_version_in_use_is_refused_before_the_inspection() {
    let mut scene = Scene::new().await;
    let content = scene.developers.signers(&role_of("production")).content.clone();
    scene.publish_signed(1, "one").await.created();
    let signers = scene.developers.signers(&role_of("production"));
    (signers.version, signers.content) = (1, content);
    let late = scene.publication(2, "two").await;
    let held = scene.stage.all_places(scene.stage.org).await;
    let message = scene.stage.post(&scene.stage.key, "/update", late.clone()).await.refusal(400);
    assert!(message.starts_with("`c-production` has version 2, but version 2 is in use"), "{message}");
    drop(held);
    // The upload is not used: the next version publishes it.
    let body = scene.publication(2, "two").await;
    let body = with(body, &json!({"uploadId": late["uploadId"]}));
    scene.stage.post(&scene.stage.key, "/update", body).await.created();
}

#[tokio::test]
async fn what_is_signed_must_be_what_is_published() {
    let mut scene = Scene::new().await;
    let good = scene.publication(7, "one").await;
    let other = scene.stage.upload(&scene.stage.key, &page("other")).await;
    let of_staging = with(good.clone(), &json!({"configuration": "staging"}));
    let mut of_everybody = good.clone();
    of_everybody.as_object_mut().unwrap().remove("configuration");
    let mut renamed = good.clone();
    renamed["signed"]["role"] = "c-staging".into();
    let mut unnumbered = good.clone();
    unnumbered["buildNumber"] = "auto".into();
    let rows = [
        (with(good.clone(), &json!({"uploadId": other})), "whose package, length or fingerprint differs"),
        (with(good.clone(), &json!({"version": "1.0.2"})), "does not list `c-production/android/1.0.2_7.zip`"),
        (with(good.clone(), &json!({"buildNumber": 8})), "does not list `c-production/android/1.0.1_8.zip`"),
        (with(good.clone(), &json!({"platform": "ios"})), "does not list `c-production/ios/1.0.1_7.zip`"),
        (with(good.clone(), &json!({"fingerprint": "abc"})), "whose package, length or fingerprint differs"),
        (of_staging, "no key signs for `c-staging`"),
        (of_everybody, "no key signs for `any`"),
        (renamed, "signed.role must be `c-production`"),
        (unnumbered, "buildNumber must be a number"),
    ];
    for (body, part) in rows {
        let message = scene.stage.post(&scene.stage.key, "/update", body).await.refusal(400);
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
    let plain = json!({"bundleId": "com.example.plain"});
    let message = scene.stage.post(&scene.stage.key, "/update", with(good.clone(), &plain)).await.refusal(400);
    assert!(message.starts_with("This app has no root, so its updates are not signed"), "{message}");
    assert_eq!(scene.version("c-production").await, 1);
    scene.stage.post(&scene.stage.key, "/update", good).await.created();
}

#[tokio::test]
async fn an_update_adds_nothing_but_itself_to_its_role() {
    let mut scene = Scene::new().await;
    let waiting = scene.publish_unsigned(1, "one").await.created();
    // A file that also lists the update that waits is more than one publication.
    let draft = scene.draft().await;
    scene.developers.sign_draft(&role_of("production"), draft.text("metadata"));
    scene.developers.signers(&role_of("production")).version -= 1;
    let body = scene.publication(2, "two").await;
    let message = scene.stage.post(&scene.stage.key, "/update", body).await.refusal(400);
    assert!(message.contains("adds or changes `c-production/android/1.0.1_1.zip`"), "{message}");
    assert_eq!(scene.status(&waiting).await, "awaiting_signature");
}

#[tokio::test]
async fn the_bytes_of_an_update_are_signed_again() {
    let mut scene = Scene::new().await;
    let source = scene.publish_signed(1, "one").await.created();
    let again = json!({
        "sourceUpdateId": source["id"], "bundleId": BUNDLE, "platform": "android", "version": "1.0.1",
        "buildNumber": 2, "configuration": "production",
    });
    let waiting = scene.stage.post(&scene.stage.key, "/update", again).await.created();
    assert_eq!((&waiting["status"], &waiting["manifest"]), (&json!("awaiting_signature"), &source["manifest"]));
    let body = scene.signatures().await;
    scene.stage.post(&scene.stage.key, "/trust/signatures", body).await.created();
    assert_eq!(scene.offered().await, waiting["id"]);
}

/// Stores an update with the bytes of another one, as a server did before it computed lists of files: its id.
async fn stored_before(scene: &Scene, published: &Value, build: &str) -> String {
    let app = &scene.stage.app;
    let mut tx = app.db.write().await.unwrap();
    let mut rows = tx.org(scene.stage.org);
    let source = rows.update(published.id().parse().unwrap()).await.unwrap().unwrap();
    let (from, to) = (Key::new(&source.blob_key).unwrap(), Key::new("packages/before").unwrap());
    app.blob.copy(&from, &to).await.unwrap();
    let package = Package {
        id: app.random.id(START),
        org_id: scene.stage.org,
        blob_key: to.as_str().to_owned(),
        size: source.size,
        sha256: source.sha256.clone(),
        file_count: source.file_count,
        manifest: None,
        format: Format::Archive,
        content_id: None,
    };
    rows.create_package(&package, START).await.unwrap();
    let update = Update {
        id: app.random.id(START),
        package_id: package.id,
        build_number: build.parse().unwrap(),
        trust_role: None,
        ..source
    };
    let bundle = BUNDLE.parse().unwrap();
    rows.touch_updates(&bundle, START).await.unwrap();
    assert!(rows.create_update(&NewUpdate { update: &update, bundle: &bundle }).await.unwrap());
    tx.commit().await.unwrap();
    update.id.to_string()
}

#[tokio::test]
async fn the_files_of_an_older_package_are_listed_when_it_is_signed() {
    let mut scene = Scene::new().await;
    let published = scene.publish_signed(1, "one").await.created();
    let before = stored_before(&scene, &published, "2").await;
    let again = json!({
        "sourceUpdateId": before, "bundleId": BUNDLE, "platform": "android", "version": "1.0.1",
        "buildNumber": 3, "configuration": "production",
    });
    let waiting = scene.stage.post(&scene.stage.key, "/update", again).await.created();
    assert_eq!((&waiting["status"], &waiting["manifest"]), (&json!("awaiting_signature"), &published["manifest"]));
    assert_eq!(scene.draft().await["updateIds"], json!([waiting["id"]]));
}

#[tokio::test]
async fn signers_fetch_the_package_before_anybody_else_can() {
    let scene = Scene::new().await;
    let waiting = scene.publish_unsigned(1, "one").await.created();
    let path = format!("/update/package?id={}", waiting.id());
    let answer = scene.stage.get(&scene.stage.key, &path).await;
    answer.is(302);
    let fetched = scene.stage.get(NOBODY, answer.header("location")).await;
    assert_eq!(fetched.bytes, page("one"));
    scene.stage.get(NOBODY, &path).await.is(401);
}

#[tokio::test]
async fn a_waiting_update_can_be_deleted() {
    let scene = Scene::new().await;
    let first = scene.publish_unsigned(1, "one").await.created();
    let second = scene.publish_unsigned(2, "two").await.created();
    assert_eq!(scene.draft().await["updateIds"].as_array().unwrap().len(), 2);
    scene.stage.delete(&scene.stage.key, &format!("/update?id={}", second.id())).await.ok();
    assert_eq!(scene.draft().await["updateIds"], json!([first["id"]]));
    scene.stage.delete(&scene.stage.key, &format!("/update?id={}", first.id())).await.ok();
    let path = format!("/trust/drafts?bundleId={BUNDLE}&role=c-production");
    scene.stage.get(&scene.stage.key, &path).await.refused(404, "This app has no draft of this role");
}

#[tokio::test]
async fn waiting_updates_count_as_published_ones_do() {
    let scene = Scene::new().await;
    let usage = async || scene.stage.get(&scene.stage.key, "/usage").await.ok()["items"][0].clone();
    let before = usage().await;
    scene.publish_unsigned(1, "one").await.created();
    let after = usage().await;
    assert_ne!(before, after, "an update and its bytes are counted");
}

#[tokio::test]
async fn an_app_keeps_the_updates_from_before_its_root() {
    let stage = crate::stage::Stage::new().await;
    let old = stage.published(&stage.key, json!({"configuration": "production"})).await;
    let scene = Scene::on(stage).await;
    assert_eq!((scene.offered().await, &old["trustRole"]), (old["id"].clone(), &Value::Null));
    scene.stage.patch(&scene.stage.key, &format!("/update?id={}", old.id()), json!({"rollout": 50})).await.ok();
}

#[tokio::test]
async fn with_two_keys_one_signature_makes_the_draft() {
    let mut scene = Scene::new().await;
    let production = role_of("production");
    let signers = scene.developers.signers(&production);
    signers.keys.push(new_key());
    signers.threshold = 2;
    let targets = scene.developers.sign_targets(START);
    let role = scene.developers.sign_role(&production, START);
    scene.send(&[], &[("targets", targets), ("c-production", role)]).await.created();
    let second_key = scene.developers.signers(&production).keys.pop().unwrap();
    let first = async |scene: &mut Scene, build, force: bool| -> Answer {
        let mut body = scene.publication(build, "half").await;
        body["force"] = force.into();
        scene.stage.post(&scene.stage.key, "/update", body).await
    };
    let content = scene.developers.signers(&production).content.clone();
    let one = first(&mut scene, 1, false).await.created();
    assert_eq!(one["status"], "awaiting_signature");
    let draft = scene.draft().await;
    let signed: Vec<_> = draft["keys"].as_array().unwrap().iter().map(|key| key["signed"].clone()).collect();
    assert_eq!((signed, &draft["threshold"]), (vec![json!(true), json!(false)], &json!(2)));
    // An update that comes later waits beside the draft, whose signature stays.
    let beside = scene.publish_unsigned(2, "beside").await.created();
    assert_eq!(scene.draft().await, draft);
    let signers = scene.developers.signers(&production);
    (signers.version, signers.content) = (2, content);
    let refused = first(&mut scene, 3, false).await.refusal(400);
    assert!(refused.starts_with("`c-production` has a draft of version 3 with signatures"), "{refused}");
    // The other key completes the first one. The others wait for the next version.
    let file: launchway_trust::metadata::Metadata<launchway_trust::metadata::Targets> =
        launchway_trust::metadata::Metadata::parse(draft.text("metadata").as_bytes()).unwrap();
    let signature = second_key.sign(file.message(), &ring::rand::SystemRandom::new()).unwrap();
    let body = json!({
        "bundleId": BUNDLE, "role": "c-production", "version": 3,
        "signatures": [{"keyid": second_key.public().id(), "sig": hex::encode(signature)}],
    });
    let change = scene.stage.post(&scene.stage.key, "/trust/signatures", body).await.created();
    assert_eq!(change["publishedUpdateIds"], json!([one["id"]]));
    assert_eq!(change["drafts"], json!(["c-production"]), "what waits has a draft again");
    let next = scene.draft().await;
    assert_eq!((&next["updateIds"], &next["version"]), (&json!([beside["id"]]), &json!(4)));
}
