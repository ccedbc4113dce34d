//! Responses, and what tests say about them: `app.get(&key, "/apps").await.ok()`.

use reqwest::header::HeaderMap;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use crate::says::Says;

/// A response with its whole body.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The response to a request that must succeed.
    pub async fn to(request: RequestBuilder) -> Answer {
        Answer::of(request.send().await.expect("the server answers")).await
    }

    /// A response that must arrive completely.
    pub async fn of(response: Response) -> Answer {
        Answer::read(response).await.expect("the body arrives")
    }

    /// A response of a server that may die meanwhile.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn read(response: Response) -> reqwest::Result<Answer> {
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await?.to_vec();
        Ok(Answer { status, headers, bytes })
    }

    /// The body, which must be JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// A header, empty when it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map(|value| value.to_str().expect("a header of ASCII"))
            .unwrap_or_default()
    }

    /// The session cookie that this response sets, as a browser sends it back.
    pub fn cookie(&self) -> String {
        self.header("set-cookie")
            .split(';')
            .next()
            .unwrap_or_default()
            .to_owned()
    }

    /// It must have this status.
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
        let message = body["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "no message: {body}");
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
