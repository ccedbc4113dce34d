//! Parses responses: their JSON, and the fields that a step needs.

use launchway_domain::time::{EpochMs, SECOND};
use serde_json::Value;

use crate::failure::AppStoreError;
use crate::transport::Response;

/// The JSON of a response; `null` if it is empty.
pub(crate) fn json(response: &Response) -> Result<Value, AppStoreError> {
    if response.body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&response.body).map_err(|_| AppStoreError::invalid_response("JSON"))
}

/// The error for a status that says nothing about the request itself.
pub(crate) fn unavailable(response: &Response) -> Option<AppStoreError> {
    let status = response.status;
    matches!(status, 408 | 425 | 429 | 500..=599 | 300..=399).then(|| AppStoreError::Unavailable {
        why: format!("it responded with status {status}"),
        status: Some(status),
        retry_after: response.header("retry-after").and_then(seconds),
    })
}

/// `Retry-After` in seconds; the date format is not supported.
fn seconds(text: &str) -> Option<EpochMs> {
    text.trim().parse::<EpochMs>().ok()?.checked_mul(SECOND)
}

/// Reads fields of a JSON response.
pub(crate) trait Fields {
    /// The text at a JSON pointer.
    fn text(&self, pointer: &str) -> Option<&str>;
    /// The text at a JSON pointer; an error if it is missing.
    fn need(&self, pointer: &str) -> Result<String, AppStoreError>;
    /// The array at a JSON pointer; empty if it is missing.
    fn list(&self, pointer: &str) -> &[Value];
}

impl Fields for Value {
    fn text(&self, pointer: &str) -> Option<&str> {
        self.pointer(pointer).and_then(Value::as_str)
    }

    fn need(&self, pointer: &str) -> Result<String, AppStoreError> {
        let text = self.text(pointer).filter(|text| !text.is_empty());
        text.map(str::to_owned)
            .ok_or_else(|| AppStoreError::invalid_response(pointer.trim_start_matches('/')))
    }

    fn list(&self, pointer: &str) -> &[Value] {
        self.pointer(pointer)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }
}
