//! A survey of a credential: what it finds, that it changes nothing, and what a transcript of it says.

use std::sync::Arc;

use launchway_app_store_simulator::{Fault, Kind, Settings, When};
use launchway_app_stores::survey::{Answer, Question};
use launchway_app_stores::transcript::Recorder;
use launchway_domain::submission::error::SubmissionErrorCode as Code;

use crate::stand::{APP, Stand, settings};

/// Each question with its finding, or with the code of its error.
fn told(answers: &[Answer]) -> Vec<String> {
    let told = answers.iter().map(|answer| {
        let found = match &answer.found {
            Ok(found) => found.clone(),
            Err(error) => error.clone().into_error().code.as_str().to_owned(),
        };
        match answer.track {
            Some(track) => format!("{} {track}: {found}", answer.question.as_str()),
            None => format!("{}: {found}", answer.question.as_str()),
        }
    });
    told.collect()
}

fn recorder(stand: &Stand) -> Arc<Recorder> {
    Arc::new(Recorder::new(stand.transport.clone()))
}

/// The requests that can change something.
fn changes(stand: &Stand) -> Vec<String> {
    let log = stand.simulator.log();
    log.into_iter()
        .filter(|call| !call.starts_with("GET ") && call != "POST /token")
        .collect()
}

#[tokio::test]
async fn a_survey_of_app_store_connect_only_reads() {
    let stand = Stand::new();
    let recorder = recorder(&stand);
    let answers = stand.app_store_over(recorder.clone()).survey(Some(APP)).await;
    let expected = [
        "credential: at least 1 app",
        "app: found",
        "uploads: 0 uploads",
        "builds: 0 builds",
        "groups: 3 groups",
        "versions: 1 version",
        "reviews: 0 submissions",
    ];
    assert_eq!(told(&answers), expected);
    assert_eq!(changes(&stand), [""; 0]);
    assert!(stand.simulator.ledger().entries().is_empty());
}

#[tokio::test]
async fn a_survey_of_google_play_opens_no_edit() {
    let stand = Stand::new();
    let recorder = recorder(&stand);
    let answers = stand.google_play_over(recorder.clone()).survey(Some(APP)).await;
    let expected = [
        "credential: token issued",
        "releases internal: 0 releases",
        "releases alpha: 0 releases",
        "releases beta: 0 releases",
        "releases production: 1 release",
    ];
    assert_eq!(told(&answers), expected);
    assert_eq!(changes(&stand), [""; 0]);
}

#[tokio::test]
async fn a_survey_without_an_app_tries_the_key() {
    let stand = Stand::new();
    let recorder = recorder(&stand);
    let apple = stand.app_store_over(recorder.clone()).survey(None).await;
    let google = stand.google_play_over(recorder.clone()).survey(None).await;
    assert_eq!(told(&apple), ["credential: at least 1 app"]);
    assert_eq!(told(&google), ["credential: token issued"]);
}

#[tokio::test]
async fn a_survey_ends_where_nothing_more_can_be_asked() {
    let stand = Stand::new();
    let recorder = recorder(&stand);
    let unknown = stand
        .app_store_over(recorder.clone())
        .survey(Some("com.example.other"))
        .await;
    assert_eq!(told(&unknown), ["credential: at least 1 app", "app: APP_NOT_FOUND"]);
    let unknown = stand
        .google_play_over(recorder.clone())
        .survey(Some("com.example.other"))
        .await;
    assert_eq!(unknown.len(), 2, "{unknown:?}");
    assert_eq!(unknown[1].question, Question::Releases);

    let refused = Stand::with(Settings {
        accounts: settings().accounts.into_iter().skip(1).collect(),
        ..settings()
    });
    let apple = refused.app_store().survey(Some(APP)).await;
    assert_eq!(told(&apple), ["credential: CREDENTIAL_INVALID"]);
}

#[tokio::test]
async fn a_survey_goes_on_after_a_list_that_failed() {
    let stand = Stand::new();
    stand.simulator.order(Fault {
        when: When::Call(3),
        kind: Kind::Status(503),
    });
    let recorder = recorder(&stand);
    let answers = stand.app_store_over(recorder.clone()).survey(Some(APP)).await;
    let failed: Vec<_> = answers.iter().filter(|answer| answer.found.is_err()).collect();
    assert_eq!(failed.len(), 1, "{answers:?}");
    let error = failed[0].found.clone().unwrap_err().into_error();
    assert_eq!(
        (failed[0].question, error.code),
        (Question::Builds, Code::StoreUnavailable)
    );
    assert_eq!(answers.len(), 7);
}

#[tokio::test]
async fn a_transcript_names_no_app_and_no_key() {
    let stand = Stand::new();
    let recorder = recorder(&stand);
    stand.app_store_over(recorder.clone()).survey(Some(APP)).await;
    stand.google_play_over(recorder.clone()).survey(Some(APP)).await;
    let text = recorder.transcript();
    assert_eq!(text.matches("> ").count(), 12, "{text}");
    for secret in [APP, "example", "simulated-token", "ABCDE12345", "57246542", "Outside"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    for kept in [
        "/v1/apps?filter[bundleId]=<value",
        "/tracks/production/releases",
        "\"appVersionState\": \"READY_FOR_DISTRIBUTION\"",
        "\"releaseLifecycleState\": \"RELEASE_LIFECYCLE_STATE_PUBLISHED\"",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}
