//! A halt and a cancel take effect within seconds, whatever else the process does: while uploads use all slots, while
//! the submission's own step is running, and while another submission of the same app uploads.

use launchway_domain::id::SubmissionId;
use launchway_domain::platform::Platform;
use launchway_jobs::submissions::Submitter;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::turns::renumbered;
use crate::stage::Stage;
use crate::stage::app_stores::{APK, IPA, counts, id_of, settings_with_encryption_answered};
use crate::support::until;

/// The URLs of upload parts for App Store Connect, and of chunks for Google Play.
const PARTS: &str = "/simulator/parts/";
const CHUNKS: &str = "/simulator/sessions/";

async fn stage() -> Stage {
    Stage::new().app_stores_with(settings_with_encryption_answered()).await
}

/// From here on the job runs in the background until the token is canceled.
fn run(stage: &Stage) -> (JoinHandle<()>, CancellationToken) {
    let stop = CancellationToken::new();
    let running = tokio::spawn(Submitter::new(stage.app.clone(), stop.clone()).run());
    (running, stop)
}

async fn reads(stage: &Stage, id: SubmissionId, status: &str) {
    until(status, async || stage.read(id).await["status"] == status).await;
}

#[tokio::test]
async fn a_halt_does_not_wait_behind_uploads_that_take_every_place() {
    let mut stage = stage().await;
    let fields = json!({"destination": "app_store", "rollout": 1});
    let live = stage.submitted("App.ipa", IPA, fields).await;
    stage.until(live, "rolling_out").await;
    stage.way.slow_down(Some(PARTS));
    for build in ["43", "44", "45", "46", "47"] {
        let bytes = renumbered("1.2.4", build);
        stage.submitted("App.ipa", &bytes, json!({"destination": "testflight"})).await;
    }
    let (running, stop) = run(&stage);
    // The first one was announced by the released version.
    let all_begun = async || stage.ledger().count("upload_announced") == 5 && stage.way.waiting() >= 4;
    until("uploads have taken every place", all_begun).await;
    stage.change(live, json!({"status": "halted"})).await.ok();
    reads(&stage, live, "halted").await;
    assert!(stage.way.waiting() >= 4, "the uploads still wait");
    assert_eq!(counts(&stage.ledger(), ["halted", "upload"]), [1, 1]);
    stage.way.slow_down(None);
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn a_cancel_does_not_wait_for_the_upload_that_it_ends() {
    let stage = stage().await;
    stage.way.slow_down(Some(PARTS));
    let id = stage.submitted("App.ipa", IPA, json!({"destination": "testflight"})).await;
    let (running, stop) = run(&stage);
    until("the upload has begun", async || stage.way.waiting() > 0).await;
    stage.cancel(id).await.ok();
    reads(&stage, id, "canceled").await;
    assert_eq!(counts(&stage.ledger(), ["upload_announced", "upload"]), [1, 0]);
    stop.cancel();
    running.await.unwrap();
}

/// Google Play accepts one edit of an app at a time; the upload restarts after the halt.
#[tokio::test]
async fn a_halt_does_not_wait_for_an_upload_of_the_same_app() {
    let mut stage = stage().await;
    let files: [(&str, &[u8]); 2] = [("app.apk", APK), ("mapping.txt", b"a.b.C -> a")];
    let build = stage.built(Platform::Android, &files).await;
    let body = json!({"buildId": build, "destination": "production", "rollout": 20});
    let live = id_of(&stage.submit(body).await.created());
    stage.until(live, "rolling_out").await;
    stage.way.slow_down(Some(CHUNKS));
    let read = stage.get(&stage.key, &format!("/build?id={build}")).await.ok();
    let artifacts = read["artifacts"].as_array().unwrap();
    let mapping = &artifacts.iter().find(|one| one["name"] == "mapping.txt").unwrap()["id"];
    let symbols = json!([{"kind": "mapping", "artifactId": mapping}]);
    let body = json!({"buildId": build, "destination": "beta", "options": {"symbols": symbols}});
    let next = id_of(&stage.submit(body).await.created());
    let (running, stop) = run(&stage);
    until("the upload has begun", async || stage.way.waiting() > 0).await;
    stage.change(live, json!({"status": "halted"})).await.ok();
    reads(&stage, live, "halted").await;
    stage.way.slow_down(None);
    stop.cancel();
    running.await.unwrap();
    stage.succeeded(next).await;
    assert_eq!(stage.read(live).await["status"], "halted");
}
