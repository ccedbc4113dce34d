//! Uploads: what object storage receives, and what happens if it refuses.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use launchway_client::{Error, Source, Timeouts};
use serde_json::json;
use tempfile::NamedTempFile;

use crate::fake_server::{FakeServer, Reply};
use crate::{client_of, client_with};

const SHA256: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

fn file_of(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("space");
    file
}

fn source<'s>(path: &'s Path, size: usize) -> Source<'s> {
    Source {
        path,
        file_name: "update.zip",
        size: size as u64,
        sha256: SHA256,
    }
}

/// The answer to `POST /uploads` that names `path` on the same server.
fn place(server: &FakeServer, path: &str) -> Reply {
    let upload = json!({
        "id": format!("upload_{}", &path[1..]),
        "status": "pending",
        "method": "PUT",
        "url": format!("{}{path}?signature=secret", server.url()),
        "headers": {"content-type": "application/zip"},
        "expiresAt": "2026-11-20T10:00:00.000Z",
    });
    Reply::new(201, upload.to_string())
}

#[tokio::test]
async fn the_bytes_go_to_storage_with_their_length_and_no_key() {
    let bytes: Vec<u8> = (0..300_000_u32).map(|number| (number % 251) as u8).collect();
    let file = file_of(&bytes);
    let server = FakeServer::start([]).await;
    server.then([place(&server, "/1"), Reply::new(200, "")]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let progress = {
        let told = Arc::clone(&told);
        Arc::new(move |sent| told.lock().expect("no other holder panicked").push(sent))
    };
    let upload = client_of(&server)
        .0
        .upload(source(file.path(), bytes.len()), progress)
        .await
        .expect("an upload");
    assert_eq!(upload.id, "upload_1");

    let seen = server.seen();
    assert_eq!(seen[0].line, "POST /api/uploads");
    assert_eq!(
        seen[0].json(),
        json!({"fileName": "update.zip", "size": 300_000, "sha256": SHA256})
    );
    assert_eq!(seen[1].line, "PUT /1?signature=secret");
    assert_eq!(seen[1].header("content-length"), "300000");
    assert_eq!(seen[1].header("content-type"), "application/zip");
    assert_eq!(
        (seen[1].header("authorization"), seen[1].header("transfer-encoding")),
        ("", "")
    );
    assert!(seen[1].body == bytes, "other bytes arrived");

    let told = told.lock().expect("no other holder panicked");
    assert!(told.is_sorted() && told.last() == Some(&300_000), "{told:?}");
}

#[tokio::test]
async fn another_try_asks_for_another_url() {
    let file = file_of(b"test");
    let server = FakeServer::start([]).await;
    server.then([
        place(&server, "/1"),
        Reply::new(503, ""),
        place(&server, "/2"),
        Reply::new(200, ""),
    ]);
    let upload = client_of(&server)
        .0
        .upload(source(file.path(), 4), Arc::new(|_| ()))
        .await
        .expect("an upload");
    assert_eq!(upload.id, "upload_2");
    let last = server.seen().pop().expect("a request");
    assert_eq!(
        (last.line.as_str(), last.body.as_slice()),
        ("PUT /2?signature=secret", b"test".as_slice())
    );
}

#[tokio::test]
async fn a_refusal_ends_it_without_showing_the_signature() {
    let file = file_of(b"test");
    let server = FakeServer::start([]).await;
    server.then([place(&server, "/1"), Reply::new(403, "<Error/>")]);
    let error = client_of(&server)
        .0
        .upload(source(file.path(), 4), Arc::new(|_| ()))
        .await
        .expect_err("a refusal");
    assert!(matches!(error, Error::Refused { status: 403, .. }), "{error:?}");
    assert!(!format!("{error:?} {error}").contains("secret"));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_storage_that_never_answers_is_a_stall() {
    let file = file_of(b"test");
    let server = FakeServer::start([]).await;
    server.then((0..5).flat_map(|_| [place(&server, "/1"), Reply::silence()]));
    let timeouts = Timeouts {
        stall: Duration::from_millis(100),
        ..Timeouts::default()
    };
    let (client, environment) = client_with(&server.url(), None, timeouts);
    let error = client
        .upload(source(file.path(), 4), Arc::new(|_| ()))
        .await
        .expect_err("a stall");
    assert!(matches!(error, Error::Stalled { .. }), "{error:?}");
    assert_eq!(environment.pauses().len(), 4);
}

#[tokio::test]
async fn a_file_that_is_gone_or_too_short_is_an_error() {
    let server = FakeServer::start([]).await;
    server.then([place(&server, "/1")]);
    let gone = Path::new("no/such/file.zip");
    let error = client_of(&server)
        .0
        .upload(source(gone, 4), Arc::new(|_| ()))
        .await
        .expect_err("no file");
    assert!(matches!(error, Error::File { .. }), "{error:?}");

    let file = file_of(b"test");
    let server = FakeServer::start([]).await;
    server.then((0..5).map(|_| place(&server, "/1")));
    let error = client_of(&server)
        .0
        .upload(source(file.path(), 5), Arc::new(|_| ()))
        .await
        .expect_err("too short");
    assert!(
        matches!(error, Error::Network { .. } | Error::Refused { .. } | Error::Api { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn an_upload_answer_with_nonsense_is_an_error() {
    let file = file_of(b"test");
    for (url, header) in [("nowhere", "ok"), ("http://127.0.0.1:1/", "not\nok")] {
        let upload = json!({"id": "upload_1", "status": "pending", "method": "PUT", "url": url,
            "headers": {"x-meta": header}, "expiresAt": "2026-11-20T10:00:00.000Z"});
        let server = FakeServer::start([Reply::new(201, upload.to_string())]).await;
        let error = client_of(&server)
            .0
            .upload(source(file.path(), 4), Arc::new(|_| ()))
            .await
            .expect_err(url);
        assert!(matches!(error, Error::Invalid(_)), "{error:?}");
    }
}
