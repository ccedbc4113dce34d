//! Responses in the format of each app store.

use bytes::Bytes;
use launchway_app_stores::transport::Response;
use serde_json::{Value, json};

use crate::call::Call;

/// A refusal of an app store: the status, the code (if any), and the message.
#[derive(Clone, Debug)]
pub(crate) struct RefusalError(pub u16, pub &'static str, pub String);

/// The refusal of App Store Connect for a resource in the wrong state.
pub(crate) fn state_error(detail: &str) -> RefusalError {
    RefusalError(409, "STATE_ERROR", detail.to_owned())
}

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

/// A refusal in the format of App Store Connect.
pub(crate) fn apple(RefusalError(status, code, detail): RefusalError) -> Response {
    let error = json!({"id": "simulator", "status": status.to_string(), "code": code, "title": code, "detail": detail});
    with_status(status, &json!({"errors": [error]}))
}

/// A refusal in the format of Google Play.
pub(crate) fn google(RefusalError(status, code, message): RefusalError) -> Response {
    let error = json!({"code": status, "message": message, "status": code, "errors": [{"message": message, "domain": "global", "reason": code}]});
    with_status(status, &json!({"error": error}))
}

/// An error with this status, in the format of the called app store.
pub(crate) fn error_of(call: &Call, code: u16) -> Response {
    let sentence = "The simulator was told to answer so.".to_owned();
    if call.path.starts_with("/v1/") {
        apple(RefusalError(code, "SIMULATED_FAULT", sentence))
    } else {
        google(RefusalError(code, "SIMULATED_FAULT", sentence))
    }
}
