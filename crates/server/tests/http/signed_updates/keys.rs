//! Attacks with keys: too few of them, the wrong ones, stolen ones, and signers who are deceived.

use launchway_developers::{Signers, new_key, signed};
use launchway_domain::bundle_id::BundleId;
use launchway_trust::client::Client;
use launchway_trust::{RoleError, TopLevel};
use serde_json::json;

use super::attacker::Attacker;
use super::scene::{Scene, evil};
use crate::stage::{BUNDLE, Stage};
use crate::support::NOBODY;

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_stolen_keys_signs_nothing() {
    let mut scene = Scene::new().await;
    let now = scene.stage.app.clock.now();
    let signers = scene.developers.signers(&scene.role);
    signers.keys.push(new_key());
    signers.threshold = 2;
    let targets = scene.developers.sign_targets(now);
    let role = scene.developers.sign_role(&scene.role, now);
    scene.stage.send_signed(&[], &[("targets", &targets), ("c-production", &role)]).await;
    let phone = scene.good_phone();

    let attacker = Attacker::of(&scene.stage).await;
    attacker.offer(&evil(), json!({})).await;
    scene.extend(&evil());
    let stolen = &scene.developers.roles[&scene.role].keys[..1];
    let forged = scene.developers.sign_role_with(&scene.role, 4, scene.expires(), stolen);
    attacker.store("c-production", 4, &forged).await;
    attacker.list(&scene.developers, &[("targets", 2), ("c-production", 4), ("c-staging", 1)]).await;
    phone.refuses("too-few-signatures");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keys_of_the_server_sign_no_update() {
    let mut scene = Scene::new().await;
    let phone = scene.good_phone();
    let attacker = Attacker::of(&scene.stage).await;
    attacker.offer(&evil(), json!({})).await;
    scene.extend(&evil());
    let (developers, header) = (&scene.developers, scene.developers.header(3, scene.expires()));
    let (root, content) = (developers.root(), &developers.roles[&scene.role].content);
    let forged = signed(&header, content, root.authority(TopLevel::Snapshot), &attacker.online);
    attacker.store("c-production", 3, &forged).await;
    attacker.list(developers, &[("targets", 1), ("c-production", 3), ("c-staging", 1)]).await;
    phone.refuses("too-few-signatures");

    // Targets that name a key of the attacker for the role.
    scene.developers.roles.insert(scene.role.clone(), Signers::new());
    let (targets, header) = (scene.developers.targets(), scene.developers.header(2, scene.expires()));
    let forged = signed(&header, &targets, root.authority(TopLevel::Snapshot), &attacker.online);
    attacker.store("targets", 2, &forged).await;
    attacker.list(&scene.developers, &[("targets", 2), ("c-production", 3), ("c-staging", 1)]).await;
    phone.refuses("too-few-signatures");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signer_who_is_given_an_old_role_signs_nothing() {
    let mut scene = Scene::new().await;
    let now = scene.stage.app.clock.now();
    let old = scene.developers.sign_role_as(&scene.role, 2, scene.expires());
    let revoked = scene.developers.revoke(&scene.role, &scene.good, now);
    scene.stage.send_signed(&[], &[("c-production", &revoked)]).await;
    let app = BundleId::parse(BUNDLE).unwrap();
    let mut signer = Client::open_for_signer(&scene.developers.trust_file(), &app, None).unwrap();
    fetch_to_sign(&scene.stage, &mut signer).await.unwrap();

    // Without the revocation: what is signed on top of it would take the package back.
    let attacker = Attacker::of(&scene.stage).await;
    attacker.store("c-production", 2, &old).await;
    attacker.list(&scene.developers, &[("targets", 1), ("c-production", 2), ("c-staging", 1)]).await;
    assert_eq!(fetch_to_sign(&scene.stage, &mut signer).await, Err("names-rollback"));
    // A computer that never saw the revocation knows the floor from the file that is committed.
    let mut committed = scene.developers.trust_file();
    committed.floors.insert("c-production".to_owned(), 3);
    let mut other = Client::open_for_signer(&committed, &app, None).unwrap();
    assert_eq!(fetch_to_sign(&scene.stage, &mut other).await, Err("below-floor"));
}

/// What the command line does before it signs: the whole workflow of a client. The error is the code of a refusal.
async fn fetch_to_sign(stage: &Stage, signer: &mut Client) -> Result<(), &'static str> {
    let mut refresh = signer.refresh(stage.app.clock.now());
    let code = |refused: RoleError| refused.reason.code();
    while let Some(request) = refresh.next_request().map_err(code)? {
        let file = stage.get(NOBODY, &format!("{}/tuf/{BUNDLE}/{request}", stage.origin)).await;
        if file.status == 200 {
            refresh.take(&file.bytes).map_err(code)?;
        } else {
            refresh.report_missing().map_err(code)?;
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stolen_key_that_was_replaced_signs_nothing() {
    let mut scene = Scene::new().await;
    let phone = scene.good_phone();
    let now = scene.stage.app.clock.now();
    let stolen = std::mem::replace(&mut scene.developers.signers(&scene.role).keys, vec![new_key()]);
    let targets = scene.developers.sign_targets(now);
    let role = scene.developers.sign_role(&scene.role, now);
    scene.stage.send_signed(&[], &[("targets", &targets), ("c-production", &role)]).await;

    let attacker = Attacker::of(&scene.stage).await;
    attacker.offer(&evil(), json!({})).await;
    phone.refuses("not-signed");
    scene.extend(&evil());
    let new = std::mem::replace(&mut scene.developers.signers(&scene.role).keys, stolen);
    let forged = scene.developers.sign_role_as(&scene.role, 4, scene.expires());
    scene.developers.signers(&scene.role).keys = new;
    attacker.store("c-production", 4, &forged).await;
    attacker.list(&scene.developers, &[("targets", 2), ("c-production", 4), ("c-staging", 1)]).await;
    phone.refuses("too-few-signatures");
    // A phone that saw nothing of this yet.
    scene.phone().refuses("too-few-signatures");
}
