//! Changes of a submission: rollouts changed, halted and resumed; canceled, deleted, retried.

use launchway_app_store_simulator::{Fault, Kind, When};
use launchway_domain::id::SubmissionId;
use launchway_domain::platform::Platform;
use launchway_domain::submission::Submission;
use launchway_os::clock::Clock;
use reqwest::Method;
use serde_json::json;

use crate::stage::Stage;
use crate::stage::app_stores::{APK, IPA, counts, id_of, settings};
use crate::stage::builds::stored;
use crate::support::Fields;

async fn staged(stage: &mut Stage) -> SubmissionId {
    let fields = json!({"destination": "production", "rollout": 20, "options": {"countries": ["DE", "FR"]}});
    let id = stage.submitted("app.apk", APK, fields).await;
    let record = stage.until(id, "rolling_out").await;
    assert_eq!(record.state.status.as_str(), "rolling_out", "{record:#?}");
    id
}

#[tokio::test]
async fn a_staged_release_is_raised_halted_resumed_and_completed() {
    let mut stage = Stage::new().app_stores().await;
    let id = staged(&mut stage).await;
    for (change, status, rollout) in [
        (json!({"rollout": 50}), "rolling_out", 50),
        (json!({"status": "halted"}), "halted", 50),
        (json!({"status": "rolling_out"}), "rolling_out", 50),
        (json!({"rollout": 100}), "success", 100),
    ] {
        stage.change(id, change.clone()).await.ok();
        let done = |record: &Submission| {
            record.state.status.as_str() == status && record.rollout == rollout && record.change.is_none()
        };
        stage.until_so(id, done).await;
        let view = stage.read(id).await;
        assert_eq!((&view["status"], &view["rollout"]), (&json!(status), &json!(rollout)), "{change}: {view:#}");
    }
    assert_eq!(counts(&stage.ledger(), ["upload", "commit", "release"]), [1, 5, 1]);
    stage
        .change(id, json!({"rollout": 100}))
        .await
        .refused(400, "The submission is success. Only a release that is rolling_out or halted can be changed.");
}

#[tokio::test]
async fn a_phased_release_is_halted_resumed_and_ended() {
    let mut stage = Stage::new().app_stores().await;
    let fields = json!({"destination": "app_store", "rollout": 1, "options": {"usesNonExemptEncryption": false}});
    let id = stage.submitted("App.ipa", IPA, fields).await;
    stage
        .change(id, json!({"status": "halted"}))
        .await
        .refused(400, "The submission is queued. Only a release that is rolling_out or halted can be changed.");
    stage.until(id, "rolling_out").await;
    stage
        .change(id, json!({"rollout": 50}))
        .await
        .refused(400, "rollout: the App Store's phased release can only be ended, with 100");
    for (change, status) in [
        (json!({"status": "halted"}), "halted"),
        (json!({"status": "rolling_out"}), "rolling_out"),
        (json!({"rollout": 100}), "success"),
    ] {
        stage.change(id, change.clone()).await.ok();
        stage.work().await;
        let view = stage.read(id).await;
        assert_eq!(view["status"], status, "{change}: {view:#}");
    }
    assert_eq!(stage.read(id).await["rollout"], 100);
    assert_eq!(counts(&stage.ledger(), ["halted", "resumed", "completed", "release"]), [1, 1, 1, 1]);
}

#[tokio::test]
async fn an_approved_version_waits_until_somebody_releases_it() {
    let mut stage = Stage::new().app_stores().await;
    let options = json!({"usesNonExemptEncryption": false, "manualRelease": true});
    let id = stage.submitted("App.ipa", IPA, json!({"destination": "app_store", "options": options})).await;
    stage.until(id, "in_review").await;
    // The review takes some time; then the submission waits indefinitely.
    for _ in 0..10 {
        stage.advance(600_000);
        stage.work().await;
    }
    assert_eq!((stage.read(id).await["status"].as_str(), stage.ledger().count("release")), (Some("in_review"), 0));
    stage
        .change(id, json!({"rollout": 100}))
        .await
        .refused(400, "The version is not released yet. Set status to rolling_out to release it once it is approved.");
    stage.change(id, json!({"status": "rolling_out"})).await.ok();
    stage.succeeded(id).await;
    assert_eq!(counts(&stage.ledger(), ["release_request", "release"]), [1, 1]);
}

#[tokio::test]
async fn a_release_may_be_asked_for_before_the_approval() {
    for early in ["queued", "in_review"] {
        let mut stage = Stage::new().app_stores().await;
        let options = json!({"usesNonExemptEncryption": false, "manualRelease": true});
        let id = stage.submitted("App.ipa", IPA, json!({"destination": "app_store", "options": options})).await;
        if early != "queued" {
            stage.until(id, early).await;
        }
        stage.change(id, json!({"status": "rolling_out"})).await.ok();
        stage.until(id, "in_review").await;
        let view = stage.read(id).await;
        assert!(view["events"].to_string().contains("as soon as it is approved"), "{early}: {view:#}");
        assert_eq!(counts(&stage.ledger(), ["release_request", "release"]), [0, 0], "{early}");
        stage.succeeded(id).await;
        assert_eq!(counts(&stage.ledger(), ["release_request", "release"]), [1, 1], "{early}");
    }
}

#[tokio::test]
async fn a_cancel_waits_only_for_the_store_to_let_go() {
    let mut stage = Stage::new().app_stores().await;
    let build = stage.built(Platform::Ios, &[("App.ipa", IPA)]).await;
    let body = json!({"buildId": build, "destination": "app_store", "options": {"usesNonExemptEncryption": false}});
    let waiting = id_of(&stage.submit(body.clone()).await.created());
    let path = format!("/submit/cancel?id={waiting}");
    let view = stage.post(&stage.key, &path, ()).await.ok();
    assert_eq!((&view["status"], view["finishedAt"].is_string()), (&json!("canceled"), true));
    assert_eq!(stored(&stage, "submissions").await, Vec::<String>::new());
    stage.post(&stage.key, &path, ()).await.refused(400, "The submission is canceled and can no longer be changed");
    let reviewed = id_of(&stage.submit(body).await.created());
    stage.until(reviewed, "in_review").await;
    let path = format!("/submit/cancel?id={reviewed}");
    for _ in 0..2 {
        let view = stage.post(&stage.key, &path, ()).await.ok();
        view.has(json!({"status": "in_review", "cancelRequested": true}));
    }
    stage.ended(reviewed).await.has(json!({"status": "canceled", "cancelRequested": false}));
    assert_eq!(counts(&stage.ledger(), ["review_canceled", "release"]), [1, 0]);
    let retry = stage.retry(reviewed).await;
    retry.refused(400, "The submission is canceled. Only a failed or rejected submission can be retried.");
    let events = stage.events(stage.org).await;
    let own = events.iter().filter(|(kind, _)| kind.starts_with("submission."));
    assert_eq!(own.count(), 1, "that the second one began: {events:?}");
}

#[tokio::test]
async fn what_users_have_is_not_canceled() {
    let mut stage = Stage::new().app_stores().await;
    let id = staged(&mut stage).await;
    stage.cancel(id).await.refused(400, "The submission is already released. Halt its rollout instead.");
}

#[tokio::test]
async fn a_deleted_submission_is_canceled_in_its_store_and_gone() {
    let mut stage = Stage::new().app_stores().await;
    let fields = json!({"destination": "app_store", "options": {"usesNonExemptEncryption": false}});
    let id = stage.submitted("App.ipa", IPA, fields).await;
    stage.until(id, "in_review").await;
    let path = format!("/submit?id={id}");
    let gone = stage.delete(&stage.key, &path).await.ok();
    assert_eq!(gone, json!({"id": id.to_string(), "status": "deleted"}));
    for method in [Method::DELETE, Method::GET] {
        stage.send(&stage.key, method, &path, ()).await.refused(404, "No submission has this id");
    }
    assert_eq!(stage.get(&stage.key, "/submit").await.ok()["total"], 0);
    while let Some(record) = stage.record(id).await {
        let wait = record.work.due_at.expect("its work goes on") - stage.clock.now();
        stage.advance(wait.max(0));
        stage.work().await;
    }
    assert_eq!(counts(&stage.ledger(), ["review_canceled", "release"]), [1, 0]);
    assert_eq!(stored(&stage, "submissions").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_deleted_submission_that_waits_or_is_over_leaves_nothing() {
    let mut stage = Stage::new().app_stores().await;
    let waiting = stage.submitted("app.apk", APK, json!({"destination": "internal"})).await;
    let released = staged(&mut stage).await;
    for id in [waiting, released] {
        stage.delete(&stage.key, &format!("/submit?id={id}")).await.ok();
        assert_eq!(stage.record(id).await, None);
    }
    assert_eq!(stored(&stage, "submissions").await, Vec::<String>::new());
    let actions: Vec<String> = stage.audit(stage.org).await.into_iter().map(|line| line.action).collect();
    let of = |action: &str| actions.iter().filter(|known| *known == action).count();
    assert_eq!((of("submission.create"), of("submission.delete")), (2, 2));
}

#[tokio::test]
async fn a_change_that_the_store_refuses_leaves_the_release_as_it_is() {
    let mut stage = Stage::new().app_stores().await;
    let id = staged(&mut stage).await;
    stage.stores().order(Fault {
        when: When::Matching { method: "PUT".into(), path: "/tracks/".into(), times: 1 },
        kind: Kind::Status(403),
    });
    stage.change(id, json!({"rollout": 60})).await.ok();
    stage.work().await;
    let view = stage.read(id).await;
    view.has(json!({"status": "rolling_out", "rollout": 20, "error": null}));
    assert!(view["events"].to_string().contains("The change failed"), "{view:#}");
    stage.change(id, json!({"rollout": 100})).await.ok();
    stage.ended(id).await.has(json!({"status": "success", "rollout": 100}));
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_asked_again_for_a_day() {
    let mut stage = Stage::new().app_stores().await;
    stage.stores().order(Fault {
        when: When::Matching { method: "POST".into(), path: "/edits".into(), times: 1000 },
        kind: Kind::Status(503),
    });
    let id = stage.submitted("app.apk", APK, json!({"destination": "internal"})).await;
    let failed = stage.ended(id).await;
    assert_eq!(
        (&failed["status"], &failed["error"]["code"], &failed["error"]["retryable"]),
        (&json!("failed"), &json!("STORE_UNAVAILABLE"), &json!(true)),
        "{failed:#}"
    );
    assert!(failed["events"].to_string().contains("The step is retried"), "{failed:#}");
    stage.open_stores(settings());
    stage.retry(id).await.ok();
    assert_eq!(stage.ended(id).await["status"], "success");
}
