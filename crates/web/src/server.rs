//! The layer in front of the router: accepts connections, assigns request ids, determines the client's address, answers
//! the public check, checks of other services' clients and requests for signed metadata directly, and logs all other requests.

mod serving;

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::MatchedPath;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, header};
use axum::response::IntoResponse;
use bytes::Bytes;
use http_body_util::{Either, Full};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Origin;
use launchway_ops::counters::Counters;
use tower::ServiceExt;

use crate::check_connection::{Output, PlainRequest, push_answer, push_response};
use crate::connection::Timeouts;
use crate::connection_slots::ConnectionSlots;
use crate::http::foreign::Headers;
use crate::http::{capgo, codepush, expo, hot_updater, tuf, update_check};
use crate::router::router;

pub use serving::serve;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Browsers use https only, for a year. Checks do not send it: apps make them, and there are very many.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Bytes of a request that one connection buffers while nobody reads them, and of its line and headers.
const BUFFER: usize = 64 << 10;
/// How long running requests may take to finish at shutdown. The process has 30 s
/// (`docs/reference/operation.md#stopping`), and closing the database takes some of them.
pub const GRACE: Duration = Duration::from_secs(28);

type Answer = Either<Full<Bytes>, Body>;

/// Answers requests.
pub struct HttpServer {
    app: Arc<App>,
    router: Router,
    /// Request ids consist of the process's random prefix and a counter: unique, and cheap to create.
    ids: (u64, AtomicU64),
    warned: AtomicBool,
    timeouts: Timeouts,
    connection_slots: Arc<ConnectionSlots>,
    /// The last minute in which a connection was refused.
    turned_away: AtomicI64,
}

impl HttpServer {
    /// The server of an app.
    pub fn new(app: Arc<App>) -> Arc<HttpServer> {
        HttpServer::with_timeouts(app, Timeouts::default())
    }

    /// Like [`Self::new`], with other timeouts.
    pub fn with_timeouts(app: Arc<App>, timeouts: Timeouts) -> Arc<HttpServer> {
        let mut start = [0; 8];
        app.random.fill(&mut start);
        let router = router(&app);
        let config = &app.config;
        let connection_slots = ConnectionSlots::new(config.max_connections, config.max_connections_per_client);
        Arc::new(HttpServer {
            connection_slots,
            timeouts,
            turned_away: AtomicI64::new(0),
            app,
            router,
            ids: (u64::from_be_bytes(start), AtomicU64::new(0)),
            warned: AtomicBool::new(false),
        })
    }

    /// Answers one request of a client at this address.
    pub async fn answer<B>(&self, request: Request<B>, address: IpAddr) -> Response<Answer>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let is_proxy = self.app.config.trusted_proxies.contain(address);
        let peer = Peer { address, is_proxy };
        match self.answer_at_once(&request, peer) {
            Some(answer) => answer,
            None if self.is_capgo_check(&request) => self.answer_capgo(request, peer).await,
            None => self.long_way(request, peer).await,
        }
    }

    /// Refuses a request without a `Host`, or with several.
    fn refuse_host<B>(&self, request: &Request<B>, peer: Peer) -> Response<Answer> {
        let logged = self.note(request, peer);
        let error = ApiError::bad("The request must have exactly one Host header");
        self.conclude(logged, error.into_response())
    }

    /// Answers a request that needs no waiting.
    fn answer_at_once<B>(&self, request: &Request<B>, peer: Peer) -> Option<Response<Answer>> {
        if *request.method() != Method::GET || !self.app.config.roles.check {
            return None;
        }
        let start = Counters::check_start();
        let check = self.answer_check(request, peer);
        let answer = if let Some(answer) = check.or_else(|| self.answer_foreign(request, peer)) {
            self.app.counters.check(answer.status(), start);
            answer
        } else {
            let answer = self.answer_tuf(request, peer)?;
            self.app.counters.trust(answer.status());
            answer
        };
        let mut answer = answer.map(|body| Either::Left(Full::new(body)));
        name(&mut answer, &self.next_id());
        Some(answer)
    }

    /// Answers the public check without the router: these are by far the most requests.
    fn answer_check<B>(&self, request: &Request<B>, peer: Peer) -> Option<Response<Bytes>> {
        let path = request.uri().path();
        let bundle = path
            .strip_prefix(update_check::PREFIX)
            .filter(|rest| !rest.contains('/'))?;
        let address = self.address_of(request.headers(), peer);
        Some(update_check::answer(
            &self.app,
            bundle,
            request.uri().query().unwrap_or_default(),
            address,
        ))
    }

    /// Answers a check of another service's client without the router.
    fn answer_foreign<B>(&self, request: &Request<B>, peer: Peer) -> Option<Response<Bytes>> {
        let (uri, headers) = (request.uri(), request.headers());
        let address = || self.address_of(headers, peer);
        self.foreign_answer(uri.path(), uri.query().unwrap_or_default(), headers, address)
    }

    /// The answer to a `GET`, if it is a check of another service's client that needs no waiting.
    fn foreign_answer(
        &self,
        path: &str,
        query: &str,
        headers: &impl Headers,
        address: impl FnOnce() -> IpAddr,
    ) -> Option<Response<Bytes>> {
        let app = &self.app;
        if let Some(path) = path.strip_prefix(codepush::PREFIX) {
            return Some(codepush::answer(app, path, query, address()));
        }
        if let Some(path) = path.strip_prefix(hot_updater::PREFIX) {
            return Some(hot_updater::answer(app, path, headers, address()));
        }
        let path = path.strip_prefix(expo::PREFIX)?;
        expo::needs_no_waiting(path, headers).then(|| expo::answer(app, path, headers, address()))
    }

    fn is_capgo_check<B>(&self, request: &Request<B>) -> bool {
        request.uri().path() == capgo::UPDATES && *request.method() == Method::POST && self.app.config.roles.check
    }

    /// Answers a check of a Capgo client without the router, once its body has arrived.
    async fn answer_capgo<B>(&self, request: Request<B>, peer: Peer) -> Response<Answer>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let address = self.address_of(request.headers(), peer);
        let body = capgo::read_request(request.into_body()).await;
        let start = Counters::check_start();
        let answer = capgo::answer(&self.app, &body, address);
        self.app.counters.check(answer.status(), start);
        let mut answer = answer.map(|body| Either::Left(Full::new(body)));
        name(&mut answer, &self.next_id());
        answer
    }

    /// Answers a request for signed metadata without the router: after a publish, every app of a bundle sends one.
    fn answer_tuf<B>(&self, request: &Request<B>, peer: Peer) -> Option<Response<Bytes>> {
        let path = request.uri().path().strip_prefix(tuf::PREFIX)?;
        // Without a name it is an unknown path like any other.
        if path.is_empty() {
            return None;
        }
        let headers = request.headers();
        let address = self.address_of(headers, peer);
        let query = request.uri().query().unwrap_or_default();
        Some(tuf::answer(&self.app, path, query, headers, address))
    }

    async fn long_way<B>(&self, request: Request<B>, peer: Peer) -> Response<Answer>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let logged = self.note(&request, peer);
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Origin {
            address: logged.address,
            request_id: logged.request_id(),
        });
        let response = self.router.clone().oneshot(request).await;
        self.conclude(logged, response.unwrap_or_else(|never: Infallible| match never {}))
    }

    /// Notes a request that is logged when it has been answered.
    fn note<B>(&self, request: &Request<B>, peer: Peer) -> LoggedRequest {
        LoggedRequest {
            started: Instant::now(),
            id: self.next_id(),
            address: self.address_of(request.headers(), peer),
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
        }
    }

    /// Counts and logs an answer, and adds the headers that every answer has.
    fn conclude(&self, logged: LoggedRequest, mut response: Response<Body>) -> Response<Answer> {
        let took = logged.started.elapsed();
        let (request_id, method) = (logged.request_id(), &logged.method);
        let route = response.extensions_mut().remove::<MatchedPath>();
        let route = route.as_ref().map(MatchedPath::as_str);
        self.app.counters.request(route, method, response.status(), took);
        let (status, millis) = (response.status().as_u16(), took.as_millis() as u64);
        tracing::info!(%request_id, %method, path = logged.path, status, millis, client = %logged.address, "request");
        let mut response = response.map(Either::Right);
        name(&mut response, &logged.id);
        if self.app.is_https() && !self.app.config.no_hsts {
            response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
        }
        response
    }

    /// 32 hex digits.
    fn next_id(&self) -> [u8; 32] {
        let count = self.ids.1.fetch_add(1, Ordering::Relaxed);
        let mut text = [0; 32];
        let parts = [self.ids.0.to_be_bytes(), count.to_be_bytes()];
        // The hex form of 16 bytes always fits into 32 digits.
        let _ = hex::encode_to_slice(parts.as_flattened(), &mut text);
        text
    }

    /// The address of the client that sent these headers.
    fn address_of(&self, headers: &HeaderMap, peer: Peer) -> IpAddr {
        let lines = headers.get_all(FORWARDED_FOR);
        self.client_address(lines.iter().map(HeaderValue::as_bytes), peer)
    }

    /// The client's address: the last one in the lines of `X-Forwarded-For` that is not a trusted proxy, if the peer is one.
    fn client_address<'h>(&self, lines: impl DoubleEndedIterator<Item = &'h [u8]>, peer: Peer) -> IpAddr {
        let mut lines = lines.peekable();
        if lines.peek().is_none() {
            return peer.address;
        }
        if !peer.is_proxy {
            if !self.warned.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    peer = %peer.address,
                    "ignoring X-Forwarded-For from an address that is not in --trusted-proxies, or from a process of \
                     a build"
                );
            }
            return peer.address;
        }
        let trusted = &self.app.config.trusted_proxies;
        // A proxy may add a header line instead of extending the last one: together they are one list.
        let hops = lines
            .rev()
            .flat_map(|line| visible(line).rsplit(','))
            .map(|hop| hop.trim().parse::<IpAddr>());
        let mut client = peer.address;
        for hop in hops {
            let Ok(hop) = hop else { return client };
            client = hop;
            if !trusted.contain(hop) {
                break;
            }
        }
        client
    }

    /// Writes the answer to a check with its head, like [`HttpServer::answer`]. Returns false for other requests.
    fn write_check(&self, request: &PlainRequest<'_>, peer: Peer, output: &mut Output) -> bool {
        let start = Counters::check_start();
        let address = || self.client_address(request.forwarded_for(), peer);
        let now = self.app.clock.now();
        let bundle = request.path.strip_prefix(update_check::PREFIX);
        let status = if let (Some(bundle), None) = (bundle.filter(|rest| !rest.contains('/')), request.body) {
            let write_body =
                |out: &mut Vec<u8>| update_check::write(&self.app, bundle, request.query, address(), now, out);
            push_answer(output, write_body, &self.next_id(), now)
        } else {
            let response = match request.body {
                None => self.foreign_answer(request.path, request.query, request, address),
                Some(body) if request.path == capgo::UPDATES => Some(capgo::answer(&self.app, body, address())),
                Some(_) => None,
            };
            let Some(response) = response else { return false };
            push_response(output, &response, &self.next_id(), now);
            response.status()
        };
        self.app.counters.check(status, start);
        true
    }
}

/// The text of a header's value; empty if it is not visible ASCII.
fn visible(value: &[u8]) -> &str {
    let is_visible = value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    std::str::from_utf8(value)
        .ok()
        .filter(|_| is_visible)
        .unwrap_or_default()
}

/// Writes a request's id into its response.
fn name(response: &mut Response<Answer>, id: &[u8; 32]) {
    if let Ok(id) = HeaderValue::from_bytes(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}

/// What is logged of a request.
struct LoggedRequest {
    started: Instant,
    id: [u8; 32],
    address: IpAddr,
    method: Method,
    /// Without the query, which stays out of the log: links and signed URLs carry their proof in it.
    path: String,
}

impl LoggedRequest {
    fn request_id(&self) -> String {
        String::from_utf8_lossy(&self.id).into_owned()
    }
}

/// The other end of a connection.
#[derive(Clone, Copy)]
struct Peer {
    address: IpAddr,
    /// Whether its reports of client addresses are trusted.
    is_proxy: bool,
}
