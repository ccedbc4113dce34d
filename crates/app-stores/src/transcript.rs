//! A record of the traffic with an app store that can be shown to others: which requests were made, and what form the
//! responses had. It has no secrets, names or identifiers of the account (`redaction` says what it keeps).

mod redaction;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use serde_json::Value;

use crate::transport::{Request, Response, Transport, TransportError};
use redaction::Redaction;

/// The response headers that a transcript names. No other is kept.
const HEADERS: [&str; 3] = ["content-type", "retry-after", "x-rate-limit"];
/// The maximum number of exchanges; later ones are only counted.
const MAX_EXCHANGES: usize = 200;
/// The maximum size of a response that is kept, in bytes of JSON. Of a larger one only the size is named.
const MAX_KEPT: usize = 64 << 10;

/// A transport that records what passes through it. Request bodies and headers are not recorded: they contain tokens.
pub struct Recorder {
    inner: Arc<dyn Transport>,
    record: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    redaction: Redaction,
    text: String,
    exchanges: usize,
}

impl Recorder {
    /// Records what passes to and from `inner`.
    pub fn new(inner: Arc<dyn Transport>) -> Recorder {
        Recorder {
            inner,
            record: Mutex::default(),
        }
    }

    /// What was recorded so far: for each exchange a line with the request, one with the outcome, and the redacted
    /// response.
    pub fn transcript(&self) -> String {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = record.text.clone();
        if let Some(more) = record.exchanges.checked_sub(MAX_EXCHANGES).filter(|more| *more > 0) {
            let _ = writeln!(text, "{more} more requests are not shown.");
        }
        text
    }
}

impl Transport for Recorder {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let (method, url) = (request.method, request.url.clone());
            let answer = self.inner.send(request).await;
            let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
            record.exchanges += 1;
            if record.exchanges <= MAX_EXCHANGES {
                let line = format!("> {} {}\n", method.as_str(), record.redaction.url(&url));
                record.text.push_str(&line);
                record.add(&answer);
            }
            answer
        })
    }
}

impl Record {
    fn add(&mut self, answer: &Result<Response, TransportError>) {
        match answer {
            Ok(response) => self.add_response(response),
            Err(error) => {
                let _ = writeln!(self.text, "< no response: {error}");
            }
        }
        self.text.push('\n');
    }

    fn add_response(&mut self, response: &Response) {
        let _ = writeln!(self.text, "< {} ({} bytes)", response.status, response.body.len());
        for name in HEADERS {
            if let Some(value) = response.header(name) {
                let _ = writeln!(self.text, "< {name}: {}", redaction::header(value));
            }
        }
        if response.body.is_empty() {
            return;
        }
        match serde_json::from_slice::<Value>(&response.body) {
            Ok(body) => {
                let kept = format!("{:#}", self.redaction.json(&body));
                if kept.len() <= MAX_KEPT {
                    let _ = writeln!(self.text, "{kept}");
                } else {
                    let _ = writeln!(self.text, "(a JSON body of {} bytes)", response.body.len());
                }
            }
            Err(_) => self.text.push_str("(a body that is not JSON)\n"),
        }
    }
}
