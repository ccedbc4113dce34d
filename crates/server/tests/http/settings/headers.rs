//! `X-Request-Id` on every response; CORS on the check, device reports, signed metadata and signed downloads and nowhere else.

use std::collections::HashSet;

use launchway_config::RawSettings;
use launchway_domain::tenancy::Role;
use launchway_web::router;
use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, Fields, NOBODY, TestApp};

/// Sends a request like a page of another origin.
async fn from_elsewhere(app: &TestApp, method: Method, path: &str, key: &str) -> Answer {
    let url = if path.starts_with('/') { format!("{}{path}", app.origin) } else { path.to_owned() };
    let request = app
        .request(method, &url)
        .header("origin", "https://app.example")
        .header("access-control-request-method", "GET")
        .header("x-request-id", "mine");
    let request = if key.is_empty() { request } else { request.bearer_auth(key) };
    Answer::to(request).await
}

/// One of each kind of response: method, path, status.
async fn kinds(app: &TestApp, key: &str) -> Vec<(Method, String, u16)> {
    app.publish(key, json!({})).await.created();
    let offer = app.check("com.example.app", "currentVersion=1.0.0").await.ok();
    let download = offer.text("url").to_owned();
    let upload = json!({"fileName": "a.zip", "size": 1, "sha256": "00".repeat(32)});
    let upload = app.post(key, "/uploads", upload).await.created();
    let upload = upload.text("url").to_owned();
    let check = "/api/update/check/com.example.app";
    vec![
        (Method::GET, "/api/apps".to_owned(), 200),
        (Method::GET, "/api/apps?limit=0".to_owned(), 400),
        (Method::GET, "/api/apps?orgId=x".to_owned(), 403),
        (Method::GET, "/api/apps?id=x".to_owned(), 404),
        (Method::GET, "/nothing".to_owned(), 404),
        (Method::PUT, "/api/apps".to_owned(), 405),
        (Method::OPTIONS, "/api/apps".to_owned(), 405),
        (Method::GET, format!("{check}?currentVersion=1.0.0"), 200),
        (Method::HEAD, format!("{check}?currentVersion=1.0.0"), 200),
        (Method::GET, check.to_owned(), 400),
        (Method::GET, "/api/update/check/".to_owned(), 400),
        (Method::PUT, check.to_owned(), 405),
        (Method::OPTIONS, check.to_owned(), 200),
        (Method::GET, "/tuf/com.example.app/timestamp.json".to_owned(), 404),
        (Method::HEAD, "/tuf/com.example.app/timestamp.json".to_owned(), 404),
        (Method::GET, "/expo/com.example.app".to_owned(), 400),
        (Method::HEAD, "/expo/com.example.app".to_owned(), 400),
        (Method::GET, format!("/expo/com.example.app/assets/{}", "0a".repeat(32)), 404),
        (Method::GET, "/".to_owned(), 200),
        (Method::GET, "/docs".to_owned(), 200),
        (Method::GET, "/openapi.json".to_owned(), 200),
        (Method::GET, launchway_web::dashboard::assets::url("launchway.css").to_owned(), 200),
        (Method::GET, "/healthz".to_owned(), 200),
        (Method::GET, download.clone(), 200),
        (Method::HEAD, download.clone(), 200),
        (Method::GET, format!("{download}0"), 403),
        (Method::DELETE, download, 405),
        (Method::PUT, upload.clone(), 400),
        (Method::GET, upload, 403),
    ]
}

#[tokio::test]
async fn every_answer_has_a_request_id_of_its_own() {
    let (app, key) = TestApp::with_key().await;
    let mut ids = HashSet::new();
    for (method, path, status) in kinds(&app, &key).await {
        let answer = from_elsewhere(&app, method.clone(), &path, &key).await;
        assert_eq!(answer.status.as_u16(), status, "{method} {path}: {}", answer.text());
        let given: Vec<_> = answer.headers.get_all("x-request-id").iter().collect();
        assert_eq!(given.len(), 1, "{method} {path}");
        // The request id of a client is not adopted: clients must not be able to write log lines.
        let id = given[0].to_str().unwrap().to_owned();
        assert!(id.len() >= 16 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        assert!(ids.insert(id), "{method} {path} has an id that was there");
    }
}

/// The check, device reports, signed metadata and signed downloads answer any origin without credentials, `OPTIONS` included;
/// nothing else does: `docs/reference/conventions.md#cors`.
#[tokio::test]
async fn no_other_origin_reads_what_is_not_for_everybody() {
    let (app, org, key) = TestApp::with_org().await;
    app.user(org, "ada@example.com", Role::Owner).await;
    let is_open = |path: &str| {
        ["/api/update/check", "/api/update/report/", "/tuf/"].iter().any(|prefix| path.starts_with(prefix))
    };
    let mut calls: Vec<(Method, String)> = Vec::new();
    for line in router::lines() {
        let path = format!("/api{}", line.path.replace("{bundleId}", "com.example.app"));
        calls.push((Method::from_bytes(line.method.as_bytes()).unwrap(), path.clone()));
        calls.push((Method::OPTIONS, path));
    }
    for path in [
        "/",
        "/setup",
        "/invite",
        "/reset",
        "/docs",
        "/openapi.json",
        "/healthz",
        "/readyz",
        "/nothing",
        "/api/nothing",
        "/expo/com.example.app",
        "/tuf/com.example.app/timestamp.json",
    ] {
        calls.push((Method::GET, path.to_owned()));
        calls.push((Method::OPTIONS, path.to_owned()));
    }
    for (method, path) in calls {
        let answer = from_elsewhere(&app, method.clone(), &path, &key).await;
        let told: Vec<_> = answer.headers.keys().filter(|name| name.as_str().starts_with("access-control-")).collect();
        if is_open(&path) {
            assert_eq!(answer.header("access-control-allow-origin"), "*", "{method} {path}");
            assert_eq!(answer.header("access-control-allow-credentials"), "", "{method} {path}");
            let is_preflight = method == Method::OPTIONS;
            assert_eq!(answer.status.is_success() && told.len() > 1, is_preflight, "{method} {path}: {told:?}");
        } else {
            assert!(told.is_empty(), "{method} {path}: {told:?}");
        }
    }
}

#[tokio::test]
async fn signed_downloads_are_for_any_origin_and_uploads_are_not() {
    let (app, key) = TestApp::with_key().await;
    for (method, path, _) in kinds(&app, &key).await {
        if !path.starts_with("http") {
            continue;
        }
        let answer = from_elsewhere(&app, method.clone(), &path, "").await;
        let expected = if method == Method::PUT { "" } else { "*" };
        assert_eq!(answer.header("access-control-allow-origin"), expected, "{method} {path}");
        assert_eq!(answer.header("access-control-allow-credentials"), "", "{method} {path}");
    }
}

/// On all responses except those to checks, which apps call.
#[tokio::test]
async fn browsers_are_told_to_come_by_https_only() {
    const HSTS: &str = "strict-transport-security";
    for (public_url, no_hsts, expected) in [
        (Some("https://launchway.example"), None, "max-age=31536000"),
        (Some("https://launchway.example"), Some("true"), ""),
        (Some("http://launchway.internal"), None, ""),
        (None, None, ""),
    ] {
        let settings = RawSettings {
            public_url: public_url.map(str::to_owned),
            no_hsts: no_hsts.map(str::to_owned),
            ..RawSettings::default()
        };
        let app = TestApp::with(settings).await;
        let pages =
            ["/", "/docs", "/nothing", "/o/x", "/files/x", "/setup"].map(|path| format!("{}{path}", app.origin));
        for path in pages.iter().map(String::as_str).chain(["/apps", "/auth/session"]) {
            assert_eq!(app.get(NOBODY, path).await.header(HSTS), expected, "{path}");
        }
        assert_eq!(app.check("com.example.app", "currentVersion=1.0.0").await.header(HSTS), "");
    }
}
