//! A webhook receiver on the loopback interface: records requests, and answers as the test determines.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// How long a test waits for requests. Far more than needed, for slow machines.
const LIMIT: Duration = Duration::from_secs(60);

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The method, such as `POST`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: HashMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Received {
    /// The value of a header; empty if it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// If the body is not JSON.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("a webhook's body is JSON")
    }
}

/// What a receiver does with a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Answers with this status, `Location` (unless empty) and body.
    Answer(u16, String, Vec<u8>),
    /// Never answers.
    Silence,
}

impl Reply {
    /// A response without a body.
    #[must_use]
    pub fn status(status: u16) -> Reply {
        Reply::Answer(status, String::new(), Vec::new())
    }
}

/// A running receiver. Dropping it closes all its connections.
#[derive(Debug)]
pub struct Receiver {
    /// The address that it listens on.
    pub address: SocketAddr,
    received: watch::Receiver<Vec<Received>>,
    /// The number of connections, including those without requests.
    connections: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

impl Receiver {
    /// Starts a receiver on a free port of 127.0.0.1. `reply` gets each request and the number of requests before it.
    ///
    /// # Panics
    /// If it cannot listen.
    pub async fn start(reply: impl Fn(&Received, usize) -> Reply + Send + Sync + 'static) -> Receiver {
        Self::start_on(Ipv4Addr::LOCALHOST.into(), reply)
            .await
            .expect("a port of 127.0.0.1 is free")
    }

    /// Starts a receiver on a free port of `address`.
    ///
    /// # Errors
    /// It cannot listen there.
    pub async fn start_on(
        address: IpAddr,
        reply: impl Fn(&Received, usize) -> Reply + Send + Sync + 'static,
    ) -> std::io::Result<Receiver> {
        let listener = TcpListener::bind((address, 0)).await?;
        let address = listener.local_addr()?;
        let (keep, received) = watch::channel(Vec::new());
        let (count, connections) = watch::channel(0);
        let task = tokio::spawn(serve(listener, Arc::new(keep), count, Arc::new(reply)));
        Ok(Receiver {
            address,
            received,
            connections,
            task,
        })
    }

    /// A receiver that accepts everything.
    pub async fn ok() -> Receiver {
        Self::start(|_, _| Reply::status(204)).await
    }

    /// Its URL with a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.received.borrow().clone()
    }

    /// The number of connections so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        *self.connections.borrow()
    }

    /// Waits until at least `count` requests have arrived, and returns all.
    ///
    /// # Panics
    /// After a minute without them.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        self.wait_until(|all| all.len() >= count).await
    }

    /// Waits until the requests satisfy `right`, and returns them.
    ///
    /// # Panics
    /// After a minute.
    pub async fn wait_until(&self, right: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let mut received = self.received.clone();
        let arrived = tokio::time::timeout(LIMIT, received.wait_for(|all| right(all))).await;
        match arrived {
            Ok(all) => all.expect("the receiver runs").clone(),
            Err(_) => panic!(
                "after {LIMIT:?} {} requests have arrived, not the wanted ones",
                self.received().len()
            ),
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve<F>(
    listener: TcpListener,
    keep: Arc<watch::Sender<Vec<Received>>>,
    count: watch::Sender<usize>,
    reply: Arc<F>,
) where
    F: Fn(&Received, usize) -> Reply + Send + Sync + 'static,
{
    // Dropped with this task, which closes every connection.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        count.send_modify(|count| *count += 1);
        let (keep, reply) = (keep.clone(), reply.clone());
        connections.spawn(async move {
            let service = service_fn(|request| answer(request, &keep, &*reply));
            // A client that disconnects is not worth reporting.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(
    request: Request<Incoming>,
    keep: &watch::Sender<Vec<Received>>,
    reply: &(impl Fn(&Received, usize) -> Reply + Send + Sync),
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let received = Received {
        method: parts.method.to_string(),
        path: parts.uri.to_string(),
        headers: parts
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect(),
        body: body
            .collect()
            .await
            .map(|all| all.to_bytes().to_vec())
            .unwrap_or_default(),
    };
    let mut before = 0;
    keep.send_modify(|all| {
        before = all.len();
        all.push(received.clone());
    });
    match reply(&received, before) {
        Reply::Answer(status, location, body) => {
            let mut response = Response::builder().status(status);
            if !location.is_empty() {
                response = response.header("location", location);
            }
            Ok(response
                .body(Full::new(Bytes::from(body)))
                .expect("a test names a status that there is"))
        }
        Reply::Silence => std::future::pending().await,
    }
}
