//! A runner of the bench: it claims builds, renews their leases and sends their logs, and runs nothing.

use std::net::SocketAddr;

use anyhow::{Context, ensure};
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use hyper::{Request, header};
use launchway_api::runner::{AskLease, AttemptReply, LeaseAnswer, Renew};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::builds;
use crate::http_client::{body_of, connect};

/// A runner with its own connection and its builds.
pub struct Runner {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    token: String,
    builds: Vec<Claimed>,
}

/// A build of a runner.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// Its id.
    pub id: String,
    attempt: u32,
}

impl Runner {
    /// Connects to a server with the token of [`builds::token`].
    ///
    /// # Errors
    /// When it does not listen.
    pub async fn connect(address: SocketAddr, token: String) -> anyhow::Result<Runner> {
        Ok(Runner {
            sender: connect(address).await?,
            host: address.to_string(),
            token,
            builds: Vec::new(),
        })
    }

    /// Claims a build.
    ///
    /// # Errors
    /// When there is none.
    pub async fn claim(&mut self) -> anyhow::Result<Claimed> {
        let ask = AskLease {
            labels: vec![builds::LABEL.to_owned()],
            version: "bench".to_owned(),
            wait_seconds: 0,
        };
        let answer: LeaseAnswer = self.call("/api/runner/lease", &ask).await?;
        let lease = answer.lease.context("no build although some wait")?;
        let claimed = Claimed {
            id: lease.build_id,
            attempt: lease.attempt,
        };
        self.builds.push(claimed.clone());
        Ok(claimed)
    }

    /// Renews the lease of the build with this number.
    ///
    /// # Errors
    /// When it is taken away or canceled.
    pub async fn renew(&mut self, number: usize) -> anyhow::Result<()> {
        let build = self.builds[number].clone();
        let renew = Renew {
            build_id: build.id,
            attempt: build.attempt,
            phases: Vec::new(),
        };
        let going: AttemptReply = self.call("/api/runner/renew", &renew).await?;
        ensure!(!going.cancel, "a build is canceled that nobody canceled");
        Ok(())
    }

    /// Appends bytes to the log of a build.
    ///
    /// # Errors
    /// When the server does not store all of them.
    pub async fn append(&mut self, build: &Claimed, offset: u64, bytes: Bytes) -> anyhow::Result<()> {
        let end = offset + bytes.len() as u64;
        let path = format!(
            "/api/runner/log?id={}&attempt={}&offset={offset}",
            build.id, build.attempt
        );
        let answer = self.send(&path, "application/octet-stream", bytes).await?;
        let reply: AttemptReply = serde_json::from_slice(&answer)?;
        ensure!(reply.log_offset == end, "the log continues at {}", reply.log_offset);
        Ok(())
    }

    async fn call<A: DeserializeOwned>(&mut self, path: &str, body: &impl Serialize) -> anyhow::Result<A> {
        let body = Bytes::from(serde_json::to_vec(body)?);
        Ok(serde_json::from_slice(
            &self.send(path, "application/json", body).await?,
        )?)
    }

    async fn send(&mut self, path: &str, kind: &str, body: Bytes) -> anyhow::Result<Bytes> {
        let request = Request::post(path)
            .header(header::HOST, &self.host)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, kind)
            .body(Full::from(body))?;
        self.sender.ready().await?;
        let answer = self.sender.send_request(request).await?;
        body_of(path, answer).await
    }
}
