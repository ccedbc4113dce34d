//! Updates that await their signature: shown, never offered, and changed by no request.

use std::ops::Range;

use launchway_domain::id::OrgId;
use launchway_domain::update::{MAX_AWAITING, Update, UpdateStatus};
use launchway_store::NewUpdate;
use serde_json::{Value, json};

use super::{BUNDLE, of};
use crate::stage::Stage;
use crate::support::{Fields, TestApp};

const CANNOT_CHANGE: &str =
    "An update that awaits its signature cannot be changed. Sign it with launchway update sign, or delete it.";

/// Stores an update with the bytes of another one that awaits its signature. Returns its path in the API.
pub async fn waiting_beside(app: &TestApp, org: OrgId, published: &Value, bundle_id: &str) -> String {
    let build = published.text("buildNumber").parse::<u64>().unwrap() + 1;
    waiting_as(app, org, published, (bundle_id, build..build + 1)).await
}

/// The same with these build numbers; returns the path of the last one.
async fn waiting_as(app: &TestApp, org: OrgId, published: &Value, (bundle_id, builds): (&str, Range<u64>)) -> String {
    let mut tx = app.app.db.write().await.unwrap();
    let mut rows = tx.org(org);
    let source = rows.update(published.id().parse().unwrap()).await.unwrap().unwrap();
    let bundle = bundle_id.parse().unwrap();
    rows.touch_updates(&bundle, 0).await.unwrap();
    let mut path = String::new();
    for build in builds {
        let update = Update {
            id: app.app.random.id(app.app.clock.now()),
            status: UpdateStatus::AwaitingSignature,
            bundle_id: bundle_id.to_owned(),
            build_number: build.to_string().parse().unwrap(),
            trust_role: Some("c-production".to_owned()),
            created_at: app.app.clock.now(),
            ..source.clone()
        };
        assert!(rows.create_update(&NewUpdate { update: &update, bundle: &bundle }).await.unwrap());
        path = format!("/update?id={}", update.id);
    }
    tx.commit().await.unwrap();
    app.app.index.catch_up(&app.app.db).await.unwrap();
    path
}

#[tokio::test]
async fn an_update_that_waits_is_shown_and_never_offered() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let published = app.published(&key, json!({})).await;
        let waiting = waiting_beside(&app, org, &published, BUNDLE).await;
        assert_eq!(app.get(&key, &waiting).await.ok()["status"], "awaiting_signature");
        for (query, paths) in [
            ("status=awaiting_signature", vec![waiting.clone()]),
            ("status=withdrawn", vec![]),
            ("status=published", vec![of(&published)]),
        ] {
            let page = app.get(&key, &format!("/update?{query}")).await.ok();
            let listed: Vec<_> = page["items"].as_array().unwrap().iter().map(of).collect();
            assert_eq!(listed, paths, "{query}");
            assert_eq!(page["total"], paths.len(), "{query}");
        }
        let offered = app.checked(BUNDLE, "currentVersion=1.0.0&platform=android&deviceId=a").await;
        assert_eq!(offered["id"], published["id"]);
    }
}

#[tokio::test]
async fn an_app_whose_updates_all_wait_has_none() {
    let (app, org, key) = TestApp::with_org().await;
    let published = app.published(&key, json!({})).await;
    waiting_beside(&app, org, &published, "com.example.waiting").await;
    let of_nothing = app.check("com.example.nothing", "currentVersion=1.0.0").await;
    let of_waiting = app.check("com.example.waiting", "currentVersion=1.0.0").await;
    assert_eq!((of_waiting.status, of_waiting.text()), (of_nothing.status, of_nothing.text()));
}

#[tokio::test]
async fn no_request_ends_the_wait_but_deletion() {
    let (app, org, key) = TestApp::with_org().await;
    let published = app.published(&key, json!({})).await;
    let waiting = waiting_beside(&app, org, &published, BUNDLE).await;
    for change in [
        json!({"status": "published"}),
        json!({"status": "paused"}),
        json!({"status": "withdrawn"}),
        json!({"status": "awaiting_signature"}),
        json!({"releaseNotes": "new"}),
        json!({"rollout": 100}),
        json!({}),
    ] {
        app.patch(&key, &waiting, &change).await.refused(400, CANNOT_CHANGE);
    }
    let begins = app.patch(&key, &of(&published), json!({"status": "awaiting_signature"})).await;
    begins.refused(400, "status must be published, paused or withdrawn");
    assert_eq!(app.get(&key, &waiting).await.ok()["status"], "awaiting_signature");
    let (_, stranger) = app.org_with_key().await;
    app.delete(&stranger, &waiting).await.refused(404, "No update has this id");
    app.advance(1);
    app.delete(&key, &waiting).await.ok();
    app.get(&key, &waiting).await.refused(404, "No update has this id");
    let kinds: Vec<_> = app.events(org).await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["update.published", "update.withdrawn"]);
}

#[tokio::test]
async fn a_hundred_await_a_signature_of_one_role() {
    let stage = Stage::new().await;
    let fields = json!({"bundleId": "com.example.source", "configuration": "production"});
    let source = stage.published(&stage.key, fields).await;
    let _developers = stage.developers(&["production", "staging"]).await;
    waiting_as(&stage, stage.org, &source, (BUNDLE, 1..MAX_AWAITING as u64)).await;
    let unsigned = async |configuration: &str, build: u64| {
        let fields = json!({"bundleId": BUNDLE, "configuration": configuration, "buildNumber": build});
        stage.publish(&stage.key, fields).await
    };
    assert_eq!(unsigned("production", 1000).await.created()["status"], "awaiting_signature");
    let too_many = "100 updates already await a signature of `c-production`. Sign them with launchway update sign, or delete some.";
    unsigned("production", 1001).await.refused(400, too_many);
    assert_eq!(unsigned("staging", 1001).await.created()["status"], "awaiting_signature");
}
