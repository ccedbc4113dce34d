//! The OpenAPI document: checked in, served, complete.

use std::collections::BTreeSet;

use launchway_server::http::admit::Access;
use launchway_server::http::router;
use serde_json::Value;

use crate::support::TestApp;

const CHECKED_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

fn document() -> Value {
    serde_json::to_value(router::openapi_document()).unwrap()
}

#[test]
fn the_checked_in_document_is_the_generated_one() {
    let generated = serde_json::to_string_pretty(&router::openapi_document()).unwrap() + "\n";
    let checked_in = std::fs::read_to_string(CHECKED_IN).unwrap_or_default();
    assert!(checked_in == generated, "run: cargo run -- openapi > docs/openapi.json");
}

#[tokio::test]
async fn the_served_document_is_the_generated_one() {
    let app = TestApp::start().await;
    for url in [
        format!("{}/openapi.json", app.origin),
        format!("{}/api/openapi.json", app.origin),
    ] {
        assert_eq!(app.get(&url).await.expect(200), document());
    }
}

#[test]
fn every_route_is_described_and_nothing_else() {
    let document = document();
    let described: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| {
            item.as_object()
                .unwrap()
                .keys()
                .map(|method| (method.to_uppercase(), path.clone()))
        })
        .collect();
    let routed: BTreeSet<_> = router::lines()
        .into_iter()
        .map(|line| (line.method, line.path))
        .collect();
    assert_eq!(described, routed);
}

#[test]
fn answers_have_exact_codes_and_each_error_the_one_body() {
    for (path, item) in document()["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let code: u16 = status.parse().unwrap_or_else(|_| panic!("{method} {path}: {status}"));
                if code >= 400 {
                    let schema = &response["content"]["application/json"]["schema"]["$ref"];
                    assert_eq!(schema, "#/components/schemas/Error", "{method} {path} {status}");
                }
            }
        }
    }
}

/// `docs/reference/conventions.md#routes-without-authentication`
#[test]
fn only_the_closed_list_needs_no_authentication() {
    let open: Vec<_> = router::lines()
        .into_iter()
        .filter(|line| matches!(line.access, Access::Public | Access::ReportToken))
        .map(|line| format!("{} {}", line.method, line.path))
        .collect();
    let listed = [
        "GET /update/check/{bundleId}",
        "POST /update/report/{bundleId}",
        "POST /auth/sign-in",
        "POST /auth/setup",
        "POST /auth/invitation",
        "POST /auth/reset",
        "POST /auth/device",
        "POST /auth/device/key",
        "GET /healthz",
        "GET /readyz",
        "GET /openapi.json",
        "GET /docs",
    ];
    assert_eq!(open, listed);
}
