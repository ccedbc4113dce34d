//! Logs by offset, masked again, durable, in constant memory.

use launchway_domain::id::BuildId;
use serde_json::json;

use crate::stage::runners::{Held, Runner};
use crate::support::TestApp;

const SECRET: &str = "correct-horse-battery";

/// A build whose environment holds a secret, on a runner.
async fn a_build(app: &TestApp) -> (BuildId, Runner) {
    let (org, key) = app.org_with_key().await;
    app.post(&key, "/env", json!({"name": "TOKEN", "value": SECRET})).await.created();
    (app.queue(org, |_| ()).await, app.runner(&key, &[]).await)
}

#[tokio::test]
async fn a_log_grows_by_offset_each_byte_once() {
    for app in TestApp::on_both().await {
        let (id, runner) = a_build(&app).await;
        let held = app.take(&runner).await;
        assert_eq!(held.logged(0, b"").await, 0);
        assert_eq!(held.logged(0, b"one\n").await, 4);
        // The response to a gap is the right offset; known bytes are dropped.
        assert_eq!(held.logged(5, b"wo\n").await, 4);
        assert_eq!(held.logged(0, b"one\n").await, 4);
        assert_eq!(held.logged(2, b"e\ntwo\n").await, 8);
        assert_eq!(held.logged(8, b"\xff\x00\xfe\n").await, 12);
        assert_eq!(app.log(id).await, b"one\ntwo\n\xff\x00\xfe\n");
        assert_eq!(app.build(id).await.log_size, 12);
    }
}

/// Sends a log in pieces of this size like a runner, continuing at the offset in the server's response.
async fn send(held: &Held<'_>, log: &[u8], piece: usize, mut before: impl FnMut()) {
    let mut offset = 0;
    while offset < log.len() {
        before();
        let end = log.len().min(offset + piece);
        let next = held.logged(offset, &log[offset..end]).await as usize;
        assert_eq!(next, end);
        offset = next;
    }
}

#[tokio::test]
async fn the_server_masks_what_the_runner_did_not_in_any_chunks() {
    let log = format!("a {SECRET} b\ncorrect-horse-b\n{SECRET}{SECRET}\n{}", &SECRET[..9]);
    let stars = "*".repeat(SECRET.len());
    let masked = format!("a {stars} b\ncorrect-horse-b\n{stars}{stars}\n{}", &SECRET[..9]);
    for piece in [1, 2, 7, 20, 21, 22, 1000] {
        let app = TestApp::start().await;
        let (id, runner) = a_build(&app).await;
        let held = app.take(&runner).await;
        // The server forgets its masked secrets before each chunk, as after a restart.
        send(&held, log.as_bytes(), piece, || app.app.maskers.forget(id)).await;
        // The end of the sent bytes may be the start of a secret, so it is not visible yet.
        let seen = app.log(id).await;
        assert!(masked.as_bytes().starts_with(&seen) && seen.len() < log.len(), "{piece}");
        held.finish(json!({"logSize": log.len()})).await.ok();
        assert_eq!(String::from_utf8(app.log(id).await).unwrap(), masked, "{piece}");
    }
}

#[tokio::test]
async fn no_reader_ever_sees_a_part_of_a_secret() {
    let app = TestApp::start().await;
    let (id, runner) = a_build(&app).await;
    let held = app.take(&runner).await;
    for (at, letter) in SECRET.bytes().enumerate() {
        held.logged(at, &[letter]).await;
        assert_eq!(app.log(id).await, b"", "{at}");
    }
    held.logged(SECRET.len(), b"\n.").await;
    let seen = app.log(id).await;
    assert_eq!(String::from_utf8_lossy(&seen).trim_end_matches(['.', '\n']), "*".repeat(SECRET.len()));
}

#[tokio::test]
async fn the_beginning_of_a_long_log_goes_to_object_storage() {
    let app = TestApp::start().await;
    let (id, runner) = a_build(&app).await;
    let org = app.build(id).await.org_id;
    let held = app.take(&runner).await;
    let log: Vec<u8> = (0..600_000u32).flat_map(|number| format!("{number}\n").into_bytes()).collect();
    assert!(log.len() > 3 << 20);
    send(&held, &log, 200_000, || ()).await;
    let tail = async || {
        let mut tx = app.app.db.read().await.unwrap();
        let chunks = tx.org(org).log_tail(id, 0, 1000).await.unwrap();
        chunks.iter().map(|chunk| chunk.bytes.len()).sum::<usize>()
    };
    assert!(tail().await < 1 << 20);
    assert_eq!(app.log(id).await, log);
    held.finish(json!({"logSize": log.len()})).await.ok();
    assert_eq!(tail().await, 0);
    assert_eq!(app.log(id).await, log);
}
