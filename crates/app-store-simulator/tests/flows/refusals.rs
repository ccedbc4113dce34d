//! Refusals that no later try changes: they end a flow at once, and a refused token after three tries.

use launchway_app_store_simulator::{Fault, Kind, Settings, When};
use launchway_app_stores::Clock;
use launchway_app_stores::app_store::AppStoreConnect;
use launchway_app_stores::google_play::GooglePlay;
use launchway_domain::platform::Platform;
use launchway_domain::submission::SubmissionStatus::{Failed, Success};
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use launchway_domain::time::SECOND;

use crate::app_store::{phased, testflight};
use crate::driver::to_end;
use crate::google_play::staged;
use crate::stand::{NOW, Stand, release, settings};

/// The pauses between three tries.
const THREE_TRIES: i64 = 7 * SECOND;

fn calls_of(stand: &Stand, part: &str) -> usize {
    stand.simulator.log().iter().filter(|call| call.contains(part)).count()
}

#[tokio::test]
async fn a_key_that_the_app_store_does_not_know_is_tried_three_times() {
    let accounts = settings().accounts[1..].to_vec();
    let stand = Stand::with(Settings { accounts, ..settings() });
    let ended = to_end::<AppStoreConnect>(&stand, &testflight()).await;
    assert_eq!(ended.status, Failed);
    assert_eq!(ended.error.unwrap().code, Code::CredentialInvalid);
    assert_eq!((stand.simulator.calls(), stand.clock.now() - NOW), (3, THREE_TRIES));
}

#[tokio::test]
async fn an_account_that_google_does_not_know_is_tried_three_times() {
    let accounts = settings().accounts[..1].to_vec();
    let stand = Stand::with(Settings { accounts, ..settings() });
    let ended = to_end::<GooglePlay>(&stand, &staged()).await;
    assert_eq!(ended.error.unwrap().code, Code::CredentialInvalid);
    assert_eq!((calls_of(&stand, "/token"), stand.clock.now() - NOW), (3, THREE_TRIES));
}

#[tokio::test]
async fn a_key_that_is_revoked_meanwhile_is_tried_three_times() {
    for way in ["GET /v1/apps", "POST /androidpublisher"] {
        let stand = Stand::new();
        let (method, path) = way.split_once(' ').unwrap();
        stand.simulator.order(Fault {
            when: When::Matching {
                method: method.into(),
                path: path.into(),
                times: 100,
            },
            kind: Kind::Status(401),
        });
        let error = match method {
            "GET" => to_end::<AppStoreConnect>(&stand, &testflight()).await.error,
            _ => to_end::<GooglePlay>(&stand, &staged()).await.error,
        };
        assert_eq!(error.unwrap().code, Code::CredentialInvalid);
        assert_eq!(
            (calls_of(&stand, way), stand.clock.now() - NOW),
            (3, THREE_TRIES),
            "{way}"
        );
    }
}

#[tokio::test]
async fn missing_metadata_ends_a_flow_at_once_and_is_named() {
    for path in ["/v1/reviewSubmissionItems", "/v1/reviewSubmissions/"] {
        let stand = Stand::new();
        stand.simulator.order(Fault {
            when: When::Matching {
                method: if path.ends_with('/') { "PATCH" } else { "POST" }.into(),
                path: path.into(),
                times: 1,
            },
            kind: Kind::MissingMetadata,
        });
        let ended = to_end::<AppStoreConnect>(&stand, &phased()).await;
        let error = ended.error.unwrap();
        assert_eq!(error.code, Code::MetadataMissing, "{error}");
        for attribute in ["'description'", "'privacyPolicyUrl'"] {
            assert_eq!(error.message.matches(attribute).count(), 1, "{error}");
        }
    }
}

/// The store names no cause that a person could remove: its state may be changing.
#[tokio::test]
async fn a_state_that_may_be_changing_is_tried_again() {
    let stand = Stand::new();
    stand.simulator.order(Fault {
        when: When::Matching {
            method: "POST".into(),
            path: "/v1/reviewSubmissionItems".into(),
            times: 3,
        },
        kind: Kind::Status(404),
    });
    assert_eq!(to_end::<AppStoreConnect>(&stand, &phased()).await.status, Success);
}

#[tokio::test]
async fn an_unknown_package_or_track_ends_a_flow_at_once() {
    let stand = Stand::with(Settings {
        google_play: Vec::new(),
        ..settings()
    });
    let ended = to_end::<GooglePlay>(&stand, &staged()).await;
    assert_eq!(ended.error.unwrap().code, Code::AppNotFound);
    assert_eq!(stand.clock.now(), NOW);
    let stand = Stand::new();
    let wanted = release(Platform::Android, "strangers", 42, 1_000);
    let ended = to_end::<GooglePlay>(&stand, &wanted).await;
    assert_eq!(ended.error.unwrap().code, Code::TrackNotFound);
    assert_eq!(stand.clock.now(), NOW);
}
