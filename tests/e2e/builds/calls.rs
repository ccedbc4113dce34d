//! Builds as seen by their caller: requested, awaited, read.

use std::time::Duration;

use launchway_testing::says::Fields;
use launchway_testing::wait::until_paced;
use serde_json::{Value, json};

use crate::api::Api;
use crate::packages::{Files, packed, sha256};

/// A build that has not ended after this time never will.
pub const LIMIT: Duration = Duration::from_secs(180);

/// Between two polls: an organization may call a thousand times a minute.
const PAUSE: Duration = Duration::from_millis(150);

/// Waits until `look` returns a value, at a pace that the server allows.
pub async fn wait<T>(limit: Duration, what: &str, look: impl AsyncFnMut() -> Option<T>) -> (T, Duration) {
    until_paced(PAUSE, limit, what, look).await
}

/// Uploads an archive under this name; returns the upload's id.
pub async fn upload(api: &Api, name: &str, bytes: &[u8]) -> String {
    let body = json!({"fileName": name, "size": bytes.len(), "sha256": sha256(bytes)});
    let upload = api.post("/uploads", body).await.created();
    let sent = api.send(&upload, bytes.to_vec()).await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    upload.id().to_owned()
}

/// A source with one file.
pub fn small_source() -> Vec<u8> {
    packed(&Files::from([("README".to_owned(), b"a source".to_vec())]))
}

/// A request for a build of a small source with these steps.
pub async fn request(api: &Api, steps: &[(&str, &str)]) -> Value {
    let steps: Vec<Value> = steps
        .iter()
        .map(|(name, run)| json!({"name": name, "run": run}))
        .collect();
    json!({
        "bundleId": "com.example.built", "platform": "android",
        "source": {"uploadId": upload(api, "source.zip", &small_source()).await},
        "plan": {"steps": steps}
    })
}

/// Requests a build; returns its id.
pub async fn create(api: &Api, body: Value) -> String {
    let build = api.post("/build", body).await.created();
    assert_eq!(build["status"], "queued");
    build.id().to_owned()
}

pub async fn read(api: &Api, id: &str) -> Value {
    api.get(&format!("/build?id={id}")).await.ok()
}

/// Whether a build ended.
pub fn is_over(build: &Value) -> bool {
    ["success", "failed", "canceled"]
        .iter()
        .any(|status| build["status"] == *status)
}

/// Waits for the end of a build; returns the build.
pub async fn finished(api: &Api, id: &str) -> Value {
    let look = async || Some(read(api, id).await).filter(is_over);
    wait(LIMIT, "the build ends", look).await.0
}

/// Waits for the end of a build, which must succeed; prints its log if it does not.
pub async fn succeeded(api: &Api, id: &str) -> Value {
    let build = finished(api, id).await;
    assert_eq!(build["status"], "success", "{build}\n{}", log(api, id).await);
    build
}

/// The complete log so far.
pub async fn log(api: &Api, id: &str) -> String {
    let answer = api.get(&format!("/build/log?id={id}")).await;
    assert!(matches!(answer.status.as_u16(), 200 | 206), "{}", answer.text());
    answer.text()
}

/// The bytes of the build's only artifact, which match the record.
pub async fn artifact(api: &Api, build: &Value) -> Vec<u8> {
    let [artifact] = build["artifacts"].as_array().unwrap().as_slice() else {
        panic!("one artifact is expected: {build}");
    };
    let bytes = api.download(artifact).await;
    assert_eq!(
        json!([sha256(&bytes), bytes.len()]),
        json!([artifact["sha256"], artifact["size"]])
    );
    bytes
}

/// An event of a stream.
#[derive(Debug, Default, PartialEq)]
pub struct Event {
    pub name: String,
    pub id: String,
    pub data: Value,
}

/// Follows a build from an offset of its log until the server ends the stream; returns all events except heartbeats.
pub async fn follow(api: &Api, id: &str, after: Option<&str>) -> Vec<Event> {
    let mut request = api.request(reqwest::Method::GET, &format!("/build/log/stream?id={id}"));
    if let Some(offset) = after {
        request = request.header("last-event-id", offset);
    }
    let answer = tokio::time::timeout(LIMIT, async { request.send().await.unwrap().text().await.unwrap() });
    let text = answer.await.expect("the stream ends with the build");
    let blocks = text.split("\n\n").filter_map(event);
    blocks.collect()
}

/// The event of a block of lines; `None` for a comment.
fn event(block: &str) -> Option<Event> {
    let mut event = Event::default();
    let mut data = String::new();
    for line in block.lines() {
        let (field, value) = line.split_once(':')?;
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => event.name = value.to_owned(),
            "id" => event.id = value.to_owned(),
            "data" => data.push_str(value),
            _ => {}
        }
    }
    event.data = serde_json::from_str(&data).ok()?;
    Some(event)
}

/// The log's text in these events.
pub fn text_of(events: &[Event]) -> String {
    let logs = events.iter().filter(|event| event.name == "log");
    logs.map(|event| event.data.text("text")).collect()
}
