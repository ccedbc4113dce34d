//! The fields of a request to publish: accepted values, and a 400 that names the rejected ones.

use reqwest::Method;
use serde_json::{Value, json};

use super::BUNDLE;
use crate::support::{Answer, Fields, TestApp};

/// The 400 of a publish with these fields over valid ones; the upload does not exist, because the form is checked
/// first.
async fn refusal(app: &TestApp, key: &str, fields: &Value) -> String {
    let mut body = json!({"uploadId": "upload_none", "bundleId": BUNDLE, "platform": "ios", "version": "1.0.0"});
    for (name, value) in fields.as_object().unwrap() {
        match value.as_str() {
            Some("(absent)") => drop(body.as_object_mut().unwrap().remove(name)),
            _ => body[name] = value.clone(),
        }
    }
    let answer = app.post(key, "/update", body).await;
    answer.refusal(400)
}

#[tokio::test]
async fn a_wrong_form_is_400_and_names_its_field() {
    let (app, key) = TestApp::with_key().await;
    let (long, hash) = ("x".repeat(300), "a".repeat(64));
    let document = |change: &dyn Fn(&mut Value)| {
        let mut document = json!({
            "alg": "lwfp-1", "framework": "capacitor", "native": hash, "platform": "ios", "plugins": {},
            "resources": hash,
        });
        change(&mut document);
        document
    };
    let rows = [
        (
            "bundleId",
            vec![
                json!("(absent)"),
                json!(null),
                json!(1),
                json!(""),
                json!(" "),
                json!("com..app"),
                json!(".com"),
                json!("com."),
                json!("com.exämple"),
                json!("com.example/app"),
                json!("com.example app"),
                json!("a".repeat(156)),
                json!(["a"]),
            ],
        ),
        (
            "platform",
            vec![json!("(absent)"), json!(null), json!(1), json!(""), json!("iOS"), json!("windows"), json!("ios ")],
        ),
        (
            "version",
            vec![
                json!("(absent)"),
                json!(null),
                json!(1),
                json!(1.2),
                json!(""),
                json!("v1"),
                json!("1.0.0.0"),
                json!("01.0.0"),
                json!(" 1.0.0"),
                json!("1.0.0\n"),
                json!("latest"),
                json!(format!("1.0.0-{long}")),
                json!("99999999999999999999.0.0"),
            ],
        ),
        (
            "buildNumber",
            vec![
                json!(""),
                json!("AUTO"),
                json!("1.0"),
                json!("-1"),
                json!("+1"),
                json!(" 1"),
                json!("1234567890123456789"),
                json!(1_234_567_890_123_456_789_i64),
                json!(-1),
                json!(1.5),
                json!(true),
                json!([1]),
                json!("٣"),
            ],
        ),
        ("configuration", vec![json!(1), json!("a b"), json!("a/b"), json!("ä"), json!("x".repeat(65)), json!(["a"])]),
        (
            "fingerprint",
            vec![
                json!(""),
                json!("a b"),
                json!("ä"),
                json!("x".repeat(129)),
                json!(1),
                json!([]),
                json!({}),
                document(&|document| document["alg"] = json!("lwfp-3")),
                document(&|document| document["native"] = json!("AA")),
                document(&|document| document["plugins"] = json!({"a": 1})),
                document(&|document| document["plugins"] = json!([])),
                document(&|document| document["extra"] = json!(1)),
                document(&|document| drop(document.as_object_mut().unwrap().remove("resources"))),
            ],
        ),
        ("releaseNotes", vec![json!(1), json!(["a"]), json!("x".repeat(4097)), json!("é".repeat(2049))]),
        ("rollout", vec![json!(-1), json!(101), json!(50.5), json!("50"), json!(1e20), json!([5])]),
        ("mandatory", vec![json!("true"), json!(1), json!({})]),
        ("uploadId", vec![json!(1), json!(["a"]), json!("(absent)"), json!(null)]),
        ("sourceUpdateId", vec![json!(1), json!("update_none")]),
        ("buildId", vec![json!(1)]),
        ("status", vec![json!("paused")]),
        ("bundleID", vec![json!("com.example.app")]),
    ];
    for (field, values) in rows {
        for value in values {
            let message = refusal(&app, &key, &json!({field: value})).await;
            assert!(message.contains(field), "{field} = {value}: {message}");
        }
    }
}

#[tokio::test]
async fn a_good_form_is_taken_at_its_limits() {
    let (app, key) = TestApp::with_key().await;
    let plugins: Value =
        (0..2000).map(|number| (format!("plugin-{number}"), json!("1.0.0"))).collect::<serde_json::Map<_, _>>().into();
    let hash = "0".repeat(64);
    let document = json!({
        "alg": "lwfp-1", "framework": "native", "native": hash, "platform": "android", "plugins": plugins,
        "resources": hash,
    });
    for fields in [
        json!({"bundleId": "a.b"}),
        json!({"bundleId": format!("a.{}", "b".repeat(153))}),
        json!({"bundleId": "com.example-1.My_App"}),
        json!({"version": format!("1.0.0-{}", "a".repeat(122))}),
        json!({"version": "18446744073709551615.0.0"}),
        json!({"version": "2"}),
        json!({"platform": "ios", "buildNumber": "999999999999999999"}),
        json!({"platform": "ios", "buildNumber": 999_999_999_999_999_998_i64}),
        json!({"buildNumber": "000000000000000003"}),
        json!({"buildNumber": 0}),
        json!({"configuration": "x".repeat(64), "fingerprint": "~".repeat(128)}),
        json!({"configuration": "eu.west_1-B", "releaseNotes": "x".repeat(4096)}),
        json!({"configuration": "notes", "releaseNotes": "é".repeat(2048)}),
        json!({"configuration": "none", "rollout": 0}),
        json!({"configuration": "all", "rollout": 100}),
    ] {
        let update = app.published(&key, fields.clone()).await;
        for (field, value) in fields.as_object().unwrap() {
            let written = value
                .as_i64()
                .filter(|_| field == "buildNumber")
                .map_or(value.clone(), |number| json!(number.to_string()));
            assert_eq!(update[field], written, "{field}");
        }
    }
    let update = app.published(&key, json!({"configuration": "document", "fingerprint": document})).await;
    assert_eq!(update.text("fingerprint").len(), 64);
}

#[tokio::test]
async fn a_body_that_is_no_json_object_is_400() {
    let (app, key) = TestApp::with_key().await;
    for body in [
        "",
        "{",
        "null",
        "[]",
        "\"text\"",
        "{\"uploadId\":\"a\",}",
        "{} {}",
        "\u{feff}{}",
        "{\"version\":\"1\",\"version\":\"1\"}",
    ] {
        let request = app.request(Method::POST, "/update").bearer_auth(&key).header("content-type", "application/json");
        let answer = Answer::to(request.body(body)).await;
        answer.refusal(400);
    }
}

/// The form (400) is checked before the resources that the ids name (404):
/// `docs/reference/conventions.md#order-of-checks`.
#[tokio::test]
async fn ids_that_name_nothing_are_404_after_the_form() {
    let (app, key) = TestApp::with_key().await;
    let (_, other) = app.org_with_key().await;
    let foreign_upload = app.upload(&other, b"x").await;
    let foreign_update = app.published(&other, json!({"bundleId": "com.example.foreign"})).await;
    let publish = async |source: Value| {
        let mut body = json!({"bundleId": BUNDLE, "platform": "ios", "version": "1.0.0"});
        body.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
        app.post(&key, "/update", body).await
    };
    for (source, message) in [
        (json!({"uploadId": "nonsense"}), "No upload has this id"),
        (json!({"uploadId": ""}), "No upload has this id"),
        (json!({"uploadId": "upload_00000000000000000000000000"}), "No upload has this id"),
        (json!({"uploadId": foreign_upload}), "No upload has this id"),
        (json!({"sourceUpdateId": "nonsense"}), "No update has this id"),
        (json!({"sourceUpdateId": "update_00000000000000000000000000"}), "No update has this id"),
        (json!({"sourceUpdateId": foreign_update["id"]}), "No update has this id"),
        (json!({"uploadId": "nonsense", "buildId": "build_none"}), "No build has this id"),
    ] {
        publish(source).await.refused(404, message);
    }
    publish(json!({"uploadId": "nonsense", "rollout": 101})).await.is(400);
}
