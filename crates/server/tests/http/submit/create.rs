//! Creating submissions: forms, sources, credentials, and permissions.

use launchway_domain::platform::Platform;
use launchway_domain::time::DAY;
use launchway_jobs::clean_up::clean_up;
use launchway_jobs::sweep::sweep;
use launchway_os::clock::Clock;
use reqwest::Method;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::app_stores::{APK, IPA};
use crate::stage::builds::stored;
use crate::support::{Fields, Says, TestApp, machine_time, with};

pub const SIMULATOR: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/simulator.ipa");

#[tokio::test]
async fn the_form_is_checked_and_names_the_field() {
    let stage = Stage::new().app_stores().await;
    let play = |fields: Value| (json!("production"), fields);
    let apple = |destination: &str, fields: Value| (json!(destination), fields);
    for ((destination, fields), message) in [
        (play(json!({"uploadId": null})), "Specify either buildId or uploadId"),
        (play(json!({"buildId": "y"})), "Specify either buildId or uploadId"),
        (
            play(json!({"destination": "a/b"})),
            "destination must be testflight or app_store, or the name of a track of Google Play",
        ),
        (play(json!({"rollout": 0})), "rollout must be a whole percent from 1 to 100"),
        (play(json!({"rollout": 101})), "rollout must be a whole percent from 1 to 100"),
        (play(json!({"rollout": 300})), "rollout must be a whole percent from 1 to 100"),
        (
            apple("testflight", json!({"rollout": 50})),
            "rollout does not apply to testflight, whose groups get the whole build",
        ),
        (
            play(json!({"releaseNotes": [{"locale": "en-US", "text": "x"}, {"locale": "en", "text": "x"}]})),
            "releaseNotes[1].locale: Google Play does not know en; use one of en-AU, en-CA, en-GB, en-IN, en-SG, en-US, \
             en-ZA",
        ),
        (
            apple("testflight", json!({"releaseNotes": [{"locale": "de", "text": "x"}]})),
            "releaseNotes[0].locale: the App Store does not know de; use de-DE",
        ),
        (
            play(json!({"releaseNotes": [{"locale": "", "text": "x"}]})),
            "releaseNotes[0].locale must be a language such as en-US",
        ),
        (
            play(json!({"releaseNotes": [{"locale": "en-US", "text": "x"}, {"locale": "en-US", "text": "y"}]})),
            "releaseNotes[1].locale: en-US is given twice",
        ),
        (
            play(json!({"releaseNotes": [{"locale": "en-US", "text": ""}]})),
            "releaseNotes[0].text must have 1 to 500 characters",
        ),
        (
            play(json!({"releaseNotes": [{"locale": "en-US", "text": "x".repeat(501)}]})),
            "releaseNotes[0].text must have 1 to 500 characters",
        ),
        (
            apple("app_store", json!({"releaseNotes": [{"locale": "en-US", "text": "x".repeat(4001)}]})),
            "releaseNotes[0].text must have 1 to 4000 characters",
        ),
        (play(json!({"options": {"groups": ["a"]}})), "options.groups is only for testflight"),
        (apple("app_store", json!({"options": {"groups": ["a"]}})), "options.groups is only for testflight"),
        (
            apple("testflight", json!({"options": {"groups": [" "]}})),
            "options.groups must be at most 50 names of 1 to 100 characters",
        ),
        (
            apple("testflight", json!({"options": {"manualRelease": true}})),
            "options.manualRelease is only for app_store",
        ),
        (apple("app_store", json!({"options": {"draft": true}})), "options.draft is only for Google Play"),
        (play(json!({"options": {"priority": 6}})), "options.priority must be a whole number from 0 to 5"),
        (
            play(json!({"options": {"countries": ["DE"]}})),
            "options.countries is only for production with a rollout below 100",
        ),
        (
            play(json!({"rollout": 5, "options": {"countries": ["de"]}})),
            "options.countries must be country codes such as [\"DE\", \"FR\"]",
        ),
        (
            play(json!({"options": {"releaseName": "x".repeat(51)}})),
            "options.releaseName must have 1 to 50 characters, on one line",
        ),
        (
            play(json!({"options": {"symbols": [{"kind": "x", "uploadId": "y"}]}})),
            "options.symbols[0].kind must be mapping or native",
        ),
        (
            play(json!({"options": {"symbols": [{"kind": "native"}]}})),
            "options.symbols[0] must have either artifactId or uploadId",
        ),
        (
            play(json!({"options": {"symbols": [{"kind": "native", "artifactId": "y"}]}})),
            "options.symbols[0].artifactId is only for a submission with buildId",
        ),
    ] {
        let mut body = with(json!({"uploadId": "x", "destination": destination}), &fields);
        if body["uploadId"].is_null() {
            body.as_object_mut().unwrap().remove("uploadId");
        }
        stage.submit(body).await.refused(400, message);
    }
    for (body, part) in [
        (json!({"uploadId": "x"}), "destination"),
        (json!({"uploadId": "x", "destination": "alpha", "track": "beta"}), "track"),
        (json!({"uploadId": 7, "destination": "alpha"}), "uploadId"),
    ] {
        let refused = stage.submit(body).await.expect(400);
        assert!(refused.text("message").contains(part), "{refused}");
    }
    for (change, message) in [
        (json!({}), "Specify rollout or status"),
        (json!({"status": "success"}), "status must be halted or rolling_out"),
        (json!({"rollout": 0}), "rollout must be a whole percent from 1 to 100"),
        (json!({"rollout": 100, "status": "halted"}), "rollout must be below 100 with status halted"),
    ] {
        stage.patch(&stage.key, "/submit?id=x", change).await.refused(400, message);
    }
}

#[tokio::test]
async fn a_source_must_be_an_app_for_that_store() {
    let stage = Stage::new().app_stores().await;
    let internal = |upload: &str| json!({"uploadId": upload, "destination": "internal"});
    let zip = stage.upload_file(&stage.key, "app.zip", APK).await;
    let wrong_name = "The app must be an .ipa, .aab or .apk, and fileName of its upload must have that extension";
    stage.submit(internal(&zip)).await.refused(400, wrong_name);
    let broken = stage.upload_file(&stage.key, "app.apk", b"no archive").await;
    let refused = stage.submit(internal(&broken)).await.expect(400);
    assert!(refused.text("message").starts_with("The app cannot be submitted: "), "{refused}");
    let ipa = stage.upload_file(&stage.key, "App.ipa", IPA).await;
    stage.submit(internal(&ipa)).await.refused(400, "destination must be testflight or app_store for ios");
    assert_eq!(stored(&stage, "submissions").await, Vec::<String>::new(), "nothing is left of what was refused");
    // A refused upload can be used for a matching submission.
    let fitting = json!({"uploadId": ipa, "destination": "testflight"});
    let made = stage.submit(fitting.clone()).await.created();
    made.has(json!({"status": "queued", "buildId": null, "rollout": 100}));
    stage.submit(fitting).await.refused(400, "This upload was already used. Upload the file again.");
    let build = stage.built(Platform::Android, &[("mapping.txt", b"a -> b")]).await;
    let refused = stage.submit(json!({"buildId": build, "destination": "internal"})).await.expect(400);
    assert!(refused.text("message").starts_with("The build has no .aab or .apk"), "{refused}");
    let build = stage.built(Platform::Android, &[("app.apk", APK)]).await;
    stage.submit(json!({"buildId": build, "destination": "testflight"})).await.refused(
        400,
        "destination must be internal, alpha, beta, production or the name of another track of Google Play for android",
    );
    let waiting = stage.queue(stage.org, |_| ()).await.to_string();
    stage
        .submit(json!({"buildId": waiting, "destination": "internal"}))
        .await
        .refused(400, "The build is queued. Only a successful build can be submitted.");
}

#[tokio::test]
async fn the_only_fitting_credential_is_taken_else_one_is_named() {
    let (app, key) = TestApp::with_key().await;
    let build = app.upload_file(&key, "app.apk", APK).await;
    let submit = async |fields: Value| {
        let mut body = fields;
        body["uploadId"] = json!(build);
        body["destination"] = json!("internal");
        app.post(&key, "/submit", body).await
    };
    submit(json!({})).await.refused(
        400,
        "This app has no credential of the kind google_service_account. An admin can add one with POST /credentials.",
    );
    let [apple, google] = app.store_credentials(&key).await;
    submit(json!({"credentialId": apple})).await.refused(
        400,
        "credentialId must be a credential of the kind google_service_account, but this one is app_store_connect_key",
    );
    submit(json!({"credentialId": "x"})).await.refused(404, "No credential has this id");
    let [_, other] = app.store_credentials(&key).await;
    let refused = submit(json!({})).await.expect(400);
    let message = refused.text("message");
    message.says(&google);
    message.says(&other);
    let made = submit(json!({"credentialId": other})).await.created();
    assert_eq!(made["credentialId"], other);
}

#[tokio::test]
async fn lists_are_filtered() {
    let stage = Stage::new().app_stores().await;
    let build = stage.built(Platform::Android, &[("app.apk", APK)]).await;
    let android = stage.submit(json!({"buildId": build, "destination": "internal"})).await.created();
    stage.advance(1);
    let ios = stage.submitted("App.ipa", IPA, json!({"destination": "testflight"})).await.to_string();
    for (query, wanted) in [
        ("", vec![json!(ios), android["id"].clone()]),
        ("?platform=ios", vec![json!(ios)]),
        (&format!("?buildId={build}"), vec![android["id"].clone()]),
        ("?status=queued&bundleId=com.example.app&limit=1", vec![json!(ios)]),
        ("?status=failed", vec![]),
        ("?bundleId=com.example.other", vec![]),
        ("?bundleId=a%20b", vec![]),
        ("?buildId=x", vec![]),
        (&format!("?buildId={ios}"), vec![]),
    ] {
        let list = stage.get(&stage.key, &format!("/submit{query}")).await.ok();
        let ids: Vec<Value> = list["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect();
        assert_eq!(ids, wanted, "{query}");
    }
    let message = "platform must be ios, android or visionos";
    stage.get(&stage.key, "/submit?buildId=x&platform=tvos").await.refused(400, message);
    assert_eq!(stage.get(&stage.key, "/usage").await.ok()["items"][0]["submissions"], 2);
}

#[tokio::test]
async fn the_same_request_again_makes_nothing_more() {
    let stage = Stage::new().app_stores().await;
    let upload = stage.upload_file(&stage.key, "app.apk", APK).await;
    let body = json!({"uploadId": upload, "destination": "internal"});
    let send = async || {
        let request = stage.request(Method::POST, "/submit").bearer_auth(&stage.key);
        let request = request.header("idempotency-key", "once").json(&body);
        crate::support::Answer::to(request).await.created()
    };
    let first = send().await;
    assert_eq!(send().await, first);
    assert_eq!(stage.get(&stage.key, "/submit").await.ok()["total"], 1);
}

#[tokio::test]
async fn what_a_submission_names_is_kept_and_what_none_names_goes() {
    let mut stage = Stage::new().app_stores().await;
    let id = stage.submitted("App.ipa", SIMULATOR, json!({"destination": "testflight"})).await;
    assert_eq!(stage.ended(id).await["status"], "failed");
    // Objects carry the machine's time, and the sweep leaves the young ones.
    stage.advance(machine_time() - stage.clock.now());
    crate::stage::builds::put(&stage, "submissions/nobody/left", b"over").await;
    // The first run only begins.
    for _ in 0..3 {
        stage.advance(2 * DAY);
        clean_up(&stage.app).await.unwrap();
        sweep(&stage.app).await.unwrap();
    }
    assert_eq!(stored(&stage, "submissions").await.len(), 1, "its upload is over, and it is named");
    stage.advance(200 * DAY);
    clean_up(&stage.app).await.unwrap();
    assert_eq!(stored(&stage, "submissions").await, Vec::<String>::new());
    let view = stage.read(id).await;
    assert_eq!(view["status"], "failed", "the record stays");
}
