//! Parses responses: their JSON, and the fields that a step needs.

use launchway_domain::time::{EpochMs, SECOND, from_http_date};
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

/// The error for a status that says nothing about the request itself. `now` is when the response arrived.
pub(crate) fn unavailable(response: &Response, now: EpochMs) -> Option<AppStoreError> {
    let status = response.status;
    matches!(status, 408 | 425 | 429 | 500..=599 | 300..=399).then(|| AppStoreError::Unavailable {
        why: format!("it responded with status {status}"),
        status: Some(status),
        retry_after: response
            .header("retry-after")
            .and_then(|text| pause(text, response, now)),
    })
}

/// The pause of `Retry-After`: seconds, or a date, which counts from the date of the response, because the app store's
/// clock may differ from ours.
fn pause(text: &str, response: &Response, now: EpochMs) -> Option<EpochMs> {
    if let Ok(seconds) = text.trim().parse::<EpochMs>() {
        return seconds.checked_mul(SECOND);
    }
    let sent_at = response.header("date").and_then(from_http_date).unwrap_or(now);
    Some(from_http_date(text)?.saturating_sub(sent_at).max(0))
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

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: EpochMs = 1_795_255_200_000;

    #[test]
    fn a_pause_is_a_number_of_seconds_or_a_date() {
        for (asked, date, wanted) in [
            ("120", None, Some(120 * SECOND)),
            // NOW is 10:00:00 of this day.
            ("Sat, 21 Nov 2026 10:02:00 GMT", None, Some(120 * SECOND)),
            (
                "Sat, 21 Nov 2026 10:02:00 GMT",
                Some("Sat, 21 Nov 2026 10:01:30 GMT"),
                Some(30 * SECOND),
            ),
            ("Sat, 21 Nov 2026 09:00:00 GMT", None, Some(0)),
            ("Sat, 21 Nov 2026 10:02:00 GMT", Some("yesterday"), Some(120 * SECOND)),
            ("soon", None, None),
            ("9223372036854775807", None, None),
            ("", None, None),
        ] {
            let mut headers = vec![("retry-after".to_owned(), asked.to_owned())];
            headers.extend(date.map(|date| ("date".to_owned(), date.to_owned())));
            let response = Response {
                status: 503,
                headers,
                ..Response::default()
            };
            let failure = unavailable(&response, NOW).unwrap();
            assert_eq!(failure.retry_after(), wanted, "{asked} {date:?}");
        }
    }
}
