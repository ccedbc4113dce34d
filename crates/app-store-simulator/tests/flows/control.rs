//! The control API of the simulator over HTTP.

use launchway_app_store_simulator::Settings;
use launchway_app_stores::Clock;
use launchway_app_stores::app_store::AppStoreConnect;
use launchway_app_stores::app_store::webhook::{Event, WebhookSecret};
use launchway_app_stores::google_play::GooglePlay;
use launchway_app_stores::release::EarlierSubmissions;
use launchway_app_stores::transport::{Body, Method, Request, Transport};
use launchway_domain::submission::SubmissionStatus::{Rejected, Success};
use serde_json::{Value, json};

use crate::app_store::{phased, testflight};
use crate::driver::to_end;
use crate::faults::quick;
use crate::over_http::stand_with;
use crate::stand::{NOW, Stand, release};
use crate::used_numbers::kept;

/// Sends a control request. Returns its status and response.
async fn control(stand: &Stand, method: Method, path: &str, body: Value) -> (u16, Value) {
    let mut request = Request::new(method, format!("{}/simulator{path}", stand.address));
    if !body.is_null() {
        request = request.body(Body::Bytes(body.to_string().into()));
    }
    let answer = stand.transport.send(request).await.unwrap();
    (answer.status, serde_json::from_slice(&answer.body).unwrap_or_default())
}

#[tokio::test]
async fn faults_and_rejections_are_ordered_and_the_ledger_is_read() {
    let (stand, _serving) = stand_with(quick()).await;
    for fault in [
        json!({"kind": "status", "status": 503, "method": "POST", "path": "/v1/buildUploads"}),
        json!({"kind": "lost", "path": "/v1/appStoreVersions", "times": 2}),
        json!({"kind": "too_many", "seconds": 60}),
    ] {
        assert_eq!(control(&stand, Method::Post, "/faults", fault).await.0, 200);
    }
    let reviews = json!({"outcomes": ["pass"], "otherwise": "reject"});
    assert_eq!(control(&stand, Method::Post, "/reviews", reviews).await.0, 200);
    let ended = to_end::<AppStoreConnect>(&stand, &phased()).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let mut wanted = release(launchway_domain::platform::Platform::Android, "beta", 42, 1_000);
    wanted.notes.clear();
    let ended = to_end::<GooglePlay>(&stand, &wanted).await;
    assert_eq!(ended.status, Rejected, "{ended:?}");
    let (_, ledger) = control(&stand, Method::Get, "/ledger", Value::Null).await;
    let count = |what: &str| {
        let entries = ledger["entries"].as_array().unwrap().iter();
        entries.filter(|entry| entry["what"] == what).count()
    };
    assert_eq!(
        (count("upload"), count("release"), count("commit")),
        (2, 1, 1),
        "{ledger}"
    );
    let (_, calls) = control(&stand, Method::Get, "/calls", Value::Null).await;
    let calls = calls["calls"].as_array().unwrap();
    // Control requests do not reach the app stores.
    assert!(
        calls.iter().all(|call| !call.as_str().unwrap().contains("/faults")),
        "{calls:?}"
    );
    control(&stand, Method::Post, "/reset", Value::Null).await;
    let (_, ledger) = control(&stand, Method::Get, "/ledger", Value::Null).await;
    assert_eq!(ledger, json!({"entries": []}));
}

#[tokio::test]
async fn the_time_in_the_stores_is_its_own() {
    let speed = 60;
    let (stand, _serving) = stand_with(Settings { speed, ..quick() }).await;
    let now = async || control(&stand, Method::Get, "/clock", Value::Null).await.1["clock"]["now"].clone();
    assert_eq!(now().await, "2026-11-21T10:00:00.000Z");
    stand.clock.set(NOW + 1_000);
    assert_eq!(now().await, "2026-11-21T10:01:00.000Z");
    let change = json!({"advanceSeconds": 3600, "speed": 1});
    control(&stand, Method::Post, "/clock", change).await;
    stand.clock.set(NOW + 2_000);
    assert_eq!(now().await, "2026-11-21T11:01:01.000Z");
    // Tokens live in real time, so a client with the right time is let in.
    control(&stand, Method::Post, "/clock", json!({"advanceSeconds": 86400})).await;
    let ended = to_end::<AppStoreConnect>(&stand, &phased()).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    assert!(stand.clock.now() > NOW);
}

#[tokio::test]
async fn what_cannot_be_ordered_is_refused_with_a_sentence() {
    let (stand, _serving) = stand_with(quick()).await;
    for (path, body, words) in [
        ("/faults", json!({"kind": "sharks"}), "kind must be one of"),
        ("/faults", json!({"kind": "status"}), "status needs status, 200 to 599"),
        ("/faults", json!({"kind": "cut", "when": 3}), "unknown field `when`"),
        ("/reviews", json!({"outcomes": ["maybe"]}), "unknown variant `maybe`"),
        ("/clock", json!({"advanceSeconds": -1}), "never put back"),
        ("/clock", json!({"speed": 0}), "speed must be 1 to"),
        ("/faults", Value::Null, "cannot be read"),
    ] {
        let (status, answer) = control(&stand, Method::Post, path, body).await;
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(status == 400 && message.contains(words), "{path} {status} {answer}");
    }
    assert_eq!(control(&stand, Method::Get, "/sharks", Value::Null).await.0, 404);
}

#[tokio::test]
async fn webhook_events_tell_when_it_is_worth_to_look() {
    let (stand, _serving) = stand_with(quick()).await;
    assert!(stand.simulator.take_deliveries().is_empty());
    let webhook = json!({"url": "http://127.0.0.1:1/events", "secret": "shared"});
    assert_eq!(control(&stand, Method::Post, "/webhook", webhook).await.0, 200);
    let mut told = Vec::new();
    let mut earlier = EarlierSubmissions::default();
    for mut release in [testflight(), phased()] {
        release.earlier = earlier;
        let ended = to_end::<AppStoreConnect>(&stand, &release).await;
        earlier = kept(&ended);
        let secret = WebhookSecret::new("shared".to_owned().into());
        for delivery in stand.simulator.take_deliveries() {
            assert_eq!(delivery.url, "http://127.0.0.1:1/events");
            assert!(secret.verifies(delivery.body.as_bytes(), &delivery.signature));
            let event = Event::read(delivery.body.as_bytes()).unwrap();
            let body: Value = serde_json::from_str(&delivery.body).unwrap();
            let attributes = &body["data"]["attributes"];
            let state = attributes["newValue"]
                .as_str()
                .or_else(|| attributes["newState"].as_str());
            // An event about the previous version does not concern this submission.
            let other = state == Some("REPLACED_WITH_NEW_VERSION");
            assert_eq!(event.concerns(&ended.progress), !other, "{event:?}");
            told.push((event.kind, state.unwrap().to_owned()));
        }
    }
    let states = |kind: &str| -> Vec<&str> {
        let own = told.iter().filter(|(told, _)| told == kind);
        own.map(|(_, state)| state.as_str()).collect()
    };
    assert_eq!(states("buildUploadStateUpdated"), ["PROCESSING", "COMPLETE"]);
    assert_eq!(
        states("buildBetaDetailExternalBuildStateUpdated"),
        [
            "MISSING_EXPORT_COMPLIANCE",
            "READY_FOR_BETA_SUBMISSION",
            "WAITING_FOR_BETA_REVIEW",
            "IN_BETA_REVIEW",
            "IN_BETA_TESTING"
        ]
    );
    assert_eq!(
        states("appStoreVersionAppVersionStateUpdated"),
        [
            "READY_FOR_REVIEW",
            "WAITING_FOR_REVIEW",
            "IN_REVIEW",
            "PROCESSING_FOR_DISTRIBUTION",
            "REPLACED_WITH_NEW_VERSION",
            "READY_FOR_DISTRIBUTION"
        ]
    );
    control(&stand, Method::Delete, "/webhook", Value::Null).await;
    assert!(stand.simulator.take_deliveries().is_empty());
}

#[tokio::test]
async fn apps_that_are_asked_for_are_there() {
    let (stand, _serving) = stand_with(Settings {
        app_store: Vec::new(),
        google_play: Vec::new(),
        makes_apps: true,
        ..quick()
    })
    .await;
    let mut wanted = phased();
    (wanted.rollout, wanted.options.groups) = (None, vec!["Friends".to_owned()]);
    let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let wanted = release(launchway_domain::platform::Platform::Android, "production", 42, 1_000);
    let ended = to_end::<GooglePlay>(&stand, &wanted).await;
    assert_eq!(ended.status, Success, "{ended:?}");
}
