//! A browser of the bench: it loads pages with the cookie of a session.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::ensure;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::SendRequest;
use hyper::{Request, header};

use crate::http_client::connect;

/// A signed-in connection.
pub struct Browser {
    sender: SendRequest<Empty<Bytes>>,
    host: String,
    cookie: String,
}

impl Browser {
    /// Connects to a server with a cookie.
    ///
    /// # Errors
    /// When it does not listen.
    pub async fn open(address: SocketAddr, cookie: &str) -> anyhow::Result<Browser> {
        Ok(Browser {
            sender: connect(address).await?,
            host: address.to_string(),
            cookie: cookie.to_owned(),
        })
    }

    /// The milliseconds until the response begins, and its unmodified body.
    ///
    /// # Errors
    /// When it is an error.
    pub async fn load(&mut self, path: &str) -> anyhow::Result<(f64, Bytes)> {
        let request = Request::get(path)
            .header(header::HOST, &self.host)
            .header(header::COOKIE, &self.cookie)
            .body(Empty::new())?;
        self.sender.ready().await?;
        let asked = Instant::now();
        let mut answer = self.sender.send_request(request).await?;
        let status = answer.status();
        // Without a body, the response would have begun with its head.
        let first = answer.body_mut().frame().await;
        let time = asked.elapsed().as_secs_f64() * 1e3;
        let mut bytes = first
            .transpose()?
            .and_then(|frame| frame.into_data().ok())
            .unwrap_or_default()
            .to_vec();
        bytes.extend_from_slice(&answer.into_body().collect().await?.to_bytes());
        ensure!(status.is_success(), "{path} was answered {status}");
        Ok((time, bytes.into()))
    }
}
