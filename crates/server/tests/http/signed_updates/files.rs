//! Attacks with metadata: another repository, old files, files that do not fit, and versions that are used up.

use std::slice::from_ref;

use launchway_developers::Developers;
use launchway_domain::time::DAY;
use launchway_trust::RepositoryId;
use serde_json::json;

use super::attacker::Attacker;
use super::phone::Phone;
use super::scene::{Scene, evil};
use crate::stage::BUNDLE;

#[tokio::test(flavor = "multi_thread")]
async fn another_repository_is_not_trusted() {
    let scene = Scene::new().await;
    let attacker = Attacker::of(&scene.stage).await;
    let phone = scene.good_phone();
    attacker.offer(&evil(), json!({})).await;
    let mut own = Developers::new(BUNDLE, &attacker.online[0].public().to_pem(), from_ref(&scene.role));
    let now = scene.stage.app.clock.now();
    own.identity.repository = scene.developers.identity.repository;
    let _ = own.sign_root(&[], now);
    // A second root of the same repository, which the first one's keys did not sign.
    let root = own.sign_root(&[], now);
    attacker.store("root", 2, &root).await;
    attacker.reload().await;
    phone.refuses("too-few-signatures");

    attacker.run("DELETE FROM trust_files WHERE role = 'root' AND version = 2", []).await;
    own.identity.repository = RepositoryId::from_bytes([8; 16]);
    own.signers(&scene.role).content = scene.developers.roles[&scene.role].content.clone();
    attacker.store("targets", 1, &own.sign_targets(now)).await;
    attacker.store("c-production", 2, &own.sign_role_as(&scene.role, 2, scene.expires())).await;
    attacker.list(&own, &[("targets", 1), ("c-production", 2)]).await;
    phone.refuses("other-repository-or-app");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_below_the_floor_of_the_app_is_not_trusted() {
    let scene = Scene::new().await;
    let mut carried = scene.developers.trust_file();
    carried.floors.insert("c-production".to_owned(), 5);
    Phone::new(&scene.stage, carried).refuses("below-floor");
}

#[tokio::test(flavor = "multi_thread")]
async fn frozen_metadata_expires() {
    let scene = Scene::new().await;
    let attacker = Attacker::of(&scene.stage).await;
    let (phone, waiting) = (scene.good_phone(), scene.phone());
    attacker.offer(&evil(), json!({})).await;
    // Somebody on the way replays the timestamp.
    scene.stage.advance(8 * DAY);
    phone.refuses("expired");
    // Whoever has the server renews it, and withholds what the developers signed since.
    scene.stage.advance(180 * DAY);
    attacker.list(&scene.developers, &scene.versions()).await;
    phone.refuses("expired");
    waiting.refuses("expired");
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_data_ends() {
    let mut scene = Scene::new().await;
    let phone = scene.good_phone();
    scene.release("1.2.0", 3, "better").await;
    phone.way.endless.set(Some("/tuf/"));
    phone.refuses("malformed");
    phone.way.endless.set(Some("/api/update/check/"));
    assert!(phone.sync().is_err());
    assert_eq!(phone.start(), "good");
    phone.way.endless.set(Some("/packages/"));
    assert!(phone.sync().is_err());
    assert_eq!(phone.start(), "good");
    phone.way.endless.set(None);
    phone.updates_to("better");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_do_not_belong_together_are_not_trusted() {
    let mut scene = Scene::new().await;
    let attacker = Attacker::of(&scene.stage).await;
    let old = scene.developers.sign_role_as(&scene.role, 2, scene.expires());
    scene.release("1.2.0", 3, "better").await;
    let phone = scene.phone();
    // The old role in place of the new one.
    attacker.store("c-production", 3, &old).await;
    attacker.reload().await;
    phone.refuses("other-version");
    // The old role beside files that are newer.
    attacker.store("c-production", 2, &old).await;
    attacker.list(&scene.developers, &[("targets", 1), ("c-production", 2), ("c-staging", 1)]).await;
    phone.refuses("names-rollback");
    // A snapshot that does not name the role at all.
    attacker.run("UPDATE updates SET trust_role = NULL", []).await;
    attacker.list(&scene.developers, &[("targets", 1), ("c-staging", 1)]).await;
    phone.refuses("no-longer-lists");
}

#[tokio::test(flavor = "multi_thread")]
async fn developers_recover_from_versions_that_were_used_up() {
    const LAST: u64 = (1 << 53) - 1;
    let mut scene = Scene::new().await;
    let phone = scene.good_phone();
    let attacker = Attacker::of(&scene.stage).await;
    let honest = attacker.next_version.replace(LAST);
    attacker.offer(&evil(), json!({})).await;
    attacker.list(&scene.developers, &scene.versions()).await;
    phone.refuses("not-signed");

    // The server is clean again, and its next versions are far below what the phone has seen.
    attacker.run("UPDATE updates SET status = 'withdrawn' WHERE version = '9.9.9'", []).await;
    attacker.next_version.set(honest);
    attacker.list(&scene.developers, &scene.versions()).await;
    let online = scene.stage.new_online_key().await;
    scene.developers.online = launchway_trust::PublicKey::from_pem(&online).unwrap();
    let root = scene.developers.sign_root(&[], scene.stage.app.clock.now());
    scene.stage.send_signed(&[&root], &[]).await;
    scene.release("1.2.0", 3, "better").await;
    phone.updates_to("better");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_database_stops_updates_until_it_has_the_role() {
    let mut scene = Scene::new().await;
    let phone = scene.phone();
    let old = scene.developers.sign_role_as(&scene.role, 2, scene.expires());
    scene.release("1.2.0", 3, "better").await;
    let lost = scene.developers.sign_role_as(&scene.role, 3, scene.expires());
    phone.updates_to("better");

    // The backup has version 2. What runs is offered again as something newer.
    let attacker = Attacker::of(&scene.stage).await;
    attacker.run("DELETE FROM trust_files WHERE role = 'c-production'", []).await;
    attacker.store("c-production", 2, &old).await;
    attacker.list(&scene.developers, &[("targets", 1), ("c-production", 2), ("c-staging", 1)]).await;
    let id = attacker.offer(&scene.good, json!({"version": "1.3.0", "buildNumber": "4"})).await;
    phone.refuses("names-rollback");

    attacker.run("UPDATE updates SET status = 'withdrawn' WHERE id = $1", [&id]).await;
    attacker.reload().await;
    scene.stage.send_signed(&[], &[("c-production", &lost)]).await;
    scene.release("1.4.0", 5, "best").await;
    phone.updates_to("best");
}
