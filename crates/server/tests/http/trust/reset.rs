//! `/trust/reset` and `/trust/other-formats`: what an owner decides.

use launchway_developers::{Developers, role_of};
use launchway_domain::tenancy::Role;
use serde_json::{Value, json};

use super::Scene;
use crate::stage::BUNDLE;
use crate::support::{Fields, START};

/// The body of a reset by new developers, whose first root has this version.
fn reset_by(developers: &mut Developers, version: u64) -> Value {
    developers.root_version = version - 1;
    let mut body = developers.first_trust(START);
    body["root"] = body["roots"][0].take();
    body.as_object_mut().unwrap().remove("roots");
    body["confirm"] = BUNDLE.into();
    body
}

#[tokio::test]
async fn an_owner_begins_a_new_repository() {
    let mut scene = Scene::new().await;
    let published = scene.publish_signed(1, "one").await.created();
    let waiting = scene.publish_unsigned(2, "two").await.created();
    let before = scene.trust().await;
    let online = before["onlineKey"].text("publicKey").to_owned();
    let mut developers = Developers::new(BUNDLE, &online, &[role_of("production")]);
    let body = reset_by(&mut developers, 2);
    let admin = scene.stage.user(scene.stage.org, "ada@example.com", Role::Admin).await;
    let owner = scene.stage.user(scene.stage.org, "bob@example.com", Role::Owner).await;
    let message = scene.stage.post(&admin, "/trust/reset", body.clone()).await.refusal(403);
    assert!(message.contains("role owner"), "{message}");
    let mut unconfirmed = body.clone();
    unconfirmed["confirm"] = "com.example".into();
    let message = scene.stage.post(&owner, "/trust/reset", unconfirmed).await.refusal(400);
    assert_eq!(message, "confirm must be the bundle id of the app");
    let same = reset_by(&mut scene.developers, 2);
    let message = scene.stage.post(&owner, "/trust/reset", same).await.refusal(400);
    assert_eq!(message, "The new root must name a new repository: generate another random id");
    let late = reset_by(&mut Developers::new(BUNDLE, &online, &[role_of("production")]), 3);
    let message = scene.stage.post(&owner, "/trust/reset", late).await.refusal(400);
    assert!(message.contains("The root has version 3, but the next version is 2"), "{message}");
    let mut alone = body.clone();
    alone["roles"] = json!({});
    scene
        .stage
        .post(&owner, "/trust/reset", alone)
        .await
        .refused(400, "The first root must be sent together with `targets`");
    assert_eq!(scene.trust().await, before);

    scene.stage.post(&owner, "/trust/reset", body).await.created();
    let after = scene.trust().await;
    assert_ne!(after["repository"], before["repository"]);
    assert!(after["snapshot"].as_u64() > before["snapshot"].as_u64());
    assert_eq!((scene.version("root").await, scene.version("c-production").await), (json!(2), json!(1)));
    assert_eq!((scene.status(&published).await, scene.offered().await), (json!("published"), Value::Null));
    assert_eq!(scene.actions().await.last().map(String::as_str), Some("trust.reset"));
    // What waits is signed by the new keys.
    scene.developers = developers;
    let body = scene.signatures().await;
    scene.stage.post(&owner, "/trust/signatures", body).await.created();
    assert_eq!(scene.offered().await, waiting["id"]);
}

#[tokio::test]
async fn an_app_without_a_root_is_not_reset() {
    let stage = crate::stage::Stage::new().await;
    let mut developers = Developers::new(BUNDLE, &stage.new_online_key().await, &[]);
    let message = stage.post(&stage.key, "/trust/reset", reset_by(&mut developers, 1)).await.refusal(400);
    assert_eq!(message, "This app has no root. Run launchway trust init first.");
    let other = json!({"bundleId": BUNDLE, "allowed": true});
    stage.post(&stage.key, "/trust/other-formats", other).await.refused(400, &message);
}

#[tokio::test]
async fn an_owner_allows_other_formats() {
    let scene = Scene::new().await;
    let owner = scene.stage.user(scene.stage.org, "bob@example.com", Role::Owner).await;
    let before = scene.actions().await.len();
    for allowed in [true, true, false] {
        let body = json!({"bundleId": BUNDLE, "allowed": allowed});
        let trust = scene.stage.post(&owner, "/trust/other-formats", body).await.ok();
        assert_eq!(trust["otherFormatsAllowed"], allowed);
    }
    assert_eq!(
        scene.actions().await[before..],
        ["trust.other_formats", "trust.other_formats"],
        "one line for each change"
    );
}
