//! The phone's network: the asynchronous HTTP client, awaited on a thread that may block.

use std::io::{self, Read};
use std::time::Duration;

use bytes::{Buf, Bytes};
use launchway_client::{BaseUrl, Timeouts, http_client};
use launchway_device::ports::{Network, Request, Response};
use tokio::runtime::Handle;

use crate::failure::Failure;

/// Sends requests from a thread that is not one of the runtime's own.
pub struct Http {
    client: reqwest::Client,
    runtime: Handle,
}

impl Http {
    /// Makes a client. Call it on the runtime.
    pub fn new(base: &BaseUrl, timeout: Duration) -> Result<Self, Failure> {
        let timeouts = Timeouts {
            read: timeout,
            ..Timeouts::default()
        };
        Ok(Self {
            client: http_client(base, &timeouts)?,
            runtime: Handle::current(),
        })
    }
}

impl Network for Http {
    fn send(&self, request: &Request) -> io::Result<Response> {
        let mut call = match &request.body {
            None => self.client.get(&request.url),
            Some(body) => self.client.post(&request.url).body(body.clone()),
        };
        for (name, value) in &request.headers {
            call = call.header(*name, value);
        }
        let response = self.runtime.block_on(call.send()).map_err(io::Error::other)?;
        let text = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = response.headers().iter();
        Ok(Response {
            status: response.status().as_u16(),
            headers: headers.map(|(name, value)| (name.to_string(), text(value))).collect(),
            body: Box::new(Body {
                response,
                runtime: self.runtime.clone(),
                chunk: Bytes::new(),
            }),
        })
    }

    fn is_unmetered(&self) -> bool {
        true
    }
}

/// A body that is read as it arrives.
struct Body {
    response: reqwest::Response,
    runtime: Handle,
    chunk: Bytes,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.runtime.block_on(self.response.chunk()).map_err(io::Error::other)? {
                Some(chunk) => self.chunk = chunk,
                None => return Ok(0),
            }
        }
        let count = buffer.len().min(self.chunk.len());
        buffer[..count].copy_from_slice(&self.chunk[..count]);
        self.chunk.advance(count);
        Ok(count)
    }
}
