//! `/trust/drafts` and `/trust/signatures`.

use std::collections::BTreeSet;

use launchway_developers::{new_key, role_of};
use launchway_domain::scope::Scope;
use launchway_trust::metadata::{Metadata, Root};
use ring::rand::SystemRandom;
use serde_json::json;

use super::Scene;
use crate::stage::{BUNDLE, Stage};
use crate::support::{Fields, START, Setup};

const PATH: &str = "/trust/drafts?bundleId=com.example.app&role=c-production";

#[tokio::test]
async fn waiting_updates_join_the_draft_until_it_is_signed() {
    let mut scene = Scene::new().await;
    let (mut ids, mut newest) = (BTreeSet::new(), json!(null));
    for build in 1..=3 {
        newest = scene.publish_unsigned(build, &format!("page {build}")).await.created()["id"].clone();
        ids.insert(newest.as_str().unwrap().to_owned());
        assert_eq!(scene.drafted().await, ids);
    }
    let list = scene.stage.get(&scene.stage.key, &format!("/trust/drafts?bundleId={BUNDLE}")).await.ok();
    assert_eq!((&list["total"], &list["items"][0]["role"]), (&json!(1), &json!("c-production")));
    assert_eq!(list["items"][0].get("metadata"), None);
    let body = scene.signatures().await;
    let change = scene.stage.post(&scene.stage.key, "/trust/signatures", body).await.created();
    assert_eq!(change["publishedUpdateIds"].as_array().unwrap().len(), 3);
    assert_eq!(scene.offered().await, newest);
}

#[tokio::test]
async fn a_draft_is_made_of_chosen_updates() {
    let scene = Scene::new().await;
    let one = scene.publish_unsigned(1, "one").await.created();
    let two = scene.publish_unsigned(2, "two").await.created();
    let make = async |body| scene.stage.post(&scene.stage.key, "/trust/drafts", body).await;
    let wanted = json!({"bundleId": BUNDLE, "role": "c-production", "updateIds": [two["id"]]});
    let draft = make(wanted).await.created();
    assert_eq!((&draft["updateIds"], &draft["version"]), (&json!([two["id"]]), &json!(2)));
    assert!(draft.text("metadata").contains("c-production/android/1.0.1_2.zip"));
    assert!(!draft.text("metadata").contains("1.0.1_1.zip"));
    make(json!({"bundleId": BUNDLE, "role": "c-production"})).await.created();
    assert_eq!(scene.drafted().await, BTreeSet::from([one.id().to_owned(), two.id().to_owned()]));
    scene.stage.delete(&scene.stage.key, PATH).await.ok();
    scene.stage.delete(&scene.stage.key, PATH).await.refused(404, "This app has no draft of this role");
    assert_eq!(
        (scene.status(&one).await, scene.status(&two).await),
        (json!("awaiting_signature"), json!("awaiting_signature"))
    );
    let rows = [
        (json!({"bundleId": BUNDLE, "role": "c-staging"}), 400, "`targets` does not delegate to `c-staging`"),
        (json!({"bundleId": BUNDLE, "role": "targets"}), 400, "`targets` is not a role"),
        (json!({"bundleId": "com.example.plain", "role": "any"}), 400, "This app has no root"),
        (json!({"bundleId": BUNDLE, "role": "c-production", "updateIds": ["x"]}), 404, "No update has this id"),
        (json!({"bundleId": BUNDLE, "role": "c-production", "updateIds": []}), 400, "No update waits"),
    ];
    for (body, status, part) in rows {
        let message = make(body).await.refusal(status);
        assert!(message.starts_with(part), "{message:?} lacks {part:?}");
    }
}

#[tokio::test]
async fn only_signatures_of_the_roles_keys_are_added() {
    let mut scene = Scene::new().await;
    scene.publish_unsigned(1, "one").await.created();
    let good = scene.signatures().await;
    let send = async |body| scene.stage.post(&scene.stage.key, "/trust/signatures", body).await;
    let mut of_another_version = good.clone();
    of_another_version["version"] = json!(3);
    let message = send(of_another_version).await.refusal(400);
    assert_eq!(message, "The draft of `c-production` has version 2, not 3. Fetch it and sign version 2.");
    let mut wrong = good.clone();
    wrong["signatures"][0]["sig"] = json!("3006020101020101");
    let message = send(wrong.clone()).await.refusal(400);
    assert!(message.ends_with("the signature is not valid for this key and file"), "{message}");
    wrong["signatures"][0]["keyid"] = json!(new_key().public().id());
    let message = send(wrong.clone()).await.refusal(400);
    assert!(message.ends_with("the key is not authorized for this role"), "{message}");
    wrong["signatures"] = vec![good["signatures"][0].clone(); 33].into();
    let message = send(wrong).await.refusal(400);
    assert!(message.starts_with("A request may have at most 32 signatures"), "{message}");
    let mut of_another_role = good.clone();
    of_another_role["role"] = json!("targets");
    send(of_another_role).await.refused(404, "This app has no draft of this role");
    assert_eq!(scene.draft().await["keys"][0]["signed"], false);
    send(good.clone()).await.created();
    send(good).await.refused(404, "This app has no draft of this role");
}

#[tokio::test]
async fn signatures_are_not_lost_by_accident() {
    let mut scene = Scene::new().await;
    let production = role_of("production");
    let signers = scene.developers.signers(&production);
    signers.keys.push(new_key());
    signers.threshold = 2;
    let (targets, role) = (scene.developers.sign_targets(START), scene.developers.sign_role(&production, START));
    scene.send(&[], &[("targets", targets), ("c-production", role)]).await.created();
    scene.publish_unsigned(1, "one").await.created();
    let mut half = scene.signatures().await;
    half["signatures"].as_array_mut().unwrap().truncate(1);
    let ci = scene.stage.key(scene.stage.org, &[Scope::Update]).await;
    let change = scene.stage.post(&ci, "/trust/signatures", half).await.created();
    assert_eq!((&change["accepted"], &change["drafts"]), (&json!([]), &json!(["c-production"])));
    let make = async |force: bool| {
        let body = json!({"bundleId": BUNDLE, "role": "c-production", "force": force});
        scene.stage.post(&ci, "/trust/drafts", body).await
    };
    let refused = "`c-production` has a draft of version 3 with signatures, which would be lost. Complete it, or delete it first.";
    make(false).await.refused(400, refused);
    let other = scene.developers.sign_role_as(&production, 3, START + 5_000_000);
    scene.send(&[], &[("c-production", other.clone())]).await.refused(400, refused);
    let draft = make(true).await.created();
    assert_eq!(draft["keys"][0]["signed"], false);
    assert!(scene.actions().await.iter().any(|action| action == "trust.draft_delete"));
    let lost = json!({"role": "c-production", "version": 3});
    let events = scene.stage.events(scene.stage.org).await;
    assert!(events.iter().any(|(kind, data)| kind == "trust.changed" && data["lostDraft"] == lost), "{events:?}");
    // Without signatures it is in nobody's way.
    scene.send(&[], &[("c-production", other)]).await.created();
}

#[tokio::test]
async fn who_completes_a_root_adds_none_after_it() {
    let mut scene = Scene::new().await;
    let ci = scene.stage.key(scene.stage.org, &[Scope::Update]).await;
    let old = std::mem::replace(&mut scene.developers.root_keys, vec![new_key()]);
    let (alone, targets) = (scene.developers.sign_root(&[], START), scene.developers.sign_targets(START));
    scene.send(std::slice::from_ref(&alone), &[("targets", targets.clone())]).await.created();
    let file: Metadata<Root> = Metadata::parse(alone.as_bytes()).unwrap();
    let signature = old[0].sign(file.message(), &SystemRandom::new()).unwrap();
    let mut complete: serde_json::Value = serde_json::from_str(&alone).unwrap();
    let signature = json!({"keyid": old[0].public().id(), "sig": hex::encode(signature)});
    complete["signatures"].as_array_mut().unwrap().push(signature);
    let third = {
        scene.developers.root_keys.push(new_key());
        scene.developers.sign_root(&[], START)
    };
    let refused = "This changes more of `root` than version and expiry, which requires an admin";
    let chain = [complete.to_string(), third];
    scene.send_as(&ci, &chain, &[("targets", targets.clone())]).await.refused(403, refused);
    scene.send_as(&ci, &chain[..1], &[("targets", targets)]).await.created();
    assert_eq!((scene.version("root").await, scene.version("targets").await), (json!(2), json!(2)));
}

#[tokio::test]
async fn two_who_sign_at_once_complete_the_draft() {
    for setup in [Setup::default(), Setup::on_postgres()] {
        let mut scene = Scene::on(Stage::new().with(setup).await).await;
        let production = role_of("production");
        let signers = scene.developers.signers(&production);
        signers.keys.push(new_key());
        signers.threshold = 2;
        let (targets, role) = (scene.developers.sign_targets(START), scene.developers.sign_role(&production, START));
        scene.send(&[], &[("targets", targets), ("c-production", role)]).await.created();
        let waiting = scene.publish_unsigned(1, "one").await.created();
        let both = scene.signatures().await;
        let one = |place: usize| {
            let mut body = both.clone();
            body["signatures"] = json!([both["signatures"][place]]);
            scene.stage.post(&scene.stage.key, "/trust/signatures", body)
        };
        let answers = tokio::join!(one(0), one(1));
        let published = [answers.0, answers.1].map(|answer| answer.created()["publishedUpdateIds"].clone());
        assert!(published.contains(&json!([waiting["id"]])) && published.contains(&json!([])), "{published:?}");
        assert_eq!(scene.offered().await, waiting["id"]);
    }
}

#[tokio::test]
async fn drafts_of_root_and_targets_are_an_admins() {
    let mut scene = Scene::new().await;
    scene.developers.root_keys.push(new_key());
    scene.developers.root_threshold = 2;
    let absent = scene.developers.root_keys.pop().unwrap();
    // The draft needs the signature of a key that is not here.
    let mut root = scene.developers.root();
    root.keys.insert(absent.public().id(), (*absent.public()).into());
    for keys in [&mut root.root, &mut root.targets] {
        keys.key_ids.push(absent.public().id());
        keys.threshold = 2;
    }
    let header = scene.developers.header(2, START + launchway_trust::profile::ROOT_LIFETIME);
    let authority = root.authority(launchway_trust::TopLevel::Root);
    let text = launchway_developers::signed(&header, &root, authority, &scene.developers.root_keys);
    // Targets, too, would need both keys.
    let message = scene.send(std::slice::from_ref(&text), &[]).await.refusal(400);
    assert!(message.starts_with("`targets` is no longer signed"), "{message}");
    scene.developers.root_threshold = 1;
    let targets = scene.developers.sign_targets(START);
    let change = scene.send(&[text], &[("targets", targets)]).await.created();
    assert_eq!(change["drafts"], json!(["root", "targets"]));
    let ci = scene.stage.key(scene.stage.org, &[Scope::Update]).await;
    for role in ["root", "targets"] {
        let path = format!("/trust/drafts?bundleId={BUNDLE}&role={role}");
        let message = format!("Deleting a draft of `{role}` requires an admin");
        scene.stage.delete(&ci, &path).await.refused(403, &message);
        let deleted = scene.stage.delete(&scene.stage.key, &path).await.ok();
        assert_eq!((deleted.text("id"), deleted.text("status")), (role, "deleted"));
    }
    scene
        .stage
        .delete(&scene.stage.key, &format!("/trust/drafts?bundleId={BUNDLE}"))
        .await
        .refused(400, "role is required");
}

#[tokio::test]
async fn invalid_signatures_take_no_place_in_a_draft() {
    let mut scene = Scene::new().await;
    let production = role_of("production");
    let signers = scene.developers.signers(&production);
    signers.keys.push(new_key());
    signers.threshold = 2;
    let (targets, role) = (scene.developers.sign_targets(START), scene.developers.sign_role(&production, START));
    scene.send(&[], &[("targets", targets), ("c-production", role)]).await.created();
    let file = scene.developers.sign_role(&production, START);
    let mut file: serde_json::Value = serde_json::from_str(&file).unwrap();
    let good = file["signatures"].as_array().unwrap().clone();
    let junk = (0..31).map(|number| json!({"keyid": format!("{number}"), "sig": "00"}));
    file["signatures"] = [vec![good[0].clone()], junk.collect()].concat().into();
    scene.send(&[], &[("c-production", file.to_string())]).await.created();
    let draft = scene.draft().await;
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(draft.text("metadata")).unwrap()["signatures"],
        json!([good[0]])
    );
    // The same file with a wrong signature of the same key does not take away the right one.
    file["signatures"] = json!([{"keyid": good[0]["keyid"], "sig": "3006020101020101"}]);
    let ci = scene.stage.key(scene.stage.org, &[Scope::Update]).await;
    scene.send_as(&ci, &[], &[("c-production", file.to_string())]).await.created();
    assert_eq!(scene.draft().await["keys"], draft["keys"]);
    // The other key's signature comes by the same way, and completes the draft.
    file["signatures"] = json!([good[1]]);
    let change = scene.send_as(&ci, &[], &[("c-production", file.to_string())]).await.created();
    assert_eq!(change["accepted"], json!(["c-production"]));
}
