//! The paths and methods; everything else is 404 or 405 with `Allow`, in JSON.

use std::collections::{BTreeMap, BTreeSet};

use launchway_web::router;
use reqwest::Method;

use super::is_error;
use crate::support::{Answer, TestApp};

const NO_PATH: &str = "There is nothing at this path. The API is described at /docs.";
const NO_METHOD: &str = "This path does not support this method";
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"];

async fn ask(app: &TestApp, method: &str, path: &str) -> Answer {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let request = app.request(method, &format!("{}{path}", app.origin));
    Answer::to(request).await
}

/// The methods of every path: those of the router's list under `/api`, and those outside it.
fn methods() -> BTreeMap<String, BTreeSet<&'static str>> {
    let mut methods: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut add = |path: String, method: &str| {
        let known = METHODS.iter().find(|known| **known == method).unwrap();
        let all = methods.entry(path).or_default();
        all.insert(known);
        if method == "GET" {
            all.insert("HEAD");
        }
    };
    for line in router::lines() {
        let path = format!("/api{}", line.path.replace("{bundleId}", "com.example.app"));
        add(path, &line.method);
    }
    for path in [
        "/healthz",
        "/readyz",
        "/openapi.json",
        "/docs",
        launchway_web::dashboard::assets::url("launchway.css"),
        "/api/update/check",
        "/api/update/check/",
        "/tuf/com.example.app/timestamp.json",
    ] {
        add(path.to_owned(), "GET");
    }
    for path in ["/", "/setup", "/invite", "/reset"] {
        add(path.to_owned(), "GET");
        add(path.to_owned(), "POST");
    }
    // Pages of any origin may check and report: `docs/reference/conventions.md#cors`.
    for (_, all) in methods.iter_mut().filter(|(path, _)| is_for_any_origin(path)) {
        all.insert("OPTIONS");
    }
    methods
}

fn is_for_any_origin(path: &str) -> bool {
    ["/api/update/check", "/api/update/report/", "/tuf/"].iter().any(|prefix| path.starts_with(prefix))
}

#[tokio::test]
async fn an_unknown_path_is_not_found() {
    let app = TestApp::start().await;
    for path in [
        "/api",
        "/api/",
        "/nothing",
        "/api/nothing",
        "/api/Update",
        "/api/update/",
        "/api/update/x",
        "/api/orgs/",
        "/api/orgs/x",
        "/api/update/check/a/b",
        "/api/update/report",
        "/api/update/report/",
        "/healthz/",
        "//api/update",
        "/api//update",
        "/api/../healthz/x",
        "/assets/",
        "/assets/launchway.css",
        "/files",
        "/tuf",
        "/tuf/",
        "/api/tuf/com.example.app/timestamp.json",
        "/api/api/update",
        "/update",
        "/orgs",
    ] {
        for method in ["GET", "POST", "DELETE"] {
            is_error(&ask(&app, method, path).await, 404, NO_PATH, &format!("{method} {path}"));
        }
        let head = ask(&app, "HEAD", path).await;
        assert_eq!((head.status.as_u16(), head.bytes.len()), (404, 0), "HEAD {path}");
    }
}

#[tokio::test]
async fn a_method_that_a_path_does_not_take_is_told_which_it_takes() {
    let app = TestApp::start().await;
    for (path, allowed) in methods() {
        for method in METHODS.iter().filter(|method| !allowed.contains(*method)) {
            let answer = ask(&app, method, &path).await;
            let what = format!("{method} {path}");
            if *method == "HEAD" {
                assert_eq!(answer.status.as_u16(), 405, "{what}");
            } else {
                is_error(&answer, 405, NO_METHOD, &what);
            }
            let told: BTreeSet<_> = answer.header("allow").split(',').map(str::trim).collect();
            assert_eq!(told, allowed, "Allow of {what}");
        }
    }
}

#[tokio::test]
async fn head_answers_as_get_without_the_body() {
    let (app, key) = TestApp::with_key().await;
    for (path, _) in methods().into_iter().filter(|(_, all)| all.contains("GET")) {
        let path = format!("{path}?currentVersion=1.0.0");
        let ask = async |method: Method| {
            let request = app.request(method, &format!("{}{path}", app.origin)).bearer_auth(&key);
            Answer::to(request).await
        };
        let (get, head) = (ask(Method::GET).await, ask(Method::HEAD).await);
        assert_eq!(head.status, get.status, "{path}");
        assert!(head.bytes.is_empty() && !get.bytes.is_empty(), "{path}");
        for name in ["content-type", "content-length", "cache-control", "content-security-policy", "x-ratelimit-limit"]
        {
            assert_eq!(head.header(name), get.header(name), "{name} of {path}");
        }
    }
}

#[tokio::test]
async fn health_is_told_at_the_root_and_under_api() {
    let app = TestApp::start().await;
    for path in ["/healthz", "/readyz", "/api/healthz", "/api/readyz"] {
        let view = ask(&app, "GET", path).await.ok();
        assert_eq!(view["status"], "ok", "{path}");
    }
}
