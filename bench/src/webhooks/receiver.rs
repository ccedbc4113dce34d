//! A receiver of webhooks that answers at once and notes when each message arrived.

use std::collections::HashSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A message that arrived.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub at: Instant,
    /// The receiver, and the message; the same message may arrive again.
    id: (String, String),
    /// The version in the event.
    pub version: String,
}

/// Receives at any path.
pub struct Receiver {
    pub address: SocketAddr,
    arrivals: Mutex<UnboundedReceiver<Arrival>>,
}

impl Receiver {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is none.
    pub async fn start() -> anyhow::Result<Receiver> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (sender, arrivals) = unbounded_channel();
        tokio::spawn(serve(listener, sender));
        Ok(Receiver {
            address,
            arrivals: Mutex::new(arrivals),
        })
    }

    /// Waits for this many messages.
    ///
    /// # Errors
    /// When nobody listens any more.
    pub async fn take(&self, count: u32) -> anyhow::Result<Vec<Arrival>> {
        let mut arrivals = self.arrivals.lock().await;
        let (mut taken, mut seen) = (Vec::new(), HashSet::new());
        while taken.len() < count as usize {
            let arrival = arrivals
                .recv()
                .await
                .ok_or_else(|| anyhow::anyhow!("the receiver ended"))?;
            if seen.insert(arrival.id.clone()) {
                taken.push(arrival);
            }
        }
        Ok(taken)
    }
}

async fn serve(listener: TcpListener, arrivals: UnboundedSender<Arrival>) {
    while let Ok((stream, _)) = listener.accept().await {
        let arrivals = arrivals.clone();
        let service = service_fn(move |request| receive(request, arrivals.clone()));
        tokio::spawn(async move {
            // A sender that disconnects is not an error.
            let _ = Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn receive(
    request: Request<Incoming>,
    arrivals: UnboundedSender<Arrival>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let at = Instant::now();
    let path = request.uri().path().to_owned();
    let id = request.headers().get("webhook-id").and_then(|id| id.to_str().ok());
    let id = (path, id.unwrap_or_default().to_owned());
    let body = request.into_body().collect().await.map(|body| body.to_bytes());
    let event: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    let version = event["data"]["version"].as_str().unwrap_or_default().to_owned();
    // Nobody waits for more.
    let _ = arrivals.send(Arrival { at, id, version });
    Ok(Response::new(Empty::new()))
}
