//! `/credentials`: accepted if they open and match, shown without their secrets, with a warning before they expire
//! (`docs/reference/submissions.md#credentials`).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_domain::tenancy::Role;
use launchway_domain::time::{DAY, from_iso, iso};
use launchway_ops::credentials::notify_expiring;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Fields, START, Says, TestApp, with};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../credentials/tests/fixtures");

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{FIXTURES}/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A request for a credential from a fixture, with additional fields.
fn body(kind: &str, file: &str, more: Value) -> Value {
    let content = BASE64_STANDARD.encode(fixture(file));
    with(json!({"kind": kind, "content": content}), &more)
}

async fn create(app: &TestApp, key: &str, body: Value) -> Answer {
    app.post(key, "/credentials", body).await
}

/// The fixture of each kind in these tests, and what opens it.
fn good(kind: &str) -> Value {
    match kind {
        "android_keystore" => body(kind, "openssl3.p12", json!({"password": "store-secret"})),
        "apple_certificate" => body(kind, "distribution.p12", json!({"password": "store-secret"})),
        "app_store_connect_key" => body(
            kind,
            "store-connect.p8",
            json!({"keyId": "ABC123DEF4", "issuerId": "57246542-96fe-1a63-e053-0824d011072a"}),
        ),
        "google_service_account" => body(kind, "service-account.json", json!({})),
        _ => body(kind, "app-store.mobileprovision", json!({})),
    }
}

const KINDS: [&str; 5] = [
    "android_keystore",
    "apple_certificate",
    "app_store_connect_key",
    "google_service_account",
    "provisioning_profile",
];

/// A service at a time when the tests' files, which real tools made, are already valid.
async fn later() -> TestApp {
    let app = TestApp::start().await;
    app.advance(2 * DAY);
    app
}

#[tokio::test]
async fn each_kind_is_taken_and_shown_without_its_secrets() {
    let app = later().await;
    let (org, key) = app.org_with_key().await;
    let cookie = app.user(org, "ada@example.com", Role::Admin).await;
    let expected: Value = serde_json::from_slice(&fixture("expected.json")).unwrap();
    let mut made = Vec::new();
    for (kind, file, name) in [
        ("android_keystore", "openssl3.p12", "upload"),
        ("apple_certificate", "distribution.p12", "Apple Distribution: Example GmbH (ABCDE12345)"),
        ("app_store_connect_key", "store-connect.p8", "ABC123DEF4"),
        ("google_service_account", "service-account.json", "launchway@example-project.iam.gserviceaccount.com"),
        ("provisioning_profile", "app-store.mobileprovision", "Example app_store"),
    ] {
        app.advance(1);
        let mut one = app.post(&cookie, "/credentials", good(kind)).await.created();
        let events = one.as_object_mut().unwrap().remove("storeEvents");
        assert_eq!(events.is_some(), kind == "app_store_connect_key");
        let mut facts = expected[file].clone();
        for field in ["kind", "fingerprint", "expiresAt"] {
            facts.as_object_mut().unwrap().remove(field);
        }
        let whole = json!({
            "id": one["id"], "status": "active", "kind": kind, "name": name, "bundleId": null,
            "fingerprint": expected[file]["fingerprint"], "facts": facts, "expiresAt": expected[file]["expiresAt"],
            "createdBy": one["createdBy"], "createdAt": iso(START + 2 * DAY + made.len() as i64 + 1),
        });
        assert_eq!(one, whole);
        assert!(one.id().starts_with("credential_"));
        assert_eq!(app.get(&key, &format!("/credentials?id={}", one.id())).await.ok(), one);
        made.insert(0, one);
    }
    let listed = app.get(&key, "/credentials").await.ok();
    assert_eq!(listed, json!({"items": made, "total": 5, "limit": 10, "offset": 0}));
    for path in ["/credentials", "/audit?limit=100"] {
        let shown = app.get(&key, path).await.text();
        shown.lacks("store-secret");
        shown.lacks("PRIVATE KEY");
    }
}

#[tokio::test]
async fn what_does_not_open_or_fit_is_refused_in_clear_words() {
    let app = later().await;
    let (_, key) = app.org_with_key().await;
    let cut = |kind: &str| {
        let mut body = good(kind);
        let content = BASE64_STANDARD.decode(body.text("content")).unwrap();
        body["content"] = json!(BASE64_STANDARD.encode(&content[..content.len() / 2]));
        body
    };
    let with = |kind: &str, field: &str, value: Value| {
        let mut body = good(kind);
        body[field] = value;
        body
    };
    let other = |kind: &str, of: &str| {
        let mut body = good(of);
        body["kind"] = json!(kind);
        body
    };
    let mut cases = vec![
        (
            with("android_keystore", "password", json!("wrong-secret")),
            "The password is wrong: it does not open the Android keystore",
        ),
        (
            with("apple_certificate", "password", json!("wrong-secret")),
            "The password is wrong: it does not open the Apple certificate",
        ),
        (
            with("android_keystore", "password", Value::Null),
            "The Android keystore is protected by a password: send it as password",
        ),
        (with("app_store_connect_key", "keyId", json!("short")), "keyId must be 10 upper-case letters and digits"),
        (
            body("android_keystore", "expired.p12", json!({"password": "store-secret"})),
            "The Android keystore expired on ",
        ),
        (
            body("apple_certificate", "expired-distribution.p12", json!({"password": "store-secret"})),
            "The Apple certificate expired on ",
        ),
        (body("provisioning_profile", "expired.mobileprovision", json!({})), "The provisioning profile expired on "),
        (
            with("provisioning_profile", "bundleId", json!("com.example.other")),
            "The provisioning profile is for PREFIX1234.com.example.app, which does not cover com.example.other.",
        ),
        (
            body("android_keystore", "two-keys.p12", json!({"password": "store-secret"})),
            "The Android keystore has several private keys: choose one with alias",
        ),
        (
            other("apple_certificate", "provisioning_profile"),
            "This is a provisioning profile, not an Apple certificate",
        ),
        (
            other("android_keystore", "google_service_account"),
            "This is a Google service account key, not an Android keystore",
        ),
        (
            other("provisioning_profile", "android_keystore"),
            "This is a PKCS#12 file (.p12), not a provisioning profile",
        ),
        (
            other("app_store_connect_key", "apple_certificate"),
            "This is a PKCS#12 file (.p12), not an App Store Connect key",
        ),
        (
            other("google_service_account", "app_store_connect_key"),
            "This is a bare private key, not a Google service account key",
        ),
        (with("android_keystore", "content", json!("not base64!")), "content must be the file in base64"),
        (with("android_keystore", "content", json!("")), "The file is empty."),
        (with("android_keystore", "content", json!(7)), "content: must be a text"),
        (
            with("android_keystore", "kind", json!("keystore")),
            "kind must be app_store_connect_key, google_service_account,",
        ),
        (with("android_keystore", "name", json!("\u{7}")), "name must have 1 to 100 visible characters"),
        (with("android_keystore", "bundleId", json!("a b")), "bundleId "),
        (with("android_keystore", "bundleId", json!("")), "bundleId must be "),
        (json!({"kind": "android_keystore"}), "missing field `content`"),
    ];
    cases.extend(KINDS.map(|kind| (cut(kind), "")));
    for (body, message) in cases {
        let mut body = body;
        if body["password"].is_null() {
            body.as_object_mut().unwrap().remove("password");
        }
        let answer = create(&app, &key, body.clone()).await;
        let told = answer.refusal(400);
        assert!(told.starts_with(message) && !told.is_empty(), "{told}, not {message}");
        told.lacks("secret");
    }
    assert_eq!(app.get(&key, "/credentials").await.ok()["total"], 0);
}

#[tokio::test]
async fn an_app_of_another_organization_is_refused() {
    let app = later().await;
    let (_, key) = app.org_with_key().await;
    let (_, other) = app.org_with_key().await;
    app.post(&other, "/apps", json!({"bundleId": "com.example.theirs"})).await.created();
    let mut body = good("android_keystore");
    body["bundleId"] = json!("com.Example.Theirs");
    let message = "bundleId: com.Example.Theirs belongs to another organization; \
                   the operator of this server can transfer it";
    create(&app, &key, body.clone()).await.refused(400, message);
    body["bundleId"] = json!("com.example.free");
    assert_eq!(create(&app, &key, body).await.created()["bundleId"], "com.example.free");
}

#[tokio::test]
async fn base64_may_be_wrapped_and_unpadded() {
    let app = later().await;
    let (_, key) = app.org_with_key().await;
    let mut body = good("android_keystore");
    let content = body.text("content").to_owned();
    let lines: Vec<&str> = content.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    for form in [lines.join("\n") + "\n", lines.join("\r\n"), content.trim_end_matches('=').to_owned()] {
        body["content"] = json!(form);
        create(&app, &key, body.clone()).await.created();
    }
}

#[tokio::test]
async fn a_repeated_request_makes_one() {
    let app = later().await;
    let (_, key) = app.org_with_key().await;
    let mut answers = Vec::new();
    for _ in 0..2 {
        let request = app.request(Method::POST, "/credentials").bearer_auth(&key).header("idempotency-key", "one");
        let answer = Answer::to(request.json(&good("android_keystore"))).await;
        answers.push(answer.created());
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(app.get(&key, "/credentials").await.ok()["total"], 1);
}

#[tokio::test]
async fn a_deleted_one_is_gone() {
    let app = later().await;
    let (_, key) = app.org_with_key().await;
    let made = create(&app, &key, good("google_service_account")).await.created();
    let path = format!("/credentials?id={}", made.id());
    let gone = app.delete(&key, &path).await.ok();
    assert_eq!(gone, json!({"id": made["id"], "status": "deleted"}));
    for method in [Method::DELETE, Method::GET] {
        app.send(&key, method, &path, ()).await.refused(404, "No credential has this id");
    }
    let audit = app.get(&key, "/audit?action=credential.delete").await.ok();
    assert_eq!(audit["items"][0]["before"], made);
}

/// 30 and 7 days before the end, each once (`docs/reference/submissions.md#notices-of-expiry`).
#[tokio::test]
async fn the_end_is_told_twice() {
    let app = later().await;
    let (org, key) = app.org_with_key().await;
    let made = create(&app, &key, good("provisioning_profile")).await.created();
    create(&app, &key, good("google_service_account")).await.created();
    let end = from_iso(made.text("expiresAt")).unwrap();
    let to = |days: i64| end - days * DAY;
    let mut told = Vec::new();
    for (days, notices) in [(31, 0), (30, 1), (30, 0), (8, 0), (7, 1), (7, 0), (1, 0), (0, 0), (-1, 0)] {
        app.advance(to(days) - app.app.clock.now());
        assert_eq!(notify_expiring(&app.app).await.unwrap(), notices, "{days} days before");
        told.push(days);
    }
    let events = app.events(org).await;
    let expiring: Vec<&Value> =
        events.iter().filter(|(kind, _)| kind == "credential.expiring").map(|(_, data)| data).collect();
    let seen: Vec<(&Value, &Value, &Value)> =
        expiring.iter().map(|data| (&data["id"], &data["daysLeft"], &data["status"])).collect();
    let (id, active) = (&made["id"], &json!("active"));
    assert_eq!(seen, [(id, &json!(30), active), (id, &json!(7), active)]);
    assert_eq!(app.get(&key, &format!("/credentials?id={}", made.id())).await.ok()["status"], "expired");
}

/// A credential that is about to expire when it is created is reported at once, and not again by the job.
#[tokio::test]
async fn the_end_of_one_that_ends_soon_is_told_at_once() {
    let app = later().await;
    let (org, key) = app.org_with_key().await;
    let made = create(&app, &key, good("provisioning_profile")).await.created();
    let end = from_iso(made.text("expiresAt")).unwrap();
    app.advance(end - 20 * DAY - app.app.clock.now());
    let soon = create(&app, &key, good("provisioning_profile")).await.created();
    let events = app.events(org).await;
    let told: Vec<_> = events.iter().map(|(kind, data)| (kind.as_str(), &data["id"])).collect();
    assert_eq!(told, [("credential.expiring", &soon["id"])]);
    assert_eq!(notify_expiring(&app.app).await.unwrap(), 1, "the other one");
}
