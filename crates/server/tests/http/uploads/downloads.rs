//! Signed downloads: Range, ETag, conditions, HEAD, and the headers of bytes that users provided
//! (`docs/reference/uploads.md#bytes-from-users`).

use launchway_blob::Key;
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{BUNDLE, url};
use crate::support::{Answer, NOBODY, TestApp, package};

/// A service, the URL of a package, and its bytes.
async fn published() -> (TestApp, String, Vec<u8>) {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({"version": "1.2.3-rc.1+x", "buildNumber": "007"})).await;
    let offer = app.checked(BUNDLE, "currentVersion=0.1.0").await;
    let address = url(&offer).to_owned();
    (app, address, package("index.html", b"<h1>hello</h1>"))
}

async fn ask(app: &TestApp, method: Method, url: &str, headers: &[(&str, &str)]) -> Answer {
    let request = headers.iter().fold(app.request(method, url), |request, (name, value)| request.header(*name, *value));
    Answer::to(request).await
}

#[tokio::test]
async fn no_browser_runs_what_users_gave_and_any_page_may_fetch_it() {
    let (app, url, bytes) = published().await;
    let answer = app.get(NOBODY, &url).await;
    assert_eq!((answer.status, &answer.bytes), (StatusCode::OK, &bytes));
    for (name, value) in [
        ("content-type", "application/octet-stream"),
        ("content-disposition", "attachment; filename=\"com.example.app-1.2.3-rc.1+x-007.zip\""),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("accept-ranges", "bytes"),
        ("access-control-allow-origin", "*"),
        ("access-control-allow-credentials", ""),
        ("content-length", &bytes.len().to_string()),
    ] {
        assert_eq!(answer.header(name), value, "{name}");
    }
    assert_ne!(answer.header("x-request-id"), "");
    let etag = answer.header("etag");
    assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 2, "{etag} is strong");
    let preflight = ask(&app, Method::OPTIONS, &url, &[("origin", "https://a.example")]).await;
    assert!(preflight.status.is_success());
    assert_eq!(preflight.header("access-control-allow-origin"), "*");
    assert!(preflight.header("access-control-allow-methods").contains("GET"));
    assert!(preflight.header("access-control-allow-headers").contains("Range"));
}

#[tokio::test]
async fn a_range_is_served_in_part() {
    let (app, url, bytes) = published().await;
    let size = bytes.len();
    for (range, part) in [
        ("bytes=0-0", Some(0..1)),
        ("bytes=5-9", Some(5..10)),
        ("bytes=5-", Some(5..size)),
        ("bytes=-3", Some(size - 3..size)),
        ("bytes=0-999999", Some(0..size)),
        ("bytes=-999999", Some(0..size)),
        ("bytes=0-1,3-4", None),
        ("bytes=9-5", None),
        ("bytes=x", None),
        ("lines=1-2", None),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let answer = ask(&app, method.clone(), &url, &[("range", range)]).await;
            let (status, wanted) = part.clone().map_or((200, 0..size), |part| (206, part));
            assert_eq!(answer.status.as_u16(), status, "{range}");
            let shown = part.clone().map(|part| format!("bytes {}-{}/{size}", part.start, part.end - 1));
            assert_eq!(answer.header("content-range"), shown.unwrap_or_default(), "{range}");
            assert_eq!(answer.header("content-length"), wanted.len().to_string(), "{range}");
            let body = if method == Method::HEAD { &[][..] } else { &bytes[wanted] };
            assert_eq!(answer.bytes, body, "{range}");
        }
    }
    for range in [format!("bytes={size}-"), format!("bytes={size}-{size}"), "bytes=-0".to_owned()] {
        let answer = ask(&app, Method::GET, &url, &[("range", &range)]).await;
        assert_eq!(answer.status, 416, "{range}");
        assert_eq!(answer.header("content-range"), format!("bytes */{size}"), "{range}");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
    }
}

#[tokio::test]
async fn conditions_go_by_the_entity_tag() {
    let (app, url, bytes) = published().await;
    let first = app.get(NOBODY, &url).await;
    let etag = first.header("etag");
    for (name, value, status) in [
        ("if-none-match", etag.to_owned(), 304),
        ("if-none-match", format!("W/{etag}"), 304),
        ("if-none-match", format!("\"other\", {etag}"), 304),
        ("if-none-match", "*".to_owned(), 304),
        ("if-none-match", "\"other\"".to_owned(), 206),
        ("if-range", etag.to_owned(), 206),
        ("if-range", "\"other\"".to_owned(), 200),
        ("if-range", format!("W/{etag}"), 200),
    ] {
        let answer = ask(&app, Method::GET, &url, &[(name, &value), ("range", "bytes=1-2")]).await;
        assert_eq!(answer.status.as_u16(), status, "{name}: {value}");
        let body = match status {
            206 => &bytes[1..3],
            200 => &bytes,
            _ => &[],
        };
        assert_eq!((answer.bytes.as_slice(), answer.header("etag")), (body, etag), "{name}: {value}");
    }
    let again = app.checked(BUNDLE, "currentVersion=0.1.0").await;
    assert_eq!(app.get(NOBODY, super::url(&again)).await.header("etag"), etag, "the same bytes by another link");
}

#[tokio::test]
async fn another_link_than_the_signed_one_serves_nothing() {
    let (app, good, _) = published().await;
    let (path, query) = good.split_once('?').unwrap();
    for changed in [
        path.to_owned(),
        good.replace("expires=", "expires=9"),
        good.replace("signature=", "signature=0"),
        good.replace("name=", "name=x"),
        format!("{good}&name=x.html"),
        format!("{}/files/packages?{query}", app.origin),
        format!("{}/files/uploads/x?{query}", app.origin),
        format!("{}/files/..%2Fmaster.key?{query}", app.origin),
        format!("{path}%00?{query}"),
    ] {
        let answer = app.get(NOBODY, &changed).await;
        answer.refused(403, "The signature of this link is not valid");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{changed}");
    }
    let answer = ask(&app, Method::PUT, &good, &[("content-length", "0")]).await;
    assert_eq!(answer.status, 403, "a download URL takes nothing");
    let answer = ask(&app, Method::POST, &good, &[]).await;
    answer.refused(405, "A signed link supports GET and HEAD, or PUT");
    assert!(answer.header("allow").contains("GET"));
}

#[tokio::test]
async fn a_link_to_bytes_that_are_gone_is_404() {
    let (app, url, _) = published().await;
    for key in app.app.blob.list(Some(&Key::new("packages").unwrap())).await.unwrap() {
        app.app.blob.delete(&key).await.unwrap();
    }
    app.get(NOBODY, &url).await.refused(404, "No file has this link");
}
