//! Accepts connections and serves each: checks on the threads for checks, everything else with the HTTP implementation.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::{self, BoxFuture};
use hyper::body::{Body as _, Incoming};
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use launchway_domain::time::MINUTE;
use launchway_ota::Place;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

use super::{Answer, BUFFER, HttpServer, Peer};
use crate::check_connection::{self, Checks, Next, PlainRequest, Stopping};
use crate::check_threads::CheckThreads;
use crate::connection::{Connection, Unread};
use crate::local_peer::{self, Holder};
use crate::request_body::RequestBody;

impl HttpServer {
    /// Wraps a stream in a connection and its service; `None` if the client or the service has too many.
    fn accept(self: &Arc<HttpServer>, stream: TcpStream, peer: SocketAddr) -> Option<(Connection, Client)> {
        let peer = Peer {
            address: peer.ip(),
            is_proxy: self.is_proxy(&stream, peer),
        };
        let Some(place) = self.connection_slots.take(peer.address, peer.is_proxy) else {
            let minute = self.app.clock.now().div_euclid(MINUTE);
            if self.turned_away.swap(minute, Ordering::Relaxed) != minute {
                tracing::warn!(
                    peer = %peer.address,
                    "refused a connection: too many connections, see --max-connections and --max-connections-per-client"
                );
            }
            return None;
        };
        let _ = stream.set_nodelay(true);
        let unread = Unread::default();
        let client = Client {
            server: self.clone(),
            peer,
            unread: unread.clone(),
        };
        Some((Connection::new(stream, self.timeouts, unread, place), client))
    }

    /// Whether a connection carries requests of other clients and reports their addresses. Builds on this machine may
    /// connect from the address of a proxy on the same machine, so there the owner of the peer's process decides.
    fn is_proxy(&self, stream: &TcpStream, peer: SocketAddr) -> bool {
        if !self.app.config.trusted_proxies.contain(peer.ip()) {
            return false;
        }
        let (Some(embedded), Ok(local)) = (self.app.embedded.get(), stream.local_addr()) else {
            return true;
        };
        let address = peer.ip().to_canonical();
        let is_here = address.is_loopback() || address == local.ip().to_canonical();
        match local_peer::holder(peer, local) {
            Holder::User(user) => !embedded.builders.contains(&user),
            // If it is unknown, or its process has closed its end, it might be a build's.
            Holder::Nobody | Holder::Unknown => !is_here,
        }
    }
}

/// Serves a listener until `stop` completes; then accepts nothing new and lets running requests finish, for as long as
/// `stop` returns.
pub async fn serve(server: Arc<HttpServer>, listener: TcpListener, stop: impl Future<Output = Duration>) {
    let graceful = GracefulShutdown::new();
    let stopping = Stopping::default();
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(server.timeouts.headers)
        .max_header_size(BUFFER)
        .max_buf_size(BUFFER);
    let mut threads = CheckThreads::start();
    tokio::pin!(stop);
    let grace = loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Most likely out of file descriptors: wait for some to be closed.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            grace = &mut stop => break grace,
        };
        let Some((connection, client)) = server.accept(stream, peer) else {
            continue;
        };
        let (builder, watcher) = (builder.clone(), graceful.watcher());
        let serve_http = async move |connection: Connection, client| {
            let connection = builder.serve_connection(TokioIo::new(connection), client);
            // A client that disconnects in the middle is not an error.
            let _ = watcher.watch(connection).await;
        };
        let (here, stopping) = (Handle::current(), stopping.clone());
        threads.next().spawn(async move {
            let Some(connection) = client.serve_checks(connection, &stopping).await else {
                return;
            };
            here.spawn(async move {
                // If the system refuses to watch it, it is closed.
                if let Ok(connection) = connection.rebind() {
                    serve_http(connection, client).await;
                }
            });
        });
    };
    drop(listener);
    stopping.set();
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were still running after {} seconds", grace.as_secs());
    }
}

/// Answers the requests of one connection.
struct Client {
    server: Arc<HttpServer>,
    peer: Peer,
    unread: Unread,
}

impl Client {
    /// Answers checks as long as nothing else arrives. Then returns the connection, unless it is over.
    async fn serve_checks(&self, connection: Connection, stopping: &Stopping) -> Option<Connection> {
        if !self.server.app.config.roles.check {
            return Some(connection);
        }
        let mut connection = connection.rebind().ok()?;
        let limit = self.server.timeouts.headers;
        let next = check_connection::serve(&mut connection, &self.unread, limit, stopping, self).await;
        (next == Next::Http).then_some(connection)
    }
}

impl Checks for Client {
    fn prefetch_place(&self, bundle: &str) -> Option<Place> {
        self.server.app.index.prefetch_place(bundle)
    }

    fn prefetch_bundle(&self, place: Place) {
        self.server.app.index.prefetch_bundle(place);
    }

    fn answer(&self, request: &PlainRequest<'_>, output: &mut Vec<u8>) -> bool {
        self.server.write_check(request, self.peer, output)
    }
}

impl Service<Request<Incoming>> for Client {
    type Response = Response<Answer>;
    type Error = Infallible;
    /// The slow path is boxed, so that the public check does not move a large future.
    type Future = future::Either<
        future::Ready<Result<Self::Response, Infallible>>,
        BoxFuture<'static, Result<Self::Response, Infallible>>,
    >;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.unread.begin_request();
        match self.server.answer_at_once(&request, self.peer) {
            Some(answer) => {
                match request.body().is_end_stream() {
                    true => self.unread.end_request(),
                    false => self.unread.note(),
                }
                future::Either::Left(future::ready(Ok(answer)))
            }
            None => {
                let (server, peer) = (self.server.clone(), self.peer);
                let is_capgo = server.is_capgo_check(&request);
                let request = request.map(|body| RequestBody::new(body, server.timeouts, self.unread.clone()));
                future::Either::Right(Box::pin(async move {
                    Ok(match is_capgo {
                        true => server.answer_capgo(request, peer).await,
                        false => server.long_way(request, peer).await,
                    })
                }))
            }
        }
    }
}
