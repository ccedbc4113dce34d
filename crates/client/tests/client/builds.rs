//! Builds: their calls, following them over an unreliable network, their logs and artifacts.

use std::sync::Arc;
use std::time::Duration;

use launchway_api::builds::CreateBuild;
use launchway_client::{BuildEvent, BuildFilter, Error, Reason, Timeouts};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fake_server::{FakeServer, Reply};
use crate::{PAGE, client_of, client_with};

const ID: &str = "build_1";

fn build(changed: Value) -> Value {
    let mut build = json!({
        "id": ID, "status": "running", "bundleId": "com.example.app", "platform": "android", "configuration": null,
        "profile": null, "buildType": "release", "distribution": "store", "version": null, "buildNumber": null,
        "fingerprint": null, "git": null, "priority": 0, "attempt": 1, "phase": null, "phases": [], "queuePosition": null,
        "waitingFor": null, "runner": null, "cancelRequested": false, "error": null, "warnings": [], "artifacts": [],
        "install": null, "logSize": 0, "parentId": null, "createdBy": "key_1", "createdAt": "", "startedAt": null,
        "finishedAt": null,
    });
    let fields = build.as_object_mut().expect("an object");
    fields.extend(changed.as_object().expect("an object").clone());
    build
}

fn log(offset: usize, text: &str) -> String {
    let data = json!({"offset": offset, "text": text});
    format!("id: {}\nevent: log\ndata: {data}\n\n", offset + text.len())
}

fn event(name: &str, changed: Value) -> String {
    format!("event: {name}\ndata: {}\n\n", build(changed))
}

fn artifact(server: &FakeServer, bytes: &[u8]) -> Value {
    json!({"id": "artifact_1", "kind": "apk", "name": "app.apk", "size": bytes.len(),
        "sha256": hex::encode(Sha256::digest(bytes)), "facts": null, "url": format!("{}/objects/1", server.url()),
        "expiresAt": ""})
}

/// The events of a followed build, until its end or an error.
async fn told(server: &FakeServer, offset: u64) -> (Vec<String>, Result<(), Error>, Vec<Reason>) {
    let (client, environment) = client_with(&server.url(), Some("org_1"), Timeouts::default());
    let mut following = client.follow_build(ID, offset);
    let mut told = Vec::new();
    let end = loop {
        match following.next().await {
            Ok(Some(BuildEvent::Log(log))) => told.push(log.value.text),
            Ok(Some(BuildEvent::Build(build))) => told.push(build.value.status.to_string()),
            Ok(Some(BuildEvent::End(build))) => told.push(format!("end: {}", build.value.status)),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    (
        told,
        end,
        environment.pauses().into_iter().map(|(_, reason)| reason).collect(),
    )
}

#[tokio::test]
async fn a_build_is_followed_through_a_bad_network() {
    let server = FakeServer::start([
        Reply::error(503, "Service Unavailable", "The server starts"),
        Reply::new(200, event("build", json!({})) + &log(0, "one\n")).cut(),
        Reply::error(429, "Rate Limited", "Too many requests").header("retry-after", "1"),
        // It breaks within an event: the partial event is sent again.
        Reply::new(200, log(4, "two\n") + "id: 12\nevent: log\ndata: {\"off").cut(),
        // It ends by itself, to be reopened.
        Reply::new(200, log(8, "three\n")),
        Reply::new(
            200,
            event("news", json!({})) + &log(14, "four") + &event("end", json!({"status": "success"})),
        ),
    ])
    .await;
    let (told, end, pauses) = told(&server, 0).await;
    end.expect("the end");
    assert_eq!(told, ["running", "one\n", "two\n", "three\n", "four", "end: success"]);
    use Reason::{Broken, RateLimited, Unavailable};
    assert_eq!(pauses, [Unavailable, Broken, RateLimited, Broken, Broken]);
    let line = format!("GET /api/build/log/stream?id={ID}&orgId=org_1");
    assert_eq!(server.lines(), [const { 0 }; 6].map(|_| line.clone()));
    let ids: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.header("last-event-id").to_owned())
        .collect();
    assert_eq!(ids, ["", "", "4", "4", "8", "14"]);
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| seen.header("accept") == "text/event-stream")
    );
}

#[tokio::test]
async fn following_ends_where_there_is_nothing_to_wait_for() {
    let gone = FakeServer::start([Reply::error(404, "Not Found", "No such build")]).await;
    let (shown, end, _) = told(&gone, 7).await;
    assert!(matches!(end, Err(Error::Api { status: 404, .. })) && shown.is_empty());
    assert_eq!(gone.seen()[0].header("last-event-id"), "7");

    let nonsense = FakeServer::start([Reply::new(200, "event: log\ndata: {}\n\n")]).await;
    let (_, end, _) = told(&nonsense, 0).await;
    assert!(matches!(end, Err(Error::Unexpected { .. })));

    // The client waits ten minutes for a server that never returns.
    let away = FakeServer::start((0..100).map(|_| Reply::error(503, "Service Unavailable", "Away"))).await;
    let (client, environment) = client_of(&away);
    let error = client.follow_build(ID, 0).next().await.expect_err("it is away");
    assert!(matches!(error, Error::Api { status: 503, .. }));
    let waited: Duration = environment.pauses().iter().map(|(delay, _)| *delay).sum();
    assert!(
        waited > Duration::from_secs(580) && waited <= Duration::from_secs(600),
        "{waited:?}"
    );
}

#[tokio::test]
async fn a_log_is_read_on_where_the_connection_broke() {
    let server = FakeServer::start([
        Reply::new(200, "0123").cut(),
        Reply::new(200, "456").cut(),
        Reply::new(200, "789"),
    ])
    .await;
    let (client, _) = client_of(&server);
    let (mut log, mut read) = (client.build_log(ID, 10), Vec::new());
    while let Some(part) = log.next().await.expect("it comes") {
        read.extend_from_slice(&part);
    }
    assert_eq!(read, b"0123456789");
    let line = |offset: u64| format!("GET /api/build/log?id={ID}&offset={offset}");
    assert_eq!(server.lines(), [line(10), line(14), line(17)]);
}

#[tokio::test]
async fn an_artifact_has_its_name_only_when_it_is_whole_and_right() {
    let server = FakeServer::start([]).await;
    let bytes = b"0123456789";
    let build = || Reply::new(200, build(json!({"artifacts": [artifact(&server, bytes)]})).to_string());
    server.then([
        build(),
        Reply::new(200, "0123").cut(),
        build(),
        Reply::new(403, "expired"),
    ]);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let to = directory.path().join("app.apk");
    let (client, _) = client_of(&server);
    let refused = client.download_artifact(ID, "artifact_1", &to, Arc::new(|_| ())).await;
    assert!(
        matches!(refused, Err(Error::Refused { status: 403, .. })),
        "{refused:?}"
    );
    assert!(!to.exists());

    // The next attempt resumes; a storage without support for ranges starts over.
    server.then([
        build(),
        Reply::new(206, "4567").cut(),
        build(),
        Reply::new(200, "0123456789"),
    ]);
    client
        .download_artifact(ID, "artifact_1", &to, Arc::new(|_| ()))
        .await
        .expect("it comes");
    assert_eq!(std::fs::read(&to).expect("it is there"), bytes);
    assert_eq!(std::fs::read_dir(directory.path()).expect("it is there").count(), 1);
    let seen = server.seen();
    let ranges: Vec<_> = seen
        .iter()
        .filter(|seen| seen.line == "GET /objects/1")
        .map(|seen| seen.header("range"))
        .collect();
    assert_eq!(ranges, ["", "bytes=4-", "bytes=4-", "bytes=8-"]);

    let longer = Reply::new(200, "0123456789 and more");
    let others = (0..4).map(|_| Reply::new(200, "9876543210"));
    server.then([build(), longer]);
    for other in others {
        server.then([build(), other]);
    }
    let damaged = client.download_artifact(ID, "artifact_1", &to, Arc::new(|_| ())).await;
    assert!(matches!(damaged, Err(Error::Corrupt { .. })), "{damaged:?}");
    assert_eq!(std::fs::read(&to).expect("the right one stays"), bytes);
    server.then([build()]);
    let unknown = client.download_artifact(ID, "artifact_2", &to, Arc::new(|_| ())).await;
    assert!(matches!(unknown, Err(Error::Invalid(_))), "{unknown:?}");
}

#[tokio::test]
async fn each_call_goes_where_the_reference_says() {
    let page = json!({"items": [build(json!({}))], "total": 1, "limit": 10, "offset": 0}).to_string();
    let none = json!({"items": [], "total": 0, "limit": 10, "offset": 0}).to_string();
    let gone = |status: &str| Reply::new(200, json!({"id": ID, "status": status}).to_string());
    let one = || Reply::new(200, build(json!({})).to_string());
    let server = FakeServer::start([
        one(),
        Reply::new(200, page),
        one(),
        one(),
        one(),
        gone("deleted"),
        Reply::new(
            200,
            json!({"id": ID, "status": "queued", "plan": null, "origin": null}).to_string(),
        ),
        Reply::new(200, none),
        gone("revoked"),
        Reply::new(201, json!({"token": "once", "expiresAt": ""}).to_string()),
    ])
    .await;
    let (client, _) = client_of(&server);
    let wanted: CreateBuild = serde_json::from_value(json!({"bundleId": "com.example.app", "platform": "ios",
        "source": {"uploadId": "upload_1"}}))
    .expect("a request");
    client.create_build(&wanted, Some("ab12")).await.expect("a build");
    let filter = BuildFilter {
        branch: Some("a/b".to_owned()),
        status: Some("queued".to_owned()),
        ..BuildFilter::default()
    };
    client.builds(&filter, PAGE).await.expect("a page");
    client.build(ID).await.expect("a build");
    client.cancel_build(ID).await.expect("a build");
    client.retry_build(ID).await.expect("a build");
    client.delete_build(ID).await.expect("an answer");
    client.build_plan(ID).await.expect("a plan");
    client.runners(PAGE).await.expect("a page");
    client.revoke_runner("runner_1").await.expect("an answer");
    client.create_runner_token().await.expect("a token");
    let expected = [
        "POST /api/build?lwfp2=ab12",
        "GET /api/build?status=queued&branch=a%2Fb&limit=5&offset=10",
        "GET /api/build?id=build_1",
        "POST /api/build/cancel?id=build_1",
        "POST /api/build/retry?id=build_1",
        "DELETE /api/build?id=build_1",
        "GET /api/build/plan?id=build_1",
        "GET /api/runners?limit=5&offset=10",
        "DELETE /api/runners?id=runner_1",
        "POST /api/runners/tokens",
    ];
    assert_eq!(server.lines(), expected);
    assert_eq!(server.seen()[0].json(), serde_json::to_value(&wanted).expect("JSON"));
    let has_key: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| !seen.header("idempotency-key").is_empty())
        .collect();
    let creates = expected.map(|line| line.starts_with("POST"));
    assert_eq!(has_key, creates);
}

#[tokio::test]
async fn a_connection_that_falls_silent_is_opened_anew() {
    // On a slow machine the rest may be late as well, and is then requested again.
    let rest = (0..20).map(|_| Reply::new(200, log(4, "two\n") + &event("end", json!({"status": "success"}))));
    let server = FakeServer::start([Reply::new(200, log(0, "one\n")).open()].into_iter().chain(rest)).await;
    let timeouts = Timeouts {
        read: Duration::from_millis(300),
        ..Timeouts::default()
    };
    let (client, _) = client_with(&server.url(), None, timeouts);
    let (mut following, mut told) = (client.follow_build(ID, 0), String::new());
    while let Some(event) = following.next().await.expect("it goes on") {
        if let BuildEvent::Log(log) = event {
            told.push_str(&log.value.text);
        }
    }
    assert_eq!(told, "one\ntwo\n");
}
