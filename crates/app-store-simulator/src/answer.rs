//! Answers in the form of each store.

use bytes::Bytes;
use launchway_app_stores::transport::Response;
use serde_json::{Value, json};

use crate::call::Call;

/// A store's refusal: the status, its code where it has codes, its sentence.
#[derive(Clone, Debug)]
pub(crate) struct Refused(pub u16, pub &'static str, pub String);

/// 200 with JSON.
pub(crate) fn ok(value: &Value) -> Response {
    with_status(200, value)
}

/// JSON with a status.
pub(crate) fn with_status(status: u16, value: &Value) -> Response {
    Response {
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: Bytes::from(value.to_string()),
    }
}

/// A status without a body.
pub(crate) fn status(status: u16) -> Response {
    Response {
        status,
        ..Response::default()
    }
}

/// A refusal as App Store Connect says it.
pub(crate) fn apple(Refused(status, code, detail): Refused) -> Response {
    let error = json!({"id": "simulator", "status": status.to_string(), "code": code, "title": code, "detail": detail});
    with_status(status, &json!({"errors": [error]}))
}

/// A refusal as Google says it.
pub(crate) fn google(Refused(status, code, message): Refused) -> Response {
    let error = json!({"code": status, "message": message, "status": code, "errors": [{"message": message, "domain": "global", "reason": code}]});
    with_status(status, &json!({"error": error}))
}

/// The error of a status in the form of the store that is called.
pub(crate) fn error_of(call: &Call, code: u16) -> Response {
    let sentence = "The simulator was told to answer so.".to_owned();
    if call.path.starts_with("/v1/") {
        apple(Refused(code, "SIMULATED_FAULT", sentence))
    } else {
        google(Refused(code, "SIMULATED_FAULT", sentence))
    }
}
