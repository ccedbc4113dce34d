//! Several nodes share the work; when one stops, the others take over.

use std::time::Duration;

use launchway_domain::platform::Platform;
use launchway_jobs::submissions::Submitter;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::stage::Stage;
use crate::stage::app_stores::{APK, IPA, counts, id_of};
use crate::support::{Setup, until};

async fn two_at_once(setup: Setup) {
    let mut stage = Stage::new().with(setup).app_stores().await;
    let (app, ipa) = (
        stage.built(Platform::Android, &[("app.apk", APK)]).await,
        stage.built(Platform::Ios, &[("App.ipa", IPA)]).await,
    );
    let mut made = Vec::new();
    for body in [
        json!({"buildId": app, "destination": "internal"}),
        json!({"buildId": ipa, "destination": "testflight", "options": {"usesNonExemptEncryption": false}}),
        json!({"buildId": app, "destination": "friends"}),
    ] {
        made.push(id_of(&stage.submit(body).await.created()));
    }
    let node = || Submitter::new(stage.app.clone(), CancellationToken::new());
    let (mut one, mut other) = (node(), node());
    // Long enough for every step of every flow, including each wait for a store.
    for _ in 0..60 {
        let (first, second) = tokio::join!(one.work_due(), other.work_due());
        first.unwrap();
        second.unwrap();
        stage.advance(600_000);
    }
    for id in made {
        stage.succeeded(id).await;
    }
    let ledger = stage.ledger();
    assert_eq!(counts(&ledger, ["upload", "build", "commit", "release"]), [2, 1, 2, 2], "{ledger:?}");
}

#[tokio::test]
async fn two_nodes_do_each_thing_once() {
    two_at_once(Setup::default()).await;
}

#[tokio::test]
async fn on_postgres_too() {
    two_at_once(Setup::on_postgres()).await;
}

#[tokio::test]
async fn a_stopping_node_ends_its_step_and_leaves_the_rest() {
    let mut stage = Stage::new().app_stores().await;
    let fields = json!({"destination": "testflight", "options": {"usesNonExemptEncryption": false}});
    let id = stage.submitted("App.ipa", IPA, fields).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(Submitter::new(stage.app.clone(), stop.clone()).run());
    until("the node has begun", async || stage.calls() > 0).await;
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(60), running).await.unwrap().unwrap();
    let record = stage.record(id).await.unwrap();
    assert!(!record.state.status.is_final());
    // Nobody has claimed it: it is due as soon as the store is done, without waiting for a claim to expire.
    assert_eq!(stage.ended(id).await["status"], "success");
    assert!(stage.record(id).await.unwrap().work.claim > 1);
    assert_eq!(counts(&stage.ledger(), ["upload", "build"]), [1, 1]);
}

/// A claim without renewals expires, and later writes under it are refused.
#[tokio::test]
async fn a_step_that_is_told_too_late_changes_nothing() {
    use launchway_ops::submissions::report::{self, LEASE, Report};
    let stage = Stage::new().app_stores().await;
    let id = stage.submitted("app.apk", APK, json!({"destination": "internal"})).await;
    let claim = async || {
        let now = launchway_os::clock::Clock::now(&*stage.clock);
        let mut tx = stage.app.db.write().await.unwrap();
        let claimed = tx.system("a test").claim_submission(id, now, now + LEASE).await.unwrap();
        tx.commit().await.unwrap();
        claimed
    };
    let late = claim().await.expect("it is due");
    assert_eq!(claim().await, None);
    stage.advance(LEASE);
    let present = claim().await.expect("the first claim has lapsed");
    let result = || Report { message: Some("Something.".to_owned()), ..Report::default() };
    assert_eq!(report::record(&stage.app, &late, result(), true).await.unwrap(), None);
    assert_eq!(stage.record(id).await.unwrap().events.len(), 1);
    let kept = report::record(&stage.app, &present, result(), true).await.unwrap();
    assert_eq!(kept.unwrap().events.len(), 2);
}
