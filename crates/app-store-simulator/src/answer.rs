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

/// Google's precise reason while other changes of an app are in review.
pub(crate) const IN_REVIEW_REASON: &str = "CHANGES_ALREADY_IN_REVIEW";

/// The refusal of App Store Connect for a version that lacks metadata in two languages.
pub(crate) fn missing_metadata() -> Response {
    let missing = |attribute: &str| {
        json!([{
            "id": "simulator",
            "status": "409",
            "code": "ENTITY_ERROR.ATTRIBUTE.REQUIRED",
            "title": "The provided entity is missing a required attribute",
            "detail": format!("You must provide a value for the attribute '{attribute}' with this request"),
        }])
    };
    let error = json!({
        "id": "simulator",
        "status": "409",
        "code": "STATE_ERROR.ENTITY_STATE_INVALID",
        "title": "appStoreVersions is not in valid state.",
        "detail": "This resource cannot be reviewed, please check associated errors to see why.",
        "meta": {"associatedErrors": {
            "/v1/appStoreVersionLocalizations/1": missing("description"),
            "/v1/appStoreVersionLocalizations/2": missing("description"),
            "/v1/appInfoLocalizations/1": missing("privacyPolicyUrl"),
        }},
    });
    with_status(409, &json!({"errors": [error]}))
}

/// A refusal in the format of Google Play.
pub(crate) fn google(RefusalError(status, code, message): RefusalError) -> Response {
    if code == IN_REVIEW_REASON {
        let info =
            json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": code, "domain": "googleapis.com"});
        let errors = json!([{"message": message, "domain": "global", "reason": "failedPrecondition"}]);
        let error = json!({"code": status, "message": message, "status": "FAILED_PRECONDITION", "errors": errors, "details": [info]});
        return with_status(status, &json!({"error": error}));
    }
    let error = json!({"code": status, "message": message, "status": code, "errors": [{"message": message, "domain": "global", "reason": code}]});
    with_status(status, &json!({"error": error}))
}

/// A list of App Store Connect without its items; any other response as it is.
pub(crate) fn without_items(answer: Response) -> Response {
    match serde_json::from_slice::<Value>(&answer.body) {
        Ok(mut list) if list["data"].is_array() => {
            list["data"] = json!([]);
            with_status(answer.status, &list)
        }
        _ => answer,
    }
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
