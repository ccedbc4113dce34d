//! What an organization may hold at any time: stored bytes and bundle ids, exact under concurrency; and the floor of
//! free space.

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Tier;
use launchway_domain::time::{DAY, HOUR};
use launchway_domain::usage::{Counter, Month};
use launchway_jobs::clean_up::clean_up;
use launchway_testing::postgres::Postgres;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{granted, november, package_size, with};
use crate::stage::runners::Held;
use crate::support::{Answer, Fields, START, Setup, TestApp, package, until};

async fn announce(app: &TestApp, key: &str, size: usize) -> Answer {
    let body = json!({"fileName": "update.zip", "size": size, "sha256": hex::encode(Sha256::digest(b"x"))});
    app.post(key, "/uploads", body).await
}

async fn stored(app: &TestApp, key: &str) -> u64 {
    november(app, key).await["storedBytes"].as_u64().unwrap()
}

async fn claim(app: &TestApp, key: &str, bundle: &str) -> Answer {
    let body = json!({"bundleId": bundle});
    app.post(key, "/apps", body).await
}

#[tokio::test]
async fn announced_uploads_count_until_they_expire() {
    let (app, _, key) = with(Setup::default(), "free:stored-bytes=1000").await;
    announce(&app, &key, 600).await.created();
    assert_eq!(stored(&app, &key).await, 600);
    let refused = "This organization stores 600 of its 1000 bytes (tier free), so 401 more do not fit. Delete unneeded updates, \
                   builds or submissions, or ask the operator to change --quotas or the tier.";
    announce(&app, &key, 401).await.refused(403, refused);
    announce(&app, &key, 400).await.created();
    let used = november(&app, &key).await;
    assert_eq!((&used["storedBytes"], &used["quotas"]["storedBytes"]), (&json!(1000), &json!(1000)));
    // A refused upload does not count, and another organization has space.
    let other = app.key(app.org(Tier::Free).await, &Scope::ALL).await;
    announce(&app, &other, 1000).await.created();
    app.advance(DAY + HOUR);
    clean_up(&app.app).await.unwrap();
    announce(&app, &key, 1000).await.created();
}

#[tokio::test]
async fn a_deleted_update_gives_its_bytes_back_when_they_are_gone() {
    let size = package_size();
    let (app, _, key) = with(Setup::default(), &format!("free:stored-bytes={size}")).await;
    let update = app.published(&key, json!({})).await;
    assert_eq!(stored(&app, &key).await, size as u64);
    announce(&app, &key, 1).await.expect(403);
    // The bytes of an earlier update are already stored.
    let body = json!({"sourceUpdateId": update["id"], "bundleId": "com.example.app", "platform": "android", "version": "1.0.2"});
    let again = app.post(&key, "/update", body).await.created();
    for gone in [&update, &again] {
        app.delete(&key, &format!("/update?id={}", gone.id())).await.ok();
    }
    announce(&app, &key, 1).await.expect(403);
    app.advance(3 * HOUR);
    clean_up(&app.app).await.unwrap();
    assert_eq!(stored(&app, &key).await, 0);
    app.published(&key, json!({"buildNumber": 9})).await;
}

#[tokio::test]
async fn artifacts_and_logs_count_and_no_build_begins_without_room() {
    let (app, org, key) = with(Setup::default(), "free:stored-bytes=2000").await;
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    let artifact = held.send("app.txt", &[b'a'; 1500], &[b'a'; 1500]).await;
    let refused = held.announce("more.txt", &[b'b'; 501]).await.expect(403);
    assert!(refused.text("message").contains("1500 of its 2000 bytes"), "{refused}");
    // The same name replaces the first.
    let artifact = {
        let again = held.send("app.txt", &[b'c'; 1600], &[b'c'; 1600]).await;
        assert_ne!(again, artifact);
        again
    };
    // The final size of a log is unknown: it is accepted, and counts.
    held.logged(0, &[b'l'; 900]).await;
    held.finish(json!({"artifacts": [artifact], "logSize": 900})).await.ok();
    assert_eq!(stored(&app, &key).await, 2500);
    let source = json!({"git": {"url": "https://git.example.com/app.git", "ref": "main"}});
    let plan = json!({"steps": [{"name": "build", "run": "make"}]});
    let body = json!({"bundleId": "com.example.app", "platform": "android", "source": source, "plan": plan});
    app.post(&key, "/build", body.clone()).await.expect(403);
    app.delete(&key, &format!("/build?id={id}")).await.ok();
    assert_eq!(stored(&app, &key).await, 0);
    app.post(&key, "/build", body).await.created();
}

/// A retry stores a log and artifacts like a new build.
#[tokio::test]
async fn no_retry_begins_without_room() {
    let (app, org, key) = with(Setup::default(), "free:stored-bytes=1000").await;
    let runner = app.runner(&key, &[]).await;
    let large = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    held.logged(0, &[b'l'; 1000]).await;
    held.finish(json!({"artifacts": [], "logSize": 1000})).await.ok();
    let small = app.queue(org, |_| ()).await;
    let call = async |method, path: &str| app.send(&key, method, path, ()).await;
    call(Method::POST, &format!("/build/cancel?id={small}")).await.ok();
    let retry = format!("/build/retry?id={small}");
    let refused = "This organization stores 1000 of its 1000 bytes (tier free), so 1 more do not fit. Delete unneeded updates, \
                   builds or submissions, or ask the operator to change --quotas or the tier.";
    call(Method::POST, &retry).await.refused(403, refused);
    let builds = call(Method::GET, "/build").await.ok();
    assert_eq!(builds["total"], 2, "what was refused was not made");
    call(Method::DELETE, &format!("/build?id={large}")).await.ok();
    call(Method::POST, &retry).await.created();
}

/// A create counts itself, then takes its organization's lock. A retry in the opposite order would hold the lock while
/// it waits for the count, and PostgreSQL would abort one of the two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_and_a_create_do_not_wait_for_each_other() {
    let (app, org, key) = with(Setup::on_postgres(), "free:stored-bytes=1000,apps=9").await;
    // Its bundle id is not claimed yet: the retry checks both limits.
    let parent = app.queue(org, |_| ()).await;
    let call = async |path: String| app.post(&key, &path, ()).await;
    call(format!("/build/cancel?id={parent}")).await.ok();
    // A create up to the point where it has counted itself.
    let mut create = app.app.db.write().await.unwrap();
    let month = Month::of(START);
    create.org(org).count_usage(Counter::Builds, month, 1).await.unwrap();
    let goes_on = async {
        let url = app.app.config.database_url.reveal();
        until("the retry waits", async || {
            let waiting = "SELECT count(*) FROM pg_stat_activity \
                           WHERE datname = current_database() AND wait_event_type = 'Lock'";
            Postgres::shared().run_sql(url, waiting).unwrap() == "1"
        })
        .await;
        create.org(org).take_turn().await.unwrap();
        create.commit().await.unwrap();
    };
    let (retried, ()) = tokio::join!(call(format!("/build/retry?id={parent}")), goes_on);
    retried.created();
    assert_eq!(november(&app, &key).await["builds"], 2);
}

async fn stored_bytes_are_exact_at_once(setup: Setup) {
    let (app, _, key) = with(setup, "free:stored-bytes=3000").await;
    let answers = futures::future::join_all((0..9).map(|_| announce(&app, &key, 1000))).await;
    let (granted, refused) = granted(&answers);
    assert_eq!(granted, 3);
    for refused in refused {
        refused.expect(403);
    }
    assert_eq!(stored(&app, &key).await, 3000);
}

#[tokio::test]
async fn the_quota_of_stored_bytes_is_exact_at_once_on_sqlite() {
    stored_bytes_are_exact_at_once(Setup::default()).await;
}

#[tokio::test]
async fn the_quota_of_stored_bytes_is_exact_at_once_on_postgres() {
    stored_bytes_are_exact_at_once(Setup::on_postgres()).await;
}

async fn apps_are_exact_at_once(setup: Setup) {
    let (app, _, key) = with(setup, "free:apps=3").await;
    let names: Vec<_> = (0..9).map(|number| format!("com.example.app{number}")).collect();
    let answers = futures::future::join_all(names.iter().map(|name| claim(&app, &key, name))).await;
    let (granted, refused) = granted(&answers);
    assert_eq!(granted, 3);
    let full = "This organization has claimed its 3 bundle ids (tier free), including those of deleted apps. Ask the operator to \
                change --quotas or the tier, or to transfer an app to another organization.";
    for refused in refused {
        refused.refused(403, full);
    }
    let used = november(&app, &key).await;
    assert_eq!((&used["apps"], &used["quotas"]["apps"]), (&json!(3), &json!(3)));
}

#[tokio::test]
async fn the_limit_of_apps_is_exact_at_once_on_sqlite() {
    apps_are_exact_at_once(Setup::default()).await;
}

#[tokio::test]
async fn the_limit_of_apps_is_exact_at_once_on_postgres() {
    apps_are_exact_at_once(Setup::on_postgres()).await;
}

/// Deleting an app frees its bundle id for no other organization, so it makes no space; its owner may claim it again.
#[tokio::test]
async fn deleted_apps_stay_claimed_and_can_be_taken_up_again() {
    let (app, _, key) = with(Setup::default(), "free:apps=1").await;
    let first = claim(&app, &key, "com.example.one").await.created();
    app.delete(&key, &format!("/apps?id={}", first.id())).await.ok();
    claim(&app, &key, "com.example.two").await.expect(403);
    claim(&app, &key, "com.Example.One").await.created();
    // An id of another organization is reported before any limit.
    let other = app.key(app.org(Tier::Free).await, &Scope::ALL).await;
    claim(&app, &other, "com.example.theirs").await.created();
    let foreign = claim(&app, &key, "com.example.theirs").await.expect(403);
    assert!(foreign.text("message").contains("belongs to another organization"), "{foreign}");
}

/// Publishing claims a bundle id, and so does the first successful build.
#[tokio::test]
async fn publishes_and_builds_claim_within_the_limit_too() {
    let (app, org, key) = with(Setup::default(), "free:apps=1").await;
    app.published(&key, json!({"bundleId": "com.example.one"})).await;
    app.published(&key, json!({"bundleId": "com.example.one", "version": "1.0.2"})).await;
    app.publish(&key, json!({"bundleId": "com.example.two"})).await.expect(403);
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |build| build.bundle_id = "com.example.built".to_owned()).await;
    app.take(&runner).await.finish(json!({})).await.ok();
    let warnings = app.build(id).await.warnings;
    assert!(warnings.iter().any(|text| text.contains("has claimed its 1 bundle ids")), "{warnings:?}");
    assert_eq!(november(&app, &key).await["apps"], 1);
}

#[tokio::test]
async fn below_the_floor_of_free_space_only_uploads_stop() {
    const FULL: &str =
        "The server's disk is nearly full. The operator has to free up space, or lower --min-free-space.";
    let app = TestApp::with(Setup::on_postgres()).await;
    let (org, key) = app.org_with_key().await;
    let update = app.published(&key, json!({})).await;
    let bytes = package("index.html", b"late");
    let body = json!({"fileName": "late.zip", "size": bytes.len(), "sha256": hex::encode(Sha256::digest(&bytes))});
    let announced = app.post(&key, "/uploads", body).await.created();
    let runner = app.runner(&key, &[]).await;
    app.queue(org, |_| ()).await;
    let leased = app.take(&runner).await;

    // The same service on a disk with less free space than must stay free.
    let full = app.another_node_with(settings!(min_free_space = "1000000000G")).await;
    announce(&full, &key, 1).await.refused(503, FULL);
    let held =
        Held { app: &full, token: &runner.token, id: leased.id.clone(), attempt: leased.attempt, lease: Value::Null };
    held.announce("app.txt", b"a").await.refused(503, FULL);
    held.log(0, "a line\n").await.refused(503, FULL);
    // A link that was signed earlier is refused before a byte is read.
    let path = announced.text("url").strip_prefix(&app.origin).unwrap();
    let put = full.request(Method::PUT, &format!("{}{path}", full.origin)).body(bytes);
    Answer::to(put).await.refused(503, "The disk is full. The operator has to free up space.");

    let offered = full.checked("com.example.app", "currentVersion=1.0.0").await;
    let download = full.request(Method::GET, offered.text("url")).send().await.unwrap();
    assert_eq!(download.status(), 200);
    held.renew().await.ok();
    held.finish(json!({})).await.ok();
    assert_eq!(stored(&full, &key).await, stored(&app, &key).await);
    for (path, id) in [("update", update.id()), ("build", &leased.id)] {
        full.delete(&key, &format!("/{path}?id={id}")).await.ok();
    }
    full.advance(DAY + HOUR);
    clean_up(&full.app).await.unwrap();
    assert_eq!(stored(&full, &key).await, 0);
}
