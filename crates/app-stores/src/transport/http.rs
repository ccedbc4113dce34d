//! The HTTP transport. The caller's client must not follow redirects or use proxies from the environment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::BytesMut;
use futures::StreamExt;
use futures::future::BoxFuture;
use reqwest::Client;

use super::{Body, MAX_ANSWER, Method, Request, Response, TIMEOUT, Transport, TransportError, UPLOAD_TIMEOUT};

/// Sends requests over HTTP.
#[derive(Clone)]
pub struct HttpTransport {
    client: Client,
}

impl HttpTransport {
    /// Sends requests with this client.
    pub fn new(client: Client) -> HttpTransport {
        HttpTransport { client }
    }

    async fn call(&self, request: Request) -> Result<Response, TransportError> {
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut call = self.client.request(method, &request.url);
        for (name, value) in &request.headers {
            call = call.header(name, value);
        }
        let unreadable = Arc::new(AtomicBool::new(false));
        call = match request.body {
            Body::Empty if request.method == Method::Get => call,
            Body::Empty => call.header("content-length", "0"),
            Body::Bytes(bytes) => call.body(bytes),
            Body::Range { .. } => {
                let (length, seen) = (request.body.length(), unreadable.clone());
                let pieces = request.body.into_stream().inspect(move |piece| {
                    if piece.is_err() {
                        seen.store(true, Ordering::Relaxed);
                    }
                });
                call.header("content-length", length)
                    .body(reqwest::Body::wrap_stream(pieces))
            }
        };
        let mut answer = call.send().await.map_err(|error| {
            if unreadable.load(Ordering::Relaxed) {
                TransportError::Unreadable
            } else if error.is_connect() || error.is_builder() {
                TransportError::NotConnected
            } else if error.is_timeout() {
                TransportError::TimedOut
            } else {
                TransportError::Broken
            }
        })?;
        let headers = answer.headers().iter();
        let text = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = headers
            .map(|(name, value)| (name.as_str().to_owned(), text(value)))
            .collect();
        let mut body = BytesMut::new();
        while let Some(piece) = answer.chunk().await.map_err(|_| TransportError::Broken)? {
            if body.len() + piece.len() > MAX_ANSWER {
                return Err(TransportError::Broken);
            }
            body.extend_from_slice(&piece);
        }
        Ok(Response {
            status: answer.status().as_u16(),
            headers,
            body: body.freeze(),
        })
    }
}

impl Transport for HttpTransport {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        let timeout = match request.body {
            Body::Range { .. } => UPLOAD_TIMEOUT,
            _ => TIMEOUT,
        };
        Box::pin(async move {
            let call = tokio::time::timeout(timeout, self.call(request)).await;
            call.unwrap_or(Err(TransportError::TimedOut))
        })
    }
}
