//! Responses, and what tests say about them: `app.get(&key, "/apps").await.ok()`.

use reqwest::header::HeaderMap;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use super::Says;

/// A response with its whole body.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub async fn to(request: RequestBuilder) -> Answer {
        Answer::of(request.send().await.unwrap()).await
    }

    pub async fn of(response: Response) -> Answer {
        let (status, headers) = (response.status(), response.headers().clone());
        Answer { status, headers, bytes: response.bytes().await.unwrap().to_vec() }
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// The session cookie that this response sets, as a browser sends it back.
    pub fn cookie(&self) -> String {
        self.header("set-cookie").split(';').next().unwrap().to_owned()
    }

    #[track_caller]
    pub fn is(&self, status: u16) {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
    }

    /// The JSON of a response that must be 200.
    #[track_caller]
    pub fn ok(&self) -> Value {
        self.expect(200)
    }

    /// The JSON of a response that must be 201.
    #[track_caller]
    pub fn created(&self) -> Value {
        self.expect(201)
    }

    /// The JSON of a response that must have this status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        self.is(status);
        self.json()
    }

    /// The response must be an error with exactly this body (`docs/reference/conventions.md#error-body`).
    #[track_caller]
    pub fn refused(&self, status: u16, message: &str) {
        let error = match status {
            400 => "Bad Request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            413 => "Payload Too Large",
            429 => "Rate Limited",
            503 => "Service Unavailable",
            _ => "Internal Error",
        };
        assert_eq!(self.expect(status), json!({"error": error, "message": message}));
    }

    /// The message of a response that must be an error with the error body.
    #[track_caller]
    pub fn refusal(&self, status: u16) -> String {
        let body = self.expect(status);
        let message = body["message"].as_str().unwrap_or_else(|| panic!("no message: {body}"));
        self.refused(status, message);
        message.to_owned()
    }
}

impl Says for Answer {
    #[track_caller]
    fn says(&self, part: &str) {
        self.text().says(part);
    }

    #[track_caller]
    fn lacks(&self, part: &str) {
        self.text().lacks(part);
    }
}
