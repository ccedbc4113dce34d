//! In front of the router: accepts connections, names each request, finds the client's address, takes the public check
//! on a short way, and logs everything else.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use bytes::Bytes;
use futures::future::{self, BoxFuture};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::app::App;
use crate::caller::Origin;
use crate::http::router::router;
use crate::http::update_check;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// A client that does not finish its request line and headers in this time is let go.
const HEADER_PATIENCE: Duration = Duration::from_secs(30);
/// What runs when the process is told to stop has so long to finish. The process has 30 s (contract part 12); closing the
/// database takes some of them.
pub const GRACE: Duration = Duration::from_secs(28);

type Answer = Either<Full<Bytes>, Body>;

/// Answers requests.
pub struct Front {
    app: Arc<App>,
    router: Router,
    /// Request ids are this process's random start and a count: unique, and cheap to make.
    ids: (u64, AtomicU64),
    warned: AtomicBool,
}

impl Front {
    /// The front of an app.
    pub fn new(app: Arc<App>) -> Arc<Front> {
        let mut start = [0; 8];
        app.random.fill(&mut start);
        let router = router(&app);
        Arc::new(Front {
            app,
            router,
            ids: (u64::from_be_bytes(start), AtomicU64::new(0)),
            warned: AtomicBool::new(false),
        })
    }

    /// Answers one request of a client at `peer`.
    pub async fn answer<B>(&self, request: Request<B>, peer: IpAddr) -> Response<Answer>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        match self.answer_at_once(&request, peer) {
            Some(answer) => answer,
            None => self.long_way(request, peer).await,
        }
    }

    /// Answers a request that needs nothing to be waited for.
    fn answer_at_once<B>(&self, request: &Request<B>, peer: IpAddr) -> Option<Response<Answer>> {
        let answer = self.short_way(request, peer)?;
        self.app.metrics.check(answer.status());
        let mut answer = answer.map(|body| Either::Left(Full::new(body)));
        name(&mut answer, &self.next_id());
        Some(answer)
    }

    /// The public check, without the router: most of the service's requests by far.
    fn short_way<B>(&self, request: &Request<B>, peer: IpAddr) -> Option<Response<Bytes>> {
        let path = request.uri().path();
        let bundle = path
            .strip_prefix(update_check::PREFIX)
            .filter(|rest| !rest.contains('/'))?;
        if *request.method() != Method::GET || !self.app.config.roles.check {
            return None;
        }
        let address = self.client_address(request.headers(), peer);
        Some(update_check::answer(
            &self.app,
            bundle,
            request.uri().query().unwrap_or_default(),
            address,
        ))
    }

    async fn long_way<B>(&self, request: Request<B>, peer: IpAddr) -> Response<Answer>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let started = Instant::now();
        let id = self.next_id();
        let request_id = String::from_utf8_lossy(&id).into_owned();
        let mut request = request.map(Body::new);
        let address = self.client_address(request.headers(), peer);
        // The query stays out of the log: links and signed URLs carry their proof in it.
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        request.extensions_mut().insert(Origin {
            address,
            request_id: request_id.clone(),
        });
        let response = self
            .router
            .clone()
            .oneshot(request)
            .await
            .unwrap_or_else(|never: Infallible| match never {});
        let millis = started.elapsed().as_millis() as u64;
        self.app.metrics.request(response.status(), millis);
        let status = response.status().as_u16();
        tracing::info!(%request_id, %method, path, status, millis, client = %address, "request");
        let mut response = response.map(Either::Right);
        name(&mut response, &id);
        response
    }

    /// 32 hex digits.
    fn next_id(&self) -> [u8; 32] {
        let count = self.ids.1.fetch_add(1, Ordering::Relaxed);
        let mut text = [0; 32];
        let parts = [self.ids.0.to_be_bytes(), count.to_be_bytes()];
        // 32 hex digits of 16 bytes always fit.
        let _ = hex::encode_to_slice(parts.as_flattened(), &mut text);
        text
    }

    /// The client's address: the last one in `X-Forwarded-For` that is no trusted proxy, if the peer is one.
    fn client_address(&self, headers: &HeaderMap, peer: IpAddr) -> IpAddr {
        let lines = headers.get_all(FORWARDED_FOR);
        if lines.iter().next().is_none() {
            return peer;
        }
        let trusted = &self.app.config.trusted_proxies;
        if !trusted.contain(peer) {
            if !self.warned.swap(true, Ordering::Relaxed) {
                tracing::warn!(%peer, "X-Forwarded-For from an address that --trusted-proxies does not name; it is ignored");
            }
            return peer;
        }
        // A proxy may add a line of its own instead of going on in the last one: together they are one list.
        let hops = lines
            .iter()
            .rev()
            .flat_map(|line| line.to_str().unwrap_or_default().rsplit(','))
            .map(|hop| hop.trim().parse::<IpAddr>());
        let mut client = peer;
        for hop in hops {
            let Ok(hop) = hop else { return client };
            client = hop;
            if !trusted.contain(hop) {
                break;
            }
        }
        client
    }
}

/// Serves a listener until `stop` completes; then takes nothing new and lets what runs finish, for as long as `stop` says.
pub async fn serve(front: Arc<Front>, listener: TcpListener, stop: impl Future<Output = Duration>) {
    let graceful = GracefulShutdown::new();
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_PATIENCE);
    tokio::pin!(stop);
    let grace = loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, most likely: let some go before the next.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            grace = &mut stop => break grace,
        };
        let _ = stream.set_nodelay(true);
        let client = Client {
            front: front.clone(),
            peer: peer.ip(),
        };
        let connection = builder.serve_connection(TokioIo::new(stream), client);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that goes away in the middle is nothing to tell of.
            let _ = connection.await;
        });
    };
    drop(listener);
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were still running after {} seconds", grace.as_secs());
    }
}

/// Writes a request's id into its answer.
fn name(response: &mut Response<Answer>, id: &[u8; 32]) {
    if let Ok(id) = HeaderValue::from_bytes(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}

/// Answers the requests of one connection.
struct Client {
    front: Arc<Front>,
    peer: IpAddr,
}

impl Service<Request<Incoming>> for Client {
    type Response = Response<Answer>;
    type Error = Infallible;
    /// What takes the long way is boxed, so that the public check does not move a future that is large for its sake.
    type Future = future::Either<
        future::Ready<Result<Self::Response, Infallible>>,
        BoxFuture<'static, Result<Self::Response, Infallible>>,
    >;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        match self.front.answer_at_once(&request, self.peer) {
            Some(answer) => future::Either::Left(future::ready(Ok(answer))),
            None => {
                let (front, peer) = (self.front.clone(), self.peer);
                future::Either::Right(Box::pin(async move { Ok(front.long_way(request, peer).await) }))
            }
        }
    }
}
