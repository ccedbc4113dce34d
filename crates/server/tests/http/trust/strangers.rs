//! What another organization sees and can do: as if the app had no root, and nobody had it.

use launchway_developers::{Developers, role_of};
use serde_json::{Value, json};

use super::Scene;
use crate::stage::BUNDLE;
use crate::support::{Fields, START};

#[tokio::test]
async fn nothing_of_another_organization_is_seen_or_changed() {
    let mut scene = Scene::new().await;
    let update = scene.publish_unsigned(1, "one").await.created();
    let signatures = scene.signatures().await;
    let before = (scene.trust().await, scene.draft().await, scene.status(&update).await);
    let (_, stranger) = scene.stage.org_with_key().await;
    let read = async |bundle: &str| scene.stage.get(&stranger, &format!("/trust?bundleId={bundle}")).await.ok();
    let (foreign, unknown) = (read(BUNDLE).await, read("com.example.unknown").await);
    assert_eq!((&foreign["repository"], &foreign["roles"]), (&unknown["repository"], &unknown["roles"]));
    assert_eq!((&foreign["onlineKey"], &foreign["drafts"]), (&Value::Null, &json!([])));
    let drafts = scene.stage.get(&stranger, &format!("/trust/drafts?bundleId={BUNDLE}")).await.ok();
    assert_eq!(drafts["items"], json!([]));
    let path = format!("/trust/drafts?bundleId={BUNDLE}&role=c-production");
    scene.stage.get(&stranger, &path).await.refused(404, "This app has no draft of this role");
    scene.stage.delete(&stranger, &path).await.refused(404, "This app has no draft of this role");

    let no_root = "This app has no root. Run launchway trust init first.";
    scene.stage.post(&stranger, "/trust/signatures", signatures).await.refused(400, no_root);
    let draft = json!({"bundleId": BUNDLE, "role": "c-production", "updateIds": [update["id"]]});
    scene.stage.post(&stranger, "/trust/drafts", draft).await.refused(400, no_root);
    let allowed = json!({"bundleId": BUNDLE, "allowed": true});
    scene.stage.post(&stranger, "/trust/other-formats", allowed).await.refused(400, no_root);
    let role = scene.developers.sign_role(&role_of("production"), START);
    let change = json!({"bundleId": BUNDLE, "basedOn": 1, "roles": {"c-production": role}});
    scene.stage.post(&stranger, "/trust", change).await.refused(400, no_root);

    let message = scene.stage.post(&stranger, "/trust/online-key", json!({"bundleId": BUNDLE})).await.refusal(403);
    assert!(message.starts_with("The bundle id com.example.app belongs to another organization"), "{message}");
    let online = before.0["onlineKey"].text("publicKey").to_owned();
    let mut own = Developers::new(BUNDLE, &online, &[role_of("production")]);
    let first = own.first_trust(START);
    scene.stage.post(&stranger, "/trust", first.clone()).await.refused(403, &message);
    let mut reset = json!({"bundleId": BUNDLE, "confirm": BUNDLE});
    (reset["root"], reset["roles"]) = (first["roots"][0].clone(), first["roles"].clone());
    scene.stage.post(&stranger, "/trust/reset", reset).await.refused(400, no_root);
    let after = (scene.trust().await, scene.draft().await, scene.status(&update).await);
    assert_eq!(after, before);
}

#[tokio::test]
async fn another_organizations_update_joins_no_draft() {
    let scene = Scene::new().await;
    scene.publish_unsigned(1, "one").await.created();
    let (_, stranger) = scene.stage.org_with_key().await;
    let foreign = scene.stage.published(&stranger, json!({"bundleId": "com.example.theirs"})).await;
    let published = json!({"bundleId": "com.example.own"});
    let own = scene.stage.published(&scene.stage.key, published).await;
    let body = |id: &Value| json!({"bundleId": BUNDLE, "role": "c-production", "updateIds": [id]});
    let refused = scene.stage.post(&scene.stage.key, "/trust/drafts", body(&foreign["id"])).await;
    refused.refused(404, "No update has this id");
    let message = scene.stage.post(&scene.stage.key, "/trust/drafts", body(&own["id"])).await.refusal(400);
    assert_eq!(message, format!("{} does not wait for a signature of `c-production`", own.id()));
}
