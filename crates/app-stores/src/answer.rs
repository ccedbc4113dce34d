//! Reads answers: their JSON, and the fields that a step needs of it.

use launchway_domain::time::{EpochMs, SECOND};
use serde_json::Value;

use crate::failure::AppStoreError;
use crate::transport::Response;

/// The JSON of an answer; of an empty one `null`.
pub(crate) fn json(response: &Response) -> Result<Value, AppStoreError> {
    if response.body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&response.body).map_err(|_| AppStoreError::nonsense("JSON"))
}

/// The trouble behind a status that says nothing about the call itself.
pub(crate) fn unavailable(response: &Response) -> Option<AppStoreError> {
    let status = response.status;
    matches!(status, 408 | 425 | 429 | 500..=599 | 300..=399).then(|| AppStoreError::Unavailable {
        why: format!("it answered {status}"),
        status: Some(status),
        retry_after: response.header("retry-after").and_then(seconds),
    })
}

/// `Retry-After` in seconds; the form of a date is not worth the reading.
fn seconds(text: &str) -> Option<EpochMs> {
    text.trim().parse::<EpochMs>().ok()?.checked_mul(SECOND)
}

/// Reads fields of an answer.
pub(crate) trait Fields {
    /// The text at a JSON pointer.
    fn text(&self, pointer: &str) -> Option<&str>;
    /// The text at a JSON pointer that must be there.
    fn need(&self, pointer: &str) -> Result<String, AppStoreError>;
    /// The array at a JSON pointer; empty when there is none.
    fn list(&self, pointer: &str) -> &[Value];
}

impl Fields for Value {
    fn text(&self, pointer: &str) -> Option<&str> {
        self.pointer(pointer).and_then(Value::as_str)
    }

    fn need(&self, pointer: &str) -> Result<String, AppStoreError> {
        let text = self.text(pointer).filter(|text| !text.is_empty());
        text.map(str::to_owned)
            .ok_or_else(|| AppStoreError::nonsense(pointer.trim_start_matches('/')))
    }

    fn list(&self, pointer: &str) -> &[Value] {
        self.pointer(pointer)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }
}

/// A text for a place in a path or query: everything but letters, digits and `-._~` in percent signs.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}
