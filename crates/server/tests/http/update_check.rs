//! The public check over HTTP: the form and headers of its responses, its methods, its links.

mod choice;
mod fingerprints;
mod limit;
mod pairs;
mod pipelined;
mod questions;
mod running;

use launchway_api::check::CheckResult;
use launchway_domain::time::{HOUR, SECOND, iso};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Answer, Fields, NOBODY, START, TestApp, package};

/// The fields of an offered update, in the order of `docs/reference/updates.md#result`.
const OFFER: [&str; 9] = [
    "buildNumber",
    "compatibilityReason",
    "expiresAt",
    "platform",
    "releaseNotes",
    "requiresStoreUpdate",
    "updateAvailable",
    "url",
    "version",
];
/// What a caller with `deviceId` or `currentUpdateId` also gets (`docs/reference/updates.md#additional-fields`).
const DEVICE_FIELDS: [&str; 4] = ["id", "mandatory", "sha256", "size"];

fn keys(answer: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn sorted<'k>(groups: &[&[&'k str]]) -> Vec<&'k str> {
    let mut keys = groups.concat();
    keys.sort_unstable();
    keys
}

#[tokio::test]
async fn the_three_shapes_have_exactly_their_fields() {
    let (app, key) = TestApp::with_key().await;
    let update =
        app.published(&key, json!({"fingerprint": "native-1", "mandatory": true, "releaseNotes": "New"})).await;
    for (query, fields) in [
        ("currentVersion=1.0.0", sorted(&[&OFFER])),
        ("currentVersion=1.0.0&fingerprint=native-0", sorted(&[&OFFER])),
        ("currentVersion=1.0.1", vec!["message", "updateAvailable"]),
        ("currentVersion=1.0.0&currentUpdateId=x", sorted(&[&OFFER, &DEVICE_FIELDS])),
        ("currentVersion=1.0.0&deviceId=d", sorted(&[&OFFER, &DEVICE_FIELDS, &["reportToken"]])),
        ("currentVersion=1.0.0&fingerprint=native-0&deviceId=d", sorted(&[&OFFER, &DEVICE_FIELDS, &["reportToken"]])),
        ("currentVersion=1.0.1&deviceId=d&currentUpdateId=x", vec!["message", "updateAvailable"]),
    ] {
        let answer = app.checked("com.example.app", query).await;
        assert_eq!(keys(&answer), fields, "{query}");
    }
    let unknown = app.checked("com.example.other", "currentVersion=1.0.0").await;
    assert_eq!(unknown, json!({"updateAvailable": false, "message": "No updates found for this bundle"}));
    let none = app.checked("com.example.app", "currentVersion=1.0.1").await;
    assert_eq!(none, json!({"updateAvailable": false, "message": "No update available"}));

    let mut offer = app.checked("com.example.app", "currentVersion=1.0.0&deviceId=d").await;
    let fields = offer.as_object_mut().unwrap();
    let token = fields.remove("reportToken").unwrap();
    assert!(token.as_str().is_some_and(|token| !token.is_empty()));
    assert!(fields.remove("url").unwrap().as_str().unwrap().starts_with(&app.origin));
    let expected = json!({
        "updateAvailable": true, "requiresStoreUpdate": false, "platform": "android", "version": "1.0.1",
        "buildNumber": "1", "releaseNotes": "New", "expiresAt": iso(START + HOUR), "compatibilityReason": null,
        "id": update["id"], "sha256": update["sha256"], "size": update["size"], "mandatory": true,
    });
    assert_eq!(offer, expected);
}

/// The server writes the answer by hand; the published type must read it, and write the same again.
#[tokio::test]
async fn the_answer_is_the_published_type_whatever_the_notes_say() {
    let (app, key) = TestApp::with_key().await;
    let notes = [
        "",
        "\"quoted\" \\ back\\\\slash / </script>",
        "lines\nand\r\ntabs\t and \u{1} \u{1f} \u{7f} controls",
        "ünïcode 日本語 🚀 \u{2028}\u{2029} \u{feff}",
        "\u{10ffff}",
        &"x".repeat(4096),
        &"\"".repeat(4096),
        &"🚀".repeat(1024),
    ];
    for (build, notes) in notes.iter().enumerate() {
        app.published(&key, json!({"buildNumber": build + 1, "releaseNotes": notes})).await;
        for query in ["currentVersion=1.0.0", "currentVersion=1.0.0&deviceId=d"] {
            let value = app.checked("com.example.app", query).await;
            let read: CheckResult = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(read.release_notes.as_deref(), Some(*notes));
            assert_eq!(read.compatibility_reason, Some(None));
            assert_eq!(serde_json::to_value(read).unwrap(), value);
        }
    }
}

#[tokio::test]
async fn every_answer_is_fresh_for_any_origin_with_its_request_id() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({})).await;
    let mut ids = std::collections::HashSet::new();
    for (status, path) in [
        (200, "com.example.app?currentVersion=1.0.0"),
        (200, "com.example.app?currentVersion=9.0.0"),
        (200, "com.example.none?currentVersion=1.0.0"),
        (400, "com.example.app"),
        (400, "com.example.app?currentVersion=x"),
        (400, "?currentVersion=1.0.0"),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let request = app.request(method.clone(), &format!("/update/check/{path}"));
            let answer = Answer::to(request.header("origin", "https://app.example")).await;
            assert_eq!(answer.status.as_u16(), status, "{method} {path}");
            assert_eq!(answer.header("cache-control"), "no-cache, no-store, must-revalidate", "{method} {path}");
            assert_eq!(answer.header("access-control-allow-origin"), "*", "{method} {path}");
            assert_eq!(answer.header("access-control-allow-credentials"), "");
            assert_eq!(answer.header("content-type"), "application/json", "{method} {path}");
            assert!(ids.insert(answer.header("x-request-id").to_owned()), "{method} {path}");
            assert_eq!(answer.bytes.is_empty(), method == Method::HEAD, "{method} {path}");
        }
    }
    assert!(!ids.contains(""));
}

#[tokio::test]
async fn a_browser_may_ask_first() {
    let app = TestApp::start().await;
    let request = app
        .request(Method::OPTIONS, "/update/check/com.example.app")
        .header("origin", "https://app.example")
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", "content-type");
    let answer = Answer::to(request).await;
    assert!(answer.status.is_success());
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("access-control-allow-credentials"), "");
    assert!(answer.header("access-control-allow-methods").contains("GET"));
    assert!(answer.header("access-control-allow-headers").contains("Content-Type"));
    assert!(answer.bytes.is_empty());
}

#[tokio::test]
async fn other_methods_are_405_and_told_what_is_allowed() {
    let app = TestApp::start().await;
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        let request = app.request(method.clone(), "/update/check/com.example.app?currentVersion=1.0.0");
        let answer = Answer::to(request).await;
        answer.refused(405, "This path does not support this method");
        let allowed: Vec<_> = answer.header("allow").split(',').map(str::trim).collect();
        assert!(allowed.contains(&"GET") && !allowed.contains(&method.as_str()), "{allowed:?}");
        assert_ne!(answer.header("x-request-id"), "");
    }
}

/// `docs/reference/updates.md#download-url`, by the clock: the last millisecond of the hour serves the bytes, the next refuses.
#[tokio::test]
async fn the_link_works_until_the_moment_that_expires_at_says() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({})).await;
    let bytes = package("index.html", b"<h1>hello</h1>");
    for offset in [0, 750] {
        app.advance(offset);
        let now = launchway_os::clock::Clock::now(&*app.clock);
        let offer = app.checked("com.example.app", "currentVersion=1.0.0&deviceId=d").await;
        let end = (now / SECOND) * SECOND + HOUR;
        assert_eq!(offer["expiresAt"], iso(end));
        let url = offer.text("url");
        app.advance(end - 1 - now);
        let served = app.get(NOBODY, url).await;
        served.is(200);
        assert_eq!(served.bytes, bytes);
        assert_eq!(offer["sha256"], hex::encode(Sha256::digest(&served.bytes)));
        assert_eq!(offer["size"], served.bytes.len());
        app.advance(1);
        app.get(NOBODY, url).await.refused(403, "This link has expired. Ask for a new one.");
    }
}
