//! Attacks with packages that the developers did not sign for this app, or no longer.

use launchway_developers::{Release, role_of};
use launchway_domain::platform::Platform;
use launchway_trust::{Identity, Sha256};
use serde_json::json;

use super::attacker::{Attacker, exchange};
use super::phone::Phone;
use super::scene::{Scene, evil};
use crate::support::{Fields, Says};

#[tokio::test(flavor = "multi_thread")]
async fn an_arbitrary_package_is_not_installed() {
    let scene = Scene::new().await;
    let attacker = Attacker::of(&scene.stage).await;
    let phone = scene.good_phone();
    attacker.offer(&evil(), json!({})).await;
    Phone::without_root(&scene.stage).updates_to("evil");
    phone.refuses("not-signed");

    // Under the name of an update that was signed.
    let id = attacker.offer(&evil(), json!({"version": "1.0.5", "buildNumber": "50"})).await;
    let other = "UPDATE updates SET build_number = '12', build_value = 12 WHERE version = '1.1.0'";
    attacker.run(other, []).await;
    attacker.run("UPDATE updates SET status = 'withdrawn' WHERE id <> $1", [&id]).await;
    let rename = "UPDATE updates SET version = '1.1.0', version_key = '1.1.0', build_number = '2', build_value = 2 \
                  WHERE id = $1";
    attacker.run(rename, [&id]).await;
    attacker.reload().await;
    Phone::without_root(&scene.stage).updates_to("evil");
    scene.phone().refuses("other-package");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_were_exchanged_in_storage_are_not_installed() {
    let scene = Scene::new().await;
    exchange(scene.stage.objects(), &scene.good);
    let phone = scene.phone();
    let refused = phone.sync().unwrap_err().to_string();
    refused.says("the server does not send the package");
    assert_eq!(phone.start(), "embedded");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_of_another_app_is_not_installed() {
    let mut scene = Scene::new().await;
    let attacker = Attacker::of(&scene.stage).await;
    let phone = scene.good_phone();
    attacker.offer(&evil(), json!({})).await;
    // The developers sign their other app with the same keys.
    scene.extend(&evil());
    let own = scene.developers.identity.clone();
    scene.developers.identity = Identity { bundle_id: "com.example.other".parse().unwrap(), ..own.clone() };
    let of_other = scene.developers.sign_role_as(&scene.role, 3, scene.expires());
    scene.developers.identity = own;
    attacker.store("c-production", 3, &of_other).await;
    attacker.list(&scene.developers, &[("targets", 1), ("c-production", 3), ("c-staging", 1)]).await;
    phone.refuses("other-repository-or-app");
    scene.phone().refuses("other-repository-or-app");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_of_another_platform_is_not_installed() {
    let mut scene = Scene::new().await;
    let phone = scene.good_phone();
    let package = evil();
    let release = Release { role: &scene.role, platform: Platform::Ios, version: "2.0.0", build: 3, package: &package };
    let published = scene.stage.release(&mut scene.developers, &release).await;
    let attacker = Attacker::of(&scene.stage).await;
    attacker.run("UPDATE updates SET platform = 'android' WHERE id = $1", [published.id()]).await;
    attacker.publish(published.id()).await;
    Phone::without_root(&scene.stage).updates_to("evil");
    phone.refuses("not-signed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_of_another_configuration_is_not_installed() {
    let mut scene = Scene::new().await;
    let phone = scene.good_phone();
    let (staging, package) = (role_of("staging"), evil());
    let release =
        Release { role: &staging, platform: Platform::Android, version: "2.0.0", build: 3, package: &package };
    let published = scene.stage.release(&mut scene.developers, &release).await;
    let attacker = Attacker::of(&scene.stage).await;
    attacker.run("UPDATE updates SET configuration = 'production' WHERE id = $1", [published.id()]).await;
    attacker.publish(published.id()).await;
    Phone::without_root(&scene.stage).updates_to("evil");
    phone.refuses("not-signed");

    // The file of the other configuration in place of its own.
    let swapped = scene.developers.sign_role_as(&staging, 9, scene.expires());
    attacker.store("c-production", 9, &swapped).await;
    attacker.list(&scene.developers, &[("targets", 1), ("c-production", 9), ("c-staging", 2)]).await;
    phone.refuses("other-content");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_package_is_never_started() {
    let mut scene = Scene::new().await;
    let (phone, watching, good) = (scene.good_phone(), scene.phone(), scene.good.clone());
    let old = scene.developers.sign_role_as(&scene.role, 2, scene.expires());
    let now = scene.stage.app.clock.now();
    let revoked = scene.developers.revoke(&scene.role, &good, now);
    scene.stage.send_signed(&[], &[("c-production", &revoked)]).await;
    for phone in [&phone, &watching] {
        phone.sync().unwrap();
    }
    assert_eq!(phone.start(), "embedded", "what runs gives way");

    // The server takes the revocation back.
    let attacker = Attacker::of(&scene.stage).await;
    attacker.run("UPDATE updates SET status = 'published'", []).await;
    attacker.store("c-production", 2, &old).await;
    attacker.list(&scene.developers, &[("targets", 1), ("c-production", 2), ("c-staging", 1)]).await;
    watching.refuses("names-rollback");

    // An app that carries the revocation refuses the package although the old role lists it.
    let mut carried = scene.developers.trust_file();
    carried.revoked.insert(Sha256::of(&good));
    Phone::new(&scene.stage, carried).refuses("revoked");
}
