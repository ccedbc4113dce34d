//! Submissions: their calls, and watching one.

use std::time::Duration;

use launchway_api::submissions::{ChangeSubmission, CreateSubmission};
use launchway_client::{Error, Reason, SubmissionFilter};
use launchway_domain::submission::SubmissionStatus::{Processing, Queued, Uploading};
use launchway_domain::submission::destination::KnownDestination;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::{PAGE, client_of};

fn submission(changed: Value) -> Reply {
    let mut submission = json!({
        "id": "submission_1", "status": "queued", "buildId": null, "bundleId": "com.example.app", "platform": "android",
        "store": "google_play", "destination": "beta", "version": null, "buildNumber": null, "rollout": 100,
        "releaseNotes": [], "credentialId": null, "options": {}, "external": {}, "cancelRequested": false, "error": null,
        "events": [], "createdBy": "key_1", "createdAt": "", "finishedAt": null,
    });
    let fields = submission.as_object_mut().expect("an object");
    fields.extend(changed.as_object().expect("an object").clone());
    Reply::new(200, submission.to_string())
}

#[tokio::test]
async fn each_call_goes_where_the_reference_says() {
    let page = json!({"items": [], "total": 0, "limit": 10, "offset": 0}).to_string();
    let server = FakeServer::start([
        submission(json!({})),
        Reply::new(200, page),
        submission(json!({})),
        submission(json!({})),
        submission(json!({})),
        submission(json!({})),
        Reply::new(200, json!({"id": "submission_1", "status": "deleted"}).to_string()),
    ])
    .await;
    let (client, _) = client_of(&server);
    let create = CreateSubmission {
        build_id: Some("build_1".to_owned()),
        destination: KnownDestination::Beta.into(),
        ..CreateSubmission::default()
    };
    client.create_submission(&create).await.expect("it is made");
    let filter = SubmissionFilter {
        build_id: Some("build_1".to_owned()),
        ..SubmissionFilter::default()
    };
    client.submissions(&filter, PAGE).await.expect("a page");
    client.submission("submission_1").await.expect("one");
    let change = ChangeSubmission {
        rollout: Some(50),
        status: None,
    };
    client
        .change_submission("submission_1", &change)
        .await
        .expect("changed");
    client.cancel_submission("submission_1").await.expect("canceled");
    client.retry_submission("submission_1").await.expect("again");
    client.delete_submission("submission_1").await.expect("deleted");
    let lines = [
        "POST /api/submit",
        "GET /api/submit?buildId=build_1&limit=5&offset=10",
        "GET /api/submit?id=submission_1",
        "PATCH /api/submit?id=submission_1",
        "POST /api/submit/cancel?id=submission_1",
        "POST /api/submit/retry?id=submission_1",
        "DELETE /api/submit?id=submission_1",
    ];
    assert_eq!(server.lines(), lines);
    assert_eq!(
        server.seen()[0].json(),
        json!({"buildId": "build_1", "destination": "beta"})
    );
    assert_eq!(server.seen()[3].json(), json!({"rollout": 50}));
}

#[tokio::test]
async fn what_changes_is_told_and_the_pauses_grow_in_between() {
    let uploading = json!({"status": "uploading"});
    let same = || submission(uploading.clone());
    let mut replies = vec![submission(json!({}))];
    replies.extend((0..7).map(|_| same()));
    replies.push(submission(json!({"status": "processing"})));
    let server = FakeServer::start(replies).await;
    let (client, environment) = client_of(&server);
    let mut watching = client.watch_submission("submission_1");
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(watching.next().await.expect("an answer").value.status);
    }
    assert_eq!(told, [Queued, Uploading, Processing]);
    let millis: Vec<u128> = environment
        .pauses()
        .iter()
        .map(|(delay, _)| delay.as_millis())
        .collect();
    assert_eq!(millis, [500, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    assert!(
        environment
            .pauses()
            .iter()
            .all(|(_, reason)| *reason == Reason::Unchanged)
    );
}

#[tokio::test]
async fn a_restarting_server_is_waited_for_and_a_refusing_one_is_not() {
    let down = || Reply::error(503, "Service Unavailable", "The server starts");
    // More failures than one call tolerates.
    let server = FakeServer::start((0..12).map(|_| down()).chain([submission(json!({}))])).await;
    let (client, environment) = client_of(&server);
    let status = client
        .watch_submission("submission_1")
        .next()
        .await
        .map(|answer| answer.value.status);
    assert_eq!(status.expect("an answer"), Queued);
    let waited: Duration = environment.pauses().iter().map(|(delay, _)| *delay).sum();
    assert!(waited < Duration::from_secs(600), "{waited:?}");
    let server = FakeServer::start([Reply::error(404, "Not Found", "There is no such submission")]).await;
    let (client, _) = client_of(&server);
    let refused = client.watch_submission("submission_1").next().await;
    assert!(matches!(refused, Err(Error::Api { status: 404, .. })), "{refused:?}");
}
