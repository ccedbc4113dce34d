//! The OpenAPI document: checked in, served, complete.

use std::collections::BTreeSet;

use launchway_web::admit::Access;
use launchway_web::router;
use serde_json::Value;

use crate::support::{NOBODY, TestApp};

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
    for url in [format!("{}/openapi.json", app.origin), format!("{}/api/openapi.json", app.origin)] {
        assert_eq!(app.get(NOBODY, &url).await.ok(), document());
    }
}

#[test]
fn every_route_is_described_and_nothing_else() {
    let document = document();
    let described: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| item.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone())))
        .collect();
    let routed: BTreeSet<_> = router::lines().into_iter().map(|line| (line.method, line.path)).collect();
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

/// Calls `visit` with every object in a value.
fn each_object<'v>(value: &'v Value, visit: &mut impl FnMut(&'v serde_json::Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            visit(fields);
            fields.values().for_each(|inner| each_object(inner, visit));
        }
        Value::Array(items) => items.iter().for_each(|inner| each_object(inner, visit)),
        _ => {}
    }
}

/// The values that a schema lists, directly or by reference.
fn words<'d>(document: &'d Value, schema: &'d Value) -> Option<&'d Vec<Value>> {
    if let Some(path) = schema["$ref"].as_str() {
        return words(document, document.pointer(path.trim_start_matches('#'))?);
    }
    let choices = ["oneOf", "anyOf", "items"].into_iter().flat_map(|name| match &schema[name] {
        Value::Array(choices) => choices.iter().collect(),
        Value::Null => Vec::new(),
        one => vec![one],
    });
    schema["enum"].as_array().or_else(|| choices.filter_map(|choice| words(document, choice)).next())
}

#[test]
fn every_reference_leads_to_a_schema() {
    let document = document();
    each_object(&document, &mut |fields| {
        if let Some(path) = fields.get("$ref").and_then(Value::as_str) {
            assert!(document.pointer(path.trim_start_matches('#')).is_some(), "{path}");
        }
    });
}

/// A part of an object that may be absent is left out; it is never null.
#[test]
fn no_part_of_an_object_is_null() {
    let document = document();
    each_object(&document, &mut |fields| {
        for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let choices = ["oneOf", "anyOf"].into_iter().filter_map(|name| part[name].as_array());
            assert!(choices.flatten().all(|choice| choice["type"] != "null"), "{part}");
        }
    });
}

/// Fields with a fixed set of values, by name; and fields with such a name that hold any text.
#[test]
fn fields_of_words_list_them() {
    const OF_WORDS: [&str; 16] = [
        "buildType",
        "code",
        "destination",
        "distribution",
        "environment",
        "events",
        "kind",
        "method",
        "platform",
        "role",
        "scopes",
        "status",
        "store",
        "tier",
        "type",
        "visibility",
    ];
    const ANY_TEXT: [&str; 17] = [
        // Whether the request left it open.
        "Undecided.buildType",
        "Undecided.distribution",
        // A code of an authenticator app.
        "AcceptInvitation.code",
        "SignIn.code",
        // The name in a plan.
        "AnnounceArtifact.kind",
        "Artifact.kind",
        // Lists of records.
        "DeviceReport.events",
        "OneOrPage_Submission.events",
        "Page_Submission.events",
        "Submission.events",
        // Names of configurations.
        "AddTrustSignatures.role",
        "CreateTrustDraft.role",
        "OneOrPage_TrustDraft.role",
        "Page_TrustDraft.role",
        "SignedRole.role",
        "TrustDraft.role",
        "TrustRole.role",
    ];
    let document = document();
    let mut listed = 0;
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        each_object(schema, &mut |fields| {
            let Some(properties) = fields.get("properties").and_then(Value::as_object) else {
                return;
            };
            for (field, property) in properties {
                let of_words = OF_WORDS.contains(&field.as_str());
                if of_words && !ANY_TEXT.contains(&format!("{name}.{field}").as_str()) {
                    assert!(words(&document, property).is_some(), "{name}.{field} lists no words: {property}");
                    listed += 1;
                }
            }
        });
    }
    assert!(listed > 100, "{listed}");
    let status = words(&document, &document["components"]["schemas"]["Build"]["properties"]["status"]);
    assert_eq!(status.unwrap(), &["queued", "running", "success", "failed", "canceled"]);
    let parameters = document["paths"]["/build"]["get"]["parameters"].as_array().unwrap();
    let platform = parameters.iter().find(|parameter| parameter["name"] == "platform").unwrap();
    assert_eq!(words(&document, &platform["schema"]).unwrap(), &["ios", "android", "visionos"]);
}
