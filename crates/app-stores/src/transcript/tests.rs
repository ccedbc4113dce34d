//! What a transcript keeps and what it replaces.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::redaction::{Redaction, header};
use super::{MAX_EXCHANGES, Recorder};
use crate::transport::{Body, Method, Request, Response, Transport, TransportError};

/// Answers every request in the same way.
struct Same(Result<Response, TransportError>);

impl Transport for Same {
    fn send(&self, _: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async { self.0.clone() })
    }
}

fn answer(body: &Value) -> Response {
    Response {
        status: 200,
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("set-cookie".to_owned(), "session=secret".to_owned()),
        ],
        body: Bytes::from(body.to_string()),
    }
}

#[tokio::test]
async fn a_transcript_has_no_secret_of_a_request() {
    let recorder = Recorder::new(Arc::new(Same(Ok(answer(&json!({"access_token": "ya29.secret"}))))));
    let request = Request::new(Method::Post, "https://oauth2.googleapis.com/token")
        .header("authorization", "Bearer secret")
        .body(Body::Bytes(Bytes::from("assertion=secret")));
    recorder.send(request).await.unwrap();
    let text = recorder.transcript();
    assert!(
        text.starts_with("> POST oauth2.googleapis.com/token\n< 200 (30 bytes)\n< content-type: application/json\n")
    );
    assert!(!text.contains("secret"), "{text}");
    assert!(
        text.contains("\"access_token\": \"<value 1, 11 characters>\""),
        "{text}"
    );
}

#[tokio::test]
async fn a_transcript_names_a_missing_response() {
    let recorder = Recorder::new(Arc::new(Same(Err(TransportError::TimedOut))));
    let request = Request::new(Method::Get, "https://api.appstoreconnect.apple.com/v1/apps?limit=1");
    recorder.send(request).await.unwrap_err();
    let expected = "> GET api.appstoreconnect.apple.com/v1/apps?limit=1\n\
        < no response: the server did not respond in time\n\n";
    assert_eq!(recorder.transcript(), expected);
}

#[tokio::test]
async fn a_transcript_counts_requests_beyond_its_bound() {
    let recorder = Recorder::new(Arc::new(Same(Ok(Response::default()))));
    for _ in 0..MAX_EXCHANGES + 3 {
        recorder
            .send(Request::new(Method::Get, "https://x/v1/apps"))
            .await
            .unwrap();
    }
    assert!(recorder.transcript().ends_with("3 more requests are not shown.\n"));
    assert_eq!(recorder.transcript().matches("> GET").count(), MAX_EXCHANGES);
}

#[tokio::test]
async fn a_body_that_is_not_json_is_not_shown() {
    let body = Bytes::from("<html>com.example.app</html>");
    let response = Response {
        status: 502,
        body,
        ..Response::default()
    };
    let recorder = Recorder::new(Arc::new(Same(Ok(response))));
    recorder
        .send(Request::new(Method::Get, "https://x/v1/apps"))
        .await
        .unwrap();
    assert!(
        recorder
            .transcript()
            .ends_with("< 502 (28 bytes)\n(a body that is not JSON)\n\n")
    );
}

#[test]
fn a_url_keeps_its_words_and_no_identifier() {
    let rows = [
        (
            "https://api.appstoreconnect.apple.com/v1/apps/1234567890/buildUploads?limit=10",
            "api.appstoreconnect.apple.com/v1/apps/<value 1, 10 characters>/buildUploads?limit=10",
        ),
        (
            "https://api.appstoreconnect.apple.com/v1/apps?filter[bundleId]=com.example.app&limit=200",
            "api.appstoreconnect.apple.com/v1/apps?filter[bundleId]=<value 1, 15 characters>&limit=200",
        ),
        (
            "https://androidpublisher.googleapis.com/androidpublisher/v3/applications/myapp/tracks/beta/releases",
            "androidpublisher.googleapis.com/androidpublisher/v3/applications/<value 1, 5 characters>/tracks/beta/releases",
        ),
        (
            "https://internal.example.com/v1/apps?filter[state]=IN_REVIEW,WAITING_FOR_REVIEW",
            "<host>/v1/apps?filter[state]=IN_REVIEW,WAITING_FOR_REVIEW",
        ),
    ];
    for (url, expected) in rows {
        assert_eq!(Redaction::default().url(url), expected);
    }
}

#[test]
fn json_keeps_its_form_and_no_name() {
    let body = json!({
        "data": [{
            "type": "apps",
            "id": "1234567890",
            "attributes": {
                "name": "Secret Project", "bundleId": "com.example.app", "sku": "SECRET", "isOrEverWasMadeForKids": false,
                "appStoreState": "READY_FOR_SALE", "platform": "IOS", "createdDate": "2026-01-02T03:04:05-08:00",
                "size": 12_345_678, "versionCodes": ["41"],
            },
            "links": {"self": "https://api.appstoreconnect.apple.com/v1/apps/1234567890"},
        }],
        "meta": {"paging": {"total": 3, "limit": 10}},
        "jane@example.com": {"Secret Project": 1},
    });
    let expected = json!({
        "data": [{
            "type": "apps",
            "id": "<value 1, 10 characters>",
            "attributes": {
                "name": "<value 2, 14 characters>", "bundleId": "<value 3, 15 characters>",
                "sku": "<value 4, 6 characters>", "isOrEverWasMadeForKids": false, "appStoreState": "READY_FOR_SALE",
                "platform": "IOS", "createdDate": "2026-01-02T03:04:05-08:00", "size": "<value 5, 8 characters>",
                "versionCodes": ["<value 6, 2 characters>"],
            },
            "links": {"self": "<value 7, 56 characters>"},
        }],
        "meta": {"paging": {"total": 3, "limit": 10}},
        "<value 8, 16 characters>": {"<value 2, 14 characters>": 1},
    });
    // The numbers of placeholders depend on the order of fields, so only their form is compared.
    let plain = |value: &Value| {
        let text = value.to_string();
        let mut kept = String::new();
        let mut pieces = text.split("<value ");
        kept.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            kept.push_str(piece.trim_start_matches(|digit: char| digit.is_ascii_digit()));
        }
        kept
    };
    let redacted = Redaction::default().json(&body);
    let sorted = |value: &Value| {
        let mut letters: Vec<char> = plain(value).chars().collect();
        letters.sort_unstable();
        letters
    };
    assert_eq!(sorted(&redacted), sorted(&expected), "{redacted:#}");
    let text = redacted.to_string();
    for secret in ["Secret", "SECRET", "example", "1234567890", "12345678", "jane"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[test]
fn the_same_value_has_the_same_placeholder() {
    let mut redaction = Redaction::default();
    let url = redaction.url("https://x/v1/builds/0f3c-1");
    let json = redaction.json(&json!({"id": "0f3c-1"}));
    assert_eq!(url, "<host>/v1/builds/<value 1, 6 characters>");
    assert_eq!(json, json!({"id": "<value 1, 6 characters>"}));
}

#[test]
fn a_message_keeps_its_plain_words() {
    let rows = [
        (
            "There is no resource of type 'apps' with id '123'.",
            "There is no resource of type <value 1, 4 characters> with id <value 2, 3 characters>.",
        ),
        (
            "Package not found: com.example.app.",
            "Package not found: <value 1, 15 characters>.",
        ),
        (
            "The name 'Secret' can't be used",
            "The name <value 1, 6 characters> can't be used",
        ),
        (
            "The state READY_FOR_SALE does not allow this, jane@example.com",
            "The state READY_FOR_SALE does not allow this, <value 1, 16 characters>",
        ),
    ];
    for (message, expected) in rows {
        let redacted = Redaction::default().json(&json!({"detail": message}));
        assert_eq!(redacted, json!({"detail": expected}));
    }
}

#[test]
fn deep_json_is_cut_off() {
    let mut deep = json!("secret value");
    for _ in 0..60 {
        deep = json!([deep]);
    }
    let text = Redaction::default().json(&deep).to_string();
    assert!(text.contains("<deeper values>") && !text.contains("secret"), "{text}");
}

#[test]
fn a_header_with_other_letters_is_not_shown() {
    assert_eq!(
        header("user-hour-lim:3500;user-hour-rem:3499;"),
        "user-hour-lim:3500;user-hour-rem:3499;"
    );
    assert_eq!(header("jane@example.com"), "<16 characters>");
}
