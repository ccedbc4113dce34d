//! A build number that the store already has: only a file that this service sent with the same bytes is released.

use crate::support::{Fields, Says};
use launchway_app_store_simulator::{ByHand, Fault, Kind, When};
use launchway_domain::platform::Platform;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::app_stores::{APK, IPA, PURPOSE, counts, id_of, settings_with_encryption_answered};

fn by_hand() -> ByHand {
    ByHand {
        bundle_id: "com.example.app".to_owned(),
        platform: "ios".to_owned(),
        version: "1.2.3".to_owned(),
        build_number: "42".to_owned(),
        attach: false,
    }
}

async fn stage() -> Stage {
    Stage::new().app_stores_with(settings_with_encryption_answered()).await
}

fn assert_used(failed: &Value) {
    assert_eq!(
        (&failed["status"], &failed["error"]["code"], &failed["error"]["retryable"]),
        (&json!("failed"), &json!("BUILD_NUMBER_USED"), &json!(false)),
        "{failed:#}"
    );
}

#[tokio::test]
async fn a_build_that_a_person_uploaded_is_not_released_as_this_one() {
    for destination in ["testflight", "app_store"] {
        let mut stage = stage().await;
        stage.stores().by_hand(&by_hand()).unwrap();
        let id = stage.submitted("App.ipa", IPA, json!({"destination": destination})).await;
        let failed = stage.ended(id).await;
        assert_used(&failed);
        let message = failed["error"].text("message");
        message.says("42");
        message.says("1.2.3");
        assert_eq!(counts(&stage.ledger(), ["upload", "version", "review"]), [0, 0, 0]);
    }
}

#[tokio::test]
async fn a_bundle_that_a_person_uploaded_is_not_released_as_this_one() {
    let mut stage = stage().await;
    let id = stage.submitted("app.apk", APK, json!({"destination": "internal"})).await;
    let code = stage.read(id).await.text("buildNumber").parse().unwrap();
    stage.stores().bundle_by_hand("com.example.app", code, &"ab".repeat(32));
    assert_used(&stage.ended(id).await);
    assert_eq!(counts(&stage.ledger(), ["commit", "release"]), [0, 0]);
}

/// Both pass the preflight, because neither knows about the other yet.
#[tokio::test]
async fn of_two_binaries_with_one_number_at_once_one_is_released() {
    let mut stage = stage().await;
    let mut made = Vec::new();
    for bytes in [IPA, PURPOSE] {
        made.push(stage.submitted("App.ipa", bytes, json!({"destination": "testflight"})).await);
    }
    let (first, other) = (stage.ended(made[0]).await, stage.ended(made[1]).await);
    let (good, bad) = if first["status"] == "success" { (first, other) } else { (other, first) };
    assert_eq!(good["status"], "success", "{good:#}");
    assert_used(&bad);
    let waited = bad["events"].as_array().unwrap().iter();
    let waited = waited.filter(|event| event.text("message").contains("uploads the same build number"));
    assert!(waited.count() <= 1, "what is awaited is told once: {bad:#}");
    assert_eq!(counts(&stage.ledger(), ["upload", "build"]), [1, 1]);
}

#[tokio::test]
async fn one_build_for_two_destinations_at_once_is_uploaded_once() {
    let mut stage = stage().await;
    let build = stage.built(Platform::Ios, &[("App.ipa", IPA)]).await;
    let mut made = Vec::new();
    for destination in ["testflight", "app_store"] {
        made.push(id_of(&stage.submit(json!({"buildId": build, "destination": destination})).await.created()));
    }
    for id in made {
        stage.succeeded(id).await;
    }
    assert_eq!(counts(&stage.ledger(), ["upload", "build", "release"]), [1, 1, 1]);
}

#[tokio::test]
async fn one_file_given_twice_at_once_is_uploaded_once() {
    let mut stage = stage().await;
    let mut made = Vec::new();
    for destination in ["testflight", "app_store"] {
        made.push(stage.submitted("App.ipa", IPA, json!({"destination": destination})).await);
    }
    // Lists of the store show none of it yet.
    for path in ["/v1/builds", "/buildUploads"] {
        let when = When::Matching { method: "GET".into(), path: path.into(), times: 1000 };
        stage.stores().order(Fault { when, kind: Kind::EmptyList });
    }
    for id in made {
        stage.succeeded(id).await;
    }
    assert_eq!(counts(&stage.ledger(), ["upload_announced", "build", "release"]), [1, 1, 1]);
}

/// The record of the upload says who owns a build.
#[tokio::test]
async fn without_a_record_the_same_file_is_not_enough() {
    let mut stage = stage().await;
    let build = stage.built(Platform::Ios, &[("App.ipa", IPA)]).await;
    let body = |destination: &str| json!({"buildId": build, "destination": destination});
    let first = id_of(&stage.submit(body("testflight")).await.created());
    assert_eq!(stage.ended(first).await["status"], "success");
    let second = id_of(&stage.submit(body("testflight")).await.created());
    stage.delete(&stage.key, &format!("/submit?id={first}")).await.ok();
    assert_used(&stage.ended(second).await);
}
