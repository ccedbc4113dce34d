//! Query parameters: unknown ones are ignored, a known one given twice is 400, an empty optional one counts as absent,
//! an empty `id` is 400 (`docs/reference/conventions.md#query-parameters`).

use launchway_web::router;
use reqwest::Method;
use serde_json::Value;

use crate::support::TestApp;

/// Calls that a key may make and that accept this parameter.
fn taking(name: &str) -> Vec<(String, String)> {
    let document = serde_json::to_value(router::openapi_document()).unwrap();
    let mut calls = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let takes = parameters.into_iter().any(|parameter| parameter["name"] == name);
            let by_key = !operation["security"][0]["apiKey"].is_null();
            if takes && by_key {
                calls.push((method.to_uppercase(), path.clone()));
            }
        }
    }
    assert!(!calls.is_empty(), "{name}");
    calls
}

/// A body that is well-formed wherever `id` names the resource to change.
fn body(method: &str, path: &str) -> Option<Value> {
    let text = match (method, path) {
        ("PATCH", "/update") => r#"{"rollout": 7}"#,
        ("PATCH", "/submit") => r#"{"rollout": 7}"#,
        ("PATCH", "/orgs") => r#"{"name": "x"}"#,
        ("PATCH", "/orgs/members") => r#"{"role": "admin"}"#,
        ("PATCH", other) => panic!("add a body for PATCH {other}"),
        _ => return None,
    };
    Some(serde_json::from_str(text).unwrap())
}

async fn ask(app: &TestApp, key: &str, call: &(String, String), query: &str) -> crate::support::Answer {
    let (method, path) = call;
    let verb = Method::from_bytes(method.as_bytes()).unwrap();
    app.send(key, verb, &format!("{path}{query}"), body(method, path)).await
}

#[tokio::test]
async fn pages_have_a_limit_and_an_offset() {
    let (app, key) = TestApp::with_key().await;
    // A list that belongs to one resource or app has no page without its id: `webhooks/delivery.rs` and `trust.rs` test
    // those.
    let of_one = ["/webhooks/deliveries", "/trust/drafts"];
    let lists = taking("limit").into_iter().filter(|(_, path)| !of_one.contains(&path.as_str()));
    for call in lists {
        for (query, limit, offset) in [
            ("", 10, 0),
            ("?limit=&offset=", 10, 0),
            ("?limit=1", 1, 0),
            ("?limit=100&offset=5", 100, 5),
            ("?limit=101", 100, 0),
            ("?limit=999999999&offset=999999999", 100, 999_999_999),
            ("?limit=007", 7, 0),
            ("?Limit=0&x=%ff&=&&page=2&page=3", 10, 0),
        ] {
            let list = ask(&app, &key, &call, query).await.ok();
            let names: Vec<_> = list.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(names, ["items", "limit", "offset", "total"], "{call:?}");
            assert_eq!((&list["limit"], &list["offset"]), (&limit.into(), &offset.into()), "{call:?}{query}");
        }
        let limit = "limit must be a whole number from 1";
        let offset = "offset must be a whole number from 0";
        for (query, message) in [
            ("?limit=0", limit),
            ("?limit=-1", limit),
            ("?limit=ten", limit),
            ("?limit=1.0", limit),
            ("?limit=1e2", limit),
            ("?limit=%2B5", limit),
            ("?limit=+5", limit),
            ("?limit=1000000000", limit),
            ("?limit=0000000001", limit),
            ("?limit=%D9%A1", limit),
            ("?offset=-1", offset),
            ("?offset=x", offset),
            ("?offset=99999999999999999999", offset),
            ("?limit=1&limit=1", "limit is given twice"),
            ("?limit=1&l%69mit=1", "limit is given twice"),
            ("?limit=&limit=", "limit is given twice"),
            ("?offset=1&offset=2", "offset is given twice"),
            ("?limit=%ff", "limit is not valid UTF-8"),
        ] {
            ask(&app, &key, &call, query).await.refused(400, message);
        }
        app.advance(launchway_domain::time::MINUTE);
    }
}

#[tokio::test]
async fn an_id_is_given_once_and_is_not_empty() {
    let (app, key) = TestApp::with_key().await;
    let long = format!("?id={}", "x".repeat(8000));
    for call in taking("id") {
        for (query, message) in [
            ("?id=", "id is required"),
            ("?id", "id is required"),
            ("?id=a&id=a", "id is given twice"),
            ("?id=&id=a", "id is given twice"),
            ("?id=%ff", "id is not valid UTF-8"),
        ] {
            ask(&app, &key, &call, query).await.refused(400, message);
        }
        if call.0 != "GET" {
            ask(&app, &key, &call, "").await.refused(400, "id is required");
            ask(&app, &key, &call, "?ID=x").await.refused(400, "id is required");
        }
        // An id of any form that names nothing is not found.
        let unknown = ask(&app, &key, &call, "?id=x").await;
        assert_eq!(unknown.status.as_u16(), 404, "{call:?}: {}", unknown.text());
        for query in ["?id=%00", "?id=%20", "?id=%F0%9F%9A%80", "?id='%20OR%201=1--", "?id=../../etc/passwd", &long] {
            assert_eq!(ask(&app, &key, &call, query).await.text(), unknown.text(), "{call:?}{query}");
        }
    }
}
