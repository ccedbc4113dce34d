//! Two readers answer checks, the one in front of the HTTP implementation and the one behind it: a client cannot tell
//! which of them answered.

use std::collections::BTreeMap;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::expo::export;
use crate::foreign_updates::{codepush, hot_updater_bundle, publish};
use crate::stage::BUNDLE;
use crate::support::{Fields, TestApp, package};

/// A response as a client sees it. The id of the request and the date are different in each, so only their presence counts.
#[derive(Debug, PartialEq, Eq)]
struct Response {
    status: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Response {
    /// Takes the first response from the bytes of a connection.
    fn take(bytes: &mut Vec<u8>) -> Response {
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n").expect("a head") + 4;
        let head = String::from_utf8(bytes.drain(..end).collect()).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().to_owned();
        let mut headers: BTreeMap<_, _> = lines
            .map(|line| line.split_once(": ").expect("a header"))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        for name in ["x-request-id", "date"] {
            let value = headers.get_mut(name).expect("a header of every response");
            assert!(!value.is_empty());
            value.clear();
        }
        let length: usize = match status.as_str() {
            "HTTP/1.1 204 No Content" => 0,
            _ => headers["content-length"].parse().unwrap(),
        };
        let body = bytes.drain(..length).collect();
        Response { status, headers, body }
    }
}

/// Sends requests at once on one connection and returns the responses.
async fn pipeline(app: &TestApp, requests: &[String]) -> Vec<Response> {
    let mut stream = TcpStream::connect(app.origin.strip_prefix("http://").unwrap()).await.unwrap();
    let mut sent = requests.concat();
    sent += "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    stream.write_all(sent.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    let responses = requests.iter().map(|_| Response::take(&mut received)).collect();
    let last = Response::take(&mut received);
    assert_eq!((last.status.as_str(), received), ("HTTP/1.1 200 OK", Vec::new()));
    responses
}

/// A check. The HTTP implementation answers those with `TE`, whose meaning the other reader does not know.
fn check(target: &str, more: &str) -> String {
    format!("GET /api/update/check/{target} HTTP/1.1\r\nHost: a\r\n{more}\r\n")
}

/// Its body is not taken for a request, either.
#[tokio::test]
async fn a_request_without_a_host_is_refused_among_others() {
    let app = TestApp::start().await;
    let target = "com.example.none?currentVersion=1.0.0";
    let without_host = format!("GET /api/update/check/{target} HTTP/1.1\r\n\r\n");
    let with_body = "POST /api/apps HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}".to_owned();
    let responses = pipeline(&app, &[check(target, ""), without_host, with_body, check(target, "")]).await;
    let statuses: Vec<&str> = responses.iter().map(|response| &response.status[9..12]).collect();
    assert_eq!(statuses, ["200", "400", "400", "200"]);
}

#[tokio::test]
async fn both_readers_of_a_connection_answer_alike() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({"fingerprint": "native-1", "releaseNotes": "\"quoted\" 🚀"})).await;
    for target in [
        "com.example.app?currentVersion=1.0.0",
        "com.example.app?currentVersion=1.0.0&deviceId=d&platform=android",
        "com.example.app?currentVersion=1.0.0&fingerprint=native-0",
        "com.example.app?currentVersion=1.0.1",
        "COM.example%2Eapp?currentVersion=1&currentUpdateId=x",
        "com.example.none?currentVersion=1.0.0",
        "com.example.app",
        "?currentVersion=1.0.0",
        "com.example.app?currentVersion=one",
        "com.example.app?currentVersion=1.0.0&platform=symbian",
        "com.example.app?currentVersion=1.0.0&currentVersion=1.0.1",
        "%ff%fe?currentVersion=1.0.0",
        "com.example.app?currentVersion=1.0.0&deviceId=%ff",
    ] {
        let responses = pipeline(&app, &[check(target, ""), check(target, "TE: trailers\r\n")]).await;
        assert_eq!(responses[0], responses[1], "{target}");
    }
}

const NONE: &str = "00000000-0000-0000-0000-000000000000";

/// Publishes an update for the clients of each service; returns a deployment key, and the id that Expo's clients know.
async fn publish_for_all(app: &TestApp, key: &str) -> (String, String) {
    let production = json!({"configuration": "production"});
    codepush(app, key, "one", production.clone()).await;
    let deployment = json!({"bundleId": BUNDLE, "platform": "android", "configuration": "production"});
    let deployment = app.post(key, "/deployment-keys", deployment).await.created();
    hot_updater_bundle(app, key, "019abcde-0000-7000-8000-000000000001", production).await.created();
    let fields = json!({"version": "1.0.3", "configuration": "production", "foreignIds": [{"protocol": "capgo"}]});
    publish(app, key, &package("index.html", b"one"), fields).await.created();
    let id = "019abcde-0000-7000-8000-000000000002";
    let fields = json!({"version": "1.0.4", "configuration": "production", "format": "expo", "runtimeVersion": "1.0.0",
                        "foreignIds": [{"protocol": "expo", "id": id}]});
    publish(app, key, &export("one", 2), fields).await.created();
    (deployment.text("key").to_owned(), id.to_owned())
}

/// Heads of checks of other services' clients, without their last line.
fn foreign_heads(deployment: &str, expo: &str) -> Vec<String> {
    let codepush = format!("/codepush/{BUNDLE}/v0.1/public/codepush/update_check?app_version=1.2.0&deployment_key=");
    let hot_updater = format!("/hot-updater/{BUNDLE}/app-version/android/1.2.0/production/{NONE}");
    let of_expo = |more: &str| {
        let required = "expo-platform: android\r\nexpo-runtime-version: 1.0.0\r\nexpo-channel-name: production\r\n";
        (format!("/expo/{BUNDLE}"), format!("{required}{more}"))
    };
    let without = |target: String| (target, String::new());
    let targets = [
        without(format!("{codepush}{deployment}")),
        without(format!("{codepush}{deployment}&label=v1&client_unique_id=d")),
        without(format!("{codepush}unknown")),
        without(format!("/codepush/{BUNDLE}/other")),
        (format!("{hot_updater}/{NONE}"), "Hot-Updater-SDK-Version: 0.36.3\r\n".to_owned()),
        without(format!("{hot_updater}/019abcde-0000-7000-8000-000000000001/7")),
        without(format!("{hot_updater}/x")),
        of_expo("Accept: multipart/mixed\r\nExpo-Protocol-Version: 1\r\n"),
        of_expo("Accept: application/expo+json\r\n"),
        of_expo(&format!("Expo-Protocol-Version: 1\r\nExpo-Current-Update-ID: {expo}\r\n")),
        of_expo("Expo-Protocol-Version: 9\r\n"),
        of_expo("Expo-Protocol-Version: 1\r\nExpo-Recent-Failed-Update-IDs: \"a\"\r\n"),
        without("/expo/com.example.none".to_owned()),
        without("/expo/a/b".to_owned()),
    ];
    targets.map(|(target, headers)| format!("GET {target} HTTP/1.1\r\nHost: a\r\n{headers}")).into()
}

#[tokio::test]
async fn both_readers_answer_clients_of_others_alike() {
    let (app, key) = TestApp::with_key().await;
    let (deployment, expo) = publish_for_all(&app, &key).await;
    let mut checks: Vec<_> = foreign_heads(&deployment, &expo).into_iter().map(|head| (head, String::new())).collect();
    let device = |running: &str| {
        json!({"platform": "android", "app_id": BUNDLE, "device_id": "d", "version_build": "1.0.0", "version_name": running,
               "defaultChannel": "production"})
    };
    let long = "a".repeat(20_000);
    for body in [
        device("builtin").to_string(),
        device("1.0.3").to_string(),
        device(&long[..3000]).to_string(),
        device(&long).to_string(),
        "{".to_owned(),
        String::new(),
    ] {
        let head = format!("POST /capgo/updates HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n", body.len());
        checks.push((head, body));
    }
    for (head, body) in checks {
        let requests = ["", "TE: trailers\r\n"].map(|more| format!("{head}{more}\r\n{body}"));
        let responses = pipeline(&app, &requests).await;
        assert_eq!(responses[0], responses[1], "{head}{body:.80}");
    }
}

#[tokio::test]
async fn many_checks_at_once_are_answered_in_their_order() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({})).await;
    let targets = ["com.example.app?currentVersion=1.0.0", "com.example.app?currentVersion=x"];
    let requests: Vec<_> = (0..300).map(|number| check(targets[number % 2], "")).collect();
    let responses = pipeline(&app, &requests).await;
    for (number, response) in responses.iter().enumerate() {
        let expected = ["HTTP/1.1 200 OK", "HTTP/1.1 400 Bad Request"][number % 2];
        assert_eq!(response.status, expected, "{number}");
    }
}

#[tokio::test]
async fn both_readers_refuse_one_check_too_many_alike() {
    let app = TestApp::with(settings!(check_limit = "2")).await;
    let target = "com.example.app?currentVersion=1.0.0";
    let requests = ["", "", "", "TE: trailers\r\n"].map(|more| check(target, more));
    let responses = pipeline(&app, &requests).await;
    assert_eq!(responses[2].status, "HTTP/1.1 429 Too Many Requests");
    assert!(responses[2].headers.contains_key("retry-after"));
    assert_eq!(responses[2], responses[3]);
}
