//! Public checks are counted for the organization of their bundle, and none is lost.

use std::sync::atomic::{AtomicBool, Ordering};

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::OrgId;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Tier;
use launchway_domain::time::DAY;
use launchway_ops::write::Write;
use launchway_store::StoreError;
use serde_json::json;

use super::{Actor, november, usage};
use crate::stage::BUNDLE;
use crate::support::{Fields, Setup, TestApp};

async fn check(app: &TestApp, times: usize) {
    for _ in 0..times {
        app.checked(BUNDLE, "currentVersion=1.0.0").await;
    }
}

/// Writes the counts of this node.
async fn flush(app: &TestApp) -> Result<(), StoreError> {
    let app = &app.app;
    app.check_counts.flush(&app.db, &app.index, app.clock.now()).await
}

/// The counts of November once all of them are written.
async fn counted(app: &TestApp, key: &str) -> u64 {
    flush(app).await.unwrap();
    november(app, key).await["checks"].as_u64().unwrap()
}

#[tokio::test]
async fn those_of_known_bundles_count_for_their_organization() {
    let (app, key) = TestApp::with_key().await;
    let (_, other) = app.org_with_key().await;
    app.published(&key, json!({})).await;
    app.published(&other, json!({"bundleId": "com.example.other"})).await;
    check(&app, 3).await;
    app.checked("com.Example.APP", "currentVersion=9.0.0").await;
    app.checked("com.example.unknown", "currentVersion=1.0.0").await;
    app.check(BUNDLE, "currentVersion=x").await.expect(400);
    assert_eq!(november(&app, &key).await["checks"], 0, "they wait in memory");
    assert_eq!((counted(&app, &key).await, counted(&app, &other).await), (4, 0));
    check(&app, 2).await;
    assert_eq!(counted(&app, &key).await, 6);
    assert_eq!(counted(&app, &key).await, 6);
}

/// A bundle that offers nothing is known as well.
#[tokio::test]
async fn those_of_a_paused_update_count() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    app.patch(&key, &format!("/update?id={}", update.id()), json!({"status": "paused"})).await.ok();
    check(&app, 2).await;
    assert_eq!(counted(&app, &key).await, 2);
}

#[tokio::test]
async fn they_belong_to_who_has_the_bundle_when_they_are_written() {
    let (app, key) = TestApp::with_key().await;
    let (heir, heirs_key) = heir(&app).await;
    app.published(&key, json!({})).await;
    check(&app, 2).await;
    transfer(&app, heir).await;
    assert_eq!((counted(&app, &key).await, counted(&app, &heirs_key).await), (0, 2));
}

/// Then it is known whom the counters of the bundle belonged to.
#[tokio::test]
async fn a_bundle_that_was_counted_before_counts_for_its_heir() {
    let (app, key) = TestApp::with_key().await;
    let (heir, heirs_key) = heir(&app).await;
    app.published(&key, json!({})).await;
    check(&app, 1).await;
    assert_eq!(counted(&app, &key).await, 1);
    transfer(&app, heir).await;
    check(&app, 2).await;
    assert_eq!((counted(&app, &key).await, counted(&app, &heirs_key).await), (1, 2));
}

/// Its counters are free for another bundle meanwhile.
#[tokio::test]
async fn a_bundle_that_returns_counts_for_who_has_it_then() {
    let (app, key) = TestApp::with_key().await;
    let (heir, heirs_key) = heir(&app).await;
    let update = app.published(&key, json!({})).await;
    check(&app, 1).await;
    assert_eq!(counted(&app, &key).await, 1);
    app.delete(&key, &format!("/update?id={}", update.id())).await.ok();
    for _ in 0..3 {
        flush(&app).await.unwrap();
    }
    transfer(&app, heir).await;
    app.published(&heirs_key, json!({"buildNumber": 2})).await;
    check(&app, 2).await;
    assert_eq!((counted(&app, &key).await, counted(&app, &heirs_key).await), (1, 2));
}

async fn heir(app: &TestApp) -> (OrgId, String) {
    let heir = app.org(Tier::Pro).await;
    (heir, app.key(heir, &Scope::ALL).await)
}

async fn transfer(app: &TestApp, heir: OrgId) {
    let bundle: BundleId = BUNDLE.parse().unwrap();
    let mut write = Write::open(&app.app, heir, Actor::Operator, None).await.unwrap();
    write.touch_updates(&bundle).await.unwrap();
    let now = write.now();
    write.system("a test").transfer_app(&bundle, heir, now).await.unwrap();
    write.commit().await.unwrap();
    app.app.index.catch_up(&app.app.db).await.unwrap();
}

/// A bundle that is read again, one that leaves the index and returns, and a complete reload of the index.
#[tokio::test]
async fn none_is_lost_when_the_index_changes() {
    let (app, org, key) = TestApp::with_org().await;
    let update = app.published(&key, json!({"buildNumber": 1})).await;
    let path = format!("/update?id={}", update.id());
    check(&app, 1).await;
    app.patch(&key, &path, json!({"mandatory": true})).await.ok();
    check(&app, 1).await;
    read_all(&app, org).await;
    check(&app, 1).await;
    app.delete(&key, &path).await.ok();
    check(&app, 1).await;
    assert_eq!(counted(&app, &key).await, 3, "without updates it is unknown");
    app.published(&key, json!({"buildNumber": 2})).await;
    check(&app, 1).await;
    assert_eq!(counted(&app, &key).await, 4);
}

/// Makes the node lag so far behind that it has to read every bundle.
async fn read_all(app: &TestApp, org: OrgId) {
    for _ in 0..2 {
        let mut tx = app.app.db.write().await.unwrap();
        let bundle: BundleId = BUNDLE.parse().unwrap();
        tx.org(org).touch_updates(&bundle, 0).await.unwrap();
        tx.commit().await.unwrap();
    }
    let mut tx = app.app.db.write().await.unwrap();
    tx.system("a test").forget_changes_before(i64::MAX).await.unwrap();
    tx.commit().await.unwrap();
    app.app.index.catch_up(&app.app.db).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_is_lost_while_everything_happens_at_once() {
    let (app, org, key) = TestApp::with_org().await;
    let update = app.published(&key, json!({"rollout": 100})).await;
    let path = format!("/update?id={}", update.id());
    let done = AtomicBool::new(false);
    let checks = async {
        futures::future::join_all((0..8).map(|_| check(&app, 50))).await;
        done.store(true, Ordering::SeqCst);
    };
    let changes = async {
        for rollout in (1..100).cycle() {
            if done.load(Ordering::SeqCst) {
                break;
            }
            let answer = app.patch(&key, &path, json!({"rollout": rollout})).await;
            assert!([200, 429].contains(&answer.status.as_u16()), "{}", answer.text());
            if rollout % 5 == 0 {
                read_all(&app, org).await;
            }
            flush(&app).await.unwrap();
        }
    };
    tokio::join!(checks, changes);
    app.advance(launchway_domain::time::MINUTE);
    assert_eq!(counted(&app, &key).await, 400);
}

/// The database is unavailable, here because another transaction writes for too long.
#[tokio::test]
async fn they_wait_for_the_database_in_the_month_they_were_made() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({})).await;
    check(&app, 2).await;
    let busy = app.app.db.write().await.unwrap();
    flush(&app).await.unwrap_err();
    drop(busy);
    app.advance(20 * DAY);
    check(&app, 1).await;
    assert_eq!(counted(&app, &key).await, 2);
    assert_eq!(usage(&app, &key, "?id=2026-12").await.ok()["checks"], 1);
}

#[tokio::test]
async fn nodes_add_theirs_up() {
    let one = TestApp::with(Setup::on_postgres()).await;
    let (_, key) = one.org_with_key().await;
    one.published(&key, json!({})).await;
    let other = one.another_node().await;
    tokio::join!(check(&one, 5), check(&other, 7));
    let (first, second) = tokio::join!(flush(&one), flush(&other));
    first.unwrap();
    second.unwrap();
    assert_eq!(november(&one, &key).await["checks"], 12);
}
