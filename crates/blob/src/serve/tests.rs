//! The signed URLs over HTTP: every kind of response with its headers.

use axum::body::to_bytes;
use launchway_os::free_space::Floor;
use tower::ServiceExt;

use super::*;
use crate::{Blob, Key};

const NOW: i64 = 1_790_000_000_000;

struct Server {
    blob: Blob,
    router: Router,
    _root: tempfile::TempDir,
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn is_problem(&self, status: u16, error: &str) -> bool {
        if self.status < 400 {
            return false;
        }
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        let fields: Vec<_> = body.as_object().unwrap().keys().collect();
        assert!(
            body["message"].as_str().is_some_and(|message| !message.is_empty()),
            "{body}"
        );
        self.status == status && body["error"] == error && fields == ["error", "message"]
    }
}

impl Server {
    fn start() -> Server {
        let root = tempfile::tempdir().unwrap();
        let blob = Blob::local(root.path(), "/files", [9; 32], Floor::NONE).unwrap();
        let Blob::Local(directory) = &blob else {
            unreachable!("it was opened as one")
        };
        let router = Router::new().nest("/files", router(directory.clone(), Arc::new(|| NOW)));
        Server {
            blob,
            router,
            _root: root,
        }
    }

    async fn ask(&self, method: &str, url: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
        let builder = Request::builder().method(method).uri(url);
        let builder = headers
            .iter()
            .fold(builder, |builder, (name, value)| builder.header(*name, *value));
        let response = self
            .router
            .clone()
            .oneshot(builder.body(body.into()).unwrap())
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, 1 << 20).await.unwrap().to_vec();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: String::from_utf8(body).unwrap(),
        }
    }

    fn get_url(&self) -> String {
        self.blob
            .presign_get(&key("packages/a.zip"), "My \"App\".zip", NOW, 3600)
            .url
    }

    fn put_url(&self, size: u64) -> String {
        self.blob.presign_put(&key("packages/a.zip"), size, NOW, 3600).url
    }

    async fn with_object() -> Server {
        let server = Server::start();
        let put = server
            .ask("PUT", &server.put_url(10), &[("content-length", "10")], "0123456789")
            .await;
        assert_eq!((put.status, put.body.as_str()), (200, ""));
        assert_eq!(
            put.header("access-control-allow-origin"),
            "",
            "uploads are not for pages of other origins"
        );
        server
    }
}

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

#[tokio::test]
async fn a_download_is_an_attachment_that_no_browser_runs() {
    let server = Server::with_object().await;
    let get = server.ask("GET", &server.get_url(), &[], "").await;
    assert_eq!((get.status, get.body.as_str()), (200, "0123456789"));
    let wanted = [
        ("content-length", "10"),
        ("content-type", "application/octet-stream"),
        (
            "content-disposition",
            "attachment; filename=\"My _App_.zip\"; filename*=UTF-8''My%20%22App%22.zip",
        ),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("accept-ranges", "bytes"),
        ("cache-control", "private, max-age=3600"),
        ("access-control-allow-origin", "*"),
    ];
    for (name, value) in wanted {
        assert_eq!(get.header(name), value, "{name}");
    }
    assert!(get.header("access-control-expose-headers").contains("ETag"));
    let head = server.ask("HEAD", &server.get_url(), &[], "").await;
    assert_eq!(
        (head.status, head.body.as_str(), head.header("content-length")),
        (200, "", "10")
    );
    assert_eq!(head.header("etag"), get.header("etag"));
}

#[tokio::test]
async fn ranges() {
    let server = Server::with_object().await;
    let url = server.get_url();
    let etag = server.ask("HEAD", &url, &[], "").await.header("etag").to_owned();
    let cases = [
        (vec![("range", "bytes=2-4")], 206, "234", "bytes 2-4/10"),
        (vec![("range", "bytes=-2")], 206, "89", "bytes 8-9/10"),
        (vec![("range", "bytes=7-")], 206, "789", "bytes 7-9/10"),
        (vec![("range", "bytes=1-2,4-5")], 200, "0123456789", ""),
        (
            vec![("range", "bytes=2-4"), ("if-range", &*etag)],
            206,
            "234",
            "bytes 2-4/10",
        ),
        (
            vec![("range", "bytes=2-4"), ("if-range", "\"another\"")],
            200,
            "0123456789",
            "",
        ),
    ];
    for (headers, status, body, content_range) in cases {
        let got = server.ask("GET", &url, &headers, "").await;
        let found = (got.status, got.body.as_str(), got.header("content-range"));
        assert_eq!(found, (status, body, content_range), "{headers:?}");
        assert_eq!(got.header("content-length"), body.len().to_string());
    }
    let beyond = server.ask("GET", &url, &[("range", "bytes=10-")], "").await;
    assert!(beyond.is_problem(416, "Range Not Satisfiable"));
    assert_eq!(beyond.header("content-range"), "bytes */10");
    let head = server.ask("HEAD", &url, &[("range", "bytes=2-4")], "").await;
    assert_eq!(
        (head.status, head.header("content-length"), head.body.as_str()),
        (206, "3", "")
    );
}

#[tokio::test]
async fn what_the_client_has_is_not_sent_again() {
    let server = Server::with_object().await;
    let url = server.get_url();
    let etag = server.ask("HEAD", &url, &[], "").await.header("etag").to_owned();
    assert!(etag.starts_with('"') && etag.ends_with('"'));
    for (known, status) in [
        (etag.clone(), 304),
        (format!("\"x\", W/{etag}"), 304),
        ("*".to_owned(), 304),
        ("\"x\"".to_owned(), 200),
    ] {
        let got = server.ask("GET", &url, &[("if-none-match", &known)], "").await;
        assert_eq!((got.status, got.body.is_empty()), (status, status == 304), "{known}");
        assert_eq!(got.header("etag"), etag);
    }
}

#[tokio::test]
async fn what_was_not_signed_is_forbidden() {
    let server = Server::with_object().await;
    let get = server.get_url();
    let old = server
        .blob
        .presign_get(&key("packages/a.zip"), "a", NOW - 3_600_000, 3600)
        .url;
    let path_only = get.split('?').next().unwrap();
    for (method, url) in [
        ("GET", path_only.to_owned()),
        ("GET", get.replace("a.zip?", "b.zip?")),
        ("GET", get.replace("a.zip?", "%61.zip?")),
        ("GET", get.replace("/packages/", "/x/../packages/")),
        ("GET", get.replace("/packages/", "/packages//")),
        ("GET", server.put_url(10)),
        ("PUT", get.clone()),
        ("PUT", server.put_url(10).replace("size=10", "size=11")),
        ("GET", old.clone()),
    ] {
        let got = server.ask(method, &url, &[], "0123456789").await;
        assert!(
            got.is_problem(403, "Forbidden"),
            "{method} {url}: {} {}",
            got.status,
            got.body
        );
    }
    assert_eq!(server.ask("HEAD", &old, &[], "").await.status, 403);
    assert_eq!(server.ask("GET", &get, &[], "").await.body, "0123456789");
}

#[tokio::test]
async fn a_missing_object_is_not_found() {
    let server = Server::start();
    let got = server.ask("GET", &server.get_url(), &[], "").await;
    assert!(got.is_problem(404, "Not Found"));
    assert_eq!(
        got.header("access-control-allow-origin"),
        "*",
        "a page must be able to read why"
    );
}

#[tokio::test]
async fn an_upload_has_exactly_the_signed_size() {
    let server = Server::with_object().await;
    let cases = [
        (&[][..], "12345", 413, "Payload Too Large"),
        (&[("content-length", "5")], "12345", 413, "Payload Too Large"),
        (&[], "123", 400, "Bad Request"),
        (&[("content-length", "3")], "123", 400, "Bad Request"),
    ];
    for (headers, body, status, error) in cases {
        let got = server.ask("PUT", &server.put_url(4), headers, body).await;
        assert!(got.is_problem(status, error), "{body} {headers:?}: {}", got.body);
    }
    assert_eq!(
        server.ask("GET", &server.get_url(), &[], "").await.body,
        "0123456789",
        "the old object is untouched"
    );
    assert_eq!(server.ask("PUT", &server.put_url(4), &[], "1234").await.status, 200);
    assert_eq!(server.ask("GET", &server.get_url(), &[], "").await.body, "1234");
}

#[tokio::test]
async fn other_methods_are_named() {
    let server = Server::with_object().await;
    for method in ["POST", "DELETE", "PATCH"] {
        let got = server.ask(method, &server.get_url(), &[], "").await;
        assert!(got.is_problem(405, "Method Not Allowed"), "{method}");
        assert_eq!(got.header("allow"), "GET, HEAD, PUT, OPTIONS");
    }
    let options = server
        .ask("OPTIONS", &server.get_url(), &[("origin", "https://example.com")], "")
        .await;
    assert_eq!(
        (options.status, options.header("access-control-allow-origin")),
        (204, "*")
    );
    assert_eq!(options.header("access-control-allow-methods"), "GET, HEAD");
    assert!(options.header("access-control-allow-headers").contains("Range"));
    assert_eq!(options.header("access-control-allow-credentials"), "");
}

#[test]
fn a_full_disk_is_503() {
    let response = Problem::from(BlobError::Full).into_response();
    assert_eq!(response.status(), 503);
}
