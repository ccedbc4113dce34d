//! What time does to signed updates: renewals, notices of expiry, and the end of a wait that was too long.

use std::sync::Arc;

use launchway_domain::id::OrgId;
use launchway_domain::time::{DAY, EpochMs, iso};
use launchway_jobs::clean_up::clean_up;
use launchway_jobs::online_roles::renew;
use launchway_ops::master_key_rotation;
use launchway_ops::trust::notices::send;
use launchway_outbound::resolver::SystemResolver;
use launchway_store::{NewTrustFile, TrustRepository};
use reqwest::Method;
use serde_json::{Value, json};

use crate::stage::{BUNDLE, Stage};
use crate::support::{Fields, START, TestApp};
use crate::update::waiting::waiting_beside;

const REPOSITORY: &str = "0123456789abcdef0123456789abcdef";

#[tokio::test]
async fn an_update_that_nobody_signs_is_withdrawn_after_a_month() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let published = app.published(&key, json!({})).await;
        let waiting = waiting_beside(&app, org, &published, BUNDLE).await;
        app.advance(30 * DAY);
        clean_up(&app.app).await.unwrap();
        assert_eq!(app.get(&key, &waiting).await.ok()["status"], "awaiting_signature");
        app.advance(1);
        for _ in 0..2 {
            clean_up(&app.app).await.unwrap();
            assert_eq!(app.get(&key, &waiting).await.ok()["status"], "withdrawn");
        }
        let kinds: Vec<_> = app.events(org).await.into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["update.published", "update.withdrawn"]);
        let line = app.audit(org).await.pop().unwrap();
        assert_eq!((&*line.actor, &*line.action), ("service", "update.withdraw"));
        let offered = app.checked(BUNDLE, "currentVersion=1.0.0&platform=android&deviceId=a").await;
        assert_eq!(offered["id"], published["id"]);
    }
}

#[tokio::test]
async fn a_withdrawn_update_leaves_the_draft_of_its_role() {
    let stage = Stage::new().await;
    stage.developers(&["production"]).await;
    let unsigned = json!({"bundleId": BUNDLE, "configuration": "production"});
    let first = stage.published(&stage.key, unsigned.clone()).await;
    stage.advance(29 * DAY);
    let second = stage.published(&stage.key, unsigned).await;
    let draft = async || stage.get(&stage.key, &format!("/trust/drafts?bundleId={BUNDLE}")).await.ok();
    let ids = draft().await["items"][0]["updateIds"].as_array().unwrap().len();
    assert_eq!(ids, 2);
    stage.advance(DAY + 1);
    clean_up(&stage.app).await.unwrap();
    assert_eq!(stage.get(&stage.key, &format!("/update?id={}", first.id())).await.ok()["status"], "withdrawn");
    assert_eq!(draft().await["items"][0]["updateIds"], json!([second["id"]]));
    stage.advance(29 * DAY);
    clean_up(&stage.app).await.unwrap();
    assert_eq!(draft().await["total"], 0);
}

/// `targets` that delegates to `c-production` alone.
fn targets() -> String {
    let role = json!({
        "name": "c-production", "keyids": [], "threshold": 1, "terminating": true, "paths": ["c-production/*/*"],
    });
    let signed = json!({
        "_type": "targets", "spec_version": "1.0.31", "version": 1, "expires": "2027-11-20T10:00:00Z", "targets": {},
        "delegations": {"keys": {}, "roles": [role]},
    });
    json!({"signatures": [], "signed": signed}).to_string()
}

fn repository(bundle_id: &str) -> TrustRepository {
    TrustRepository {
        bundle_id: bundle_id.to_owned(),
        repository: REPOSITORY.to_owned(),
        root_version: 1,
        snapshot_version: 1,
        timestamp_version: 1,
        online_key_id: "ab".repeat(32),
        other_formats: false,
        began_at: START,
        changed_at: START,
    }
}

/// Gives an app a root, and these versions of roles that expire so many days after the start.
pub async fn with_roles(app: &TestApp, org: OrgId, roles: &[(&str, u64, EpochMs)]) {
    let bundle = BUNDLE.parse().unwrap();
    let mut tx = app.app.db.write().await.unwrap();
    let mut rows = tx.org(org);
    assert!(rows.put_trust_repository(&bundle, &repository(BUNDLE)).await.unwrap());
    for (role, version, days) in roles {
        let file = NewTrustFile {
            bundle: &bundle,
            repository: REPOSITORY,
            role,
            version: *version,
            content: &targets(),
            expires_at: START + days * DAY,
            accepted_at: app.app.clock.now(),
            accepted_by: "key_x",
        };
        rows.add_trust_file(&file).await.unwrap();
    }
    tx.commit().await.unwrap();
}

/// The notices so far: role, version and end.
async fn notices(app: &TestApp, org: OrgId) -> Vec<Value> {
    let events = app.events(org).await.into_iter();
    events.filter(|(kind, _)| kind == "trust.expiring").map(|(_, data)| data).collect()
}

fn notice(role: &str, version: u64, days: i64) -> Value {
    json!({"bundleId": BUNDLE, "role": role, "version": version, "expiresAt": iso(START + days * DAY)})
}

#[tokio::test]
async fn the_end_of_a_role_is_told_twice() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        app.post(&key, "/apps", json!({"bundleId": BUNDLE})).await.created();
        let roles =
            [("root", 1, 365), ("targets", 1, 300), ("c-production", 1, 180), ("snapshot", 1, 7), ("timestamp", 1, 7)];
        with_roles(&app, org, &roles).await;
        let mut day = 0;
        for (to, sent) in [(149, 0), (150, 1), (151, 0), (172, 0), (173, 1), (174, 0), (181, 0)] {
            app.advance((to - day) * DAY);
            day = to;
            assert_eq!(send(&app.app).await.unwrap(), sent, "on day {to}");
        }
        let told = notice("c-production", 1, 180);
        assert_eq!(notices(&app, org).await, [told.clone(), told]);
        // A new version begins anew. The notices about other roles come as they are due; a missed one is not sent later.
        with_roles(&app, org, &[("c-production", 2, 360)]).await;
        app.advance((331 - day) * DAY);
        assert_eq!(send(&app.app).await.unwrap(), 2);
        let later = notices(&app, org).await.split_off(2);
        let wanted = [notice("targets", 1, 300), notice("c-production", 2, 360)];
        assert!(later.len() == 2 && wanted.iter().all(|notice| later.contains(notice)), "{later:?}");
        assert_eq!(send(&app.app).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn the_end_of_a_role_that_ends_soon_is_told_at_once() {
    let (app, org, key) = TestApp::with_org().await;
    app.post(&key, "/apps", json!({"bundleId": BUNDLE})).await.created();
    with_roles(&app, org, &[("targets", 1, 300), ("root", 4, 10)]).await;
    assert_eq!(send(&app.app).await.unwrap(), 1);
    assert_eq!(notices(&app, org).await, [notice("root", 4, 10)]);
}

/// `targets` names it no more, so no phone asks for it.
#[tokio::test]
async fn the_end_of_a_role_that_was_removed_is_not_told() {
    let (app, org, key) = TestApp::with_org().await;
    app.post(&key, "/apps", json!({"bundleId": BUNDLE})).await.created();
    with_roles(&app, org, &[("targets", 1, 300), ("c-staging", 3, 20), ("c-production", 3, 20)]).await;
    assert_eq!(send(&app.app).await.unwrap(), 1);
    assert_eq!(notices(&app, org).await, [notice("c-production", 3, 20)]);
    app.advance(20 * DAY);
    assert_eq!(send(&app.app).await.unwrap(), 1);
    assert_eq!(notices(&app, org).await.len(), 2);
}

/// The timestamp that phones get: its version and when it expires.
async fn timestamp(stage: &Stage) -> (u64, String) {
    let served =
        stage.request(Method::GET, &format!("{}/tuf/{BUNDLE}/timestamp.json", stage.origin)).send().await.unwrap();
    let served: Value = serde_json::from_slice(&served.bytes().await.unwrap()).unwrap();
    (served["signed"]["version"].as_u64().unwrap(), served["signed"]["expires"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn what_the_server_signs_is_renewed_at_half_of_its_life() {
    let stage = Stage::new().await;
    stage.developers(&["production"]).await;
    let first = timestamp(&stage).await;
    assert_eq!(first.1, "2026-11-27T10:00:00Z");
    // An app that cannot be renewed, and is the first to expire, holds nobody up.
    broken(&stage, "com.example.broken").await;
    stage.advance(7 * DAY / 2);
    assert_eq!(renew(&stage.app).await.unwrap(), 0);
    assert_eq!(timestamp(&stage).await, first);
    stage.advance(1);
    assert_eq!(renew(&stage.app).await.unwrap(), 1);
    let second = timestamp(&stage).await;
    assert!(second.0 > first.0, "{second:?}");
    assert_eq!(second.1, "2026-11-30T22:00:00Z", "in whole seconds");
    assert_eq!(renew(&stage.app).await.unwrap(), 0, "it is done once");
    stage.advance(30 * DAY);
    assert_eq!(renew(&stage.app).await.unwrap(), 1, "after the server was off for long");
    assert_eq!(timestamp(&stage).await.1, "2026-12-30T22:00:00Z");
}

/// A rotation seals the keys of organizations again, under which the server's keys stay sealed.
#[tokio::test]
async fn a_new_master_key_opens_the_servers_keys_of_apps() {
    let stage = Stage::new().await;
    stage.developers(&["production"]).await;
    let before = timestamp(&stage).await;
    master_key_rotation::rotate(&stage.app).await.unwrap();
    let started = TestApp::open(stage.app.config.clone(), None, Arc::new(SystemResolver), None).await;
    started.advance(4 * DAY);
    assert_eq!(renew(&started.app).await.unwrap(), 1);
    stage.app.index.catch_up(&stage.app.db).await.unwrap();
    assert!(timestamp(&stage).await.0 > before.0);
}

/// An app whose metadata is damaged, and whose timestamp is about to expire.
async fn broken(stage: &Stage, bundle_id: &str) {
    stage.post(&stage.key, "/apps", json!({"bundleId": bundle_id})).await.created();
    let bundle = bundle_id.parse().unwrap();
    let mut tx = stage.app.db.write().await.unwrap();
    let mut rows = tx.org(stage.org);
    assert!(rows.put_trust_repository(&bundle, &repository(bundle_id)).await.unwrap());
    let file = NewTrustFile {
        bundle: &bundle,
        repository: REPOSITORY,
        role: "timestamp",
        version: 1,
        content: "damaged",
        expires_at: START,
        accepted_at: START,
        accepted_by: "service",
    };
    rows.add_trust_file(&file).await.unwrap();
    tx.commit().await.unwrap();
}
