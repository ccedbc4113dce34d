//! Accepts connections and serves each: checks on the threads for checks, everything else with the HTTP implementation.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::{self, BoxFuture};
use futures::poll;
use hyper::body::{Body as _, Incoming};
use hyper::header::HOST;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use launchway_domain::time::MINUTE;
use launchway_ota::Place;
use rustix::net::{RecvFlags, recv};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

use super::{Answer, BUFFER, HttpServer, Peer};
use crate::check_connection::{self, Limits, Output, PlainRequest};
use crate::check_threads::CheckThreads;
use crate::connection::{Connection, Unread};
use crate::connection_slots::ConnectionSlot;
use crate::local_peer::{self, Holder};
use crate::request_body::RequestBody;

/// Bytes that are read of a connection before the runtime watches it.
const FIRST_READ: usize = 2 << 10;
/// Connections that are accepted at the end: more than the system keeps for a listener, but not as many as come meanwhile.
const LAST_ACCEPTED: u32 = 4096;

impl HttpServer {
    /// The peer of a new connection, and its slot; `None` if the client or the service has too many.
    fn admit(&self, stream: &TcpStream, address: SocketAddr) -> Option<(Peer, ConnectionSlot)> {
        let peer = Peer {
            address: address.ip(),
            is_proxy: self.is_proxy(stream, address),
        };
        let Some(slot) = self.connection_slots.take(peer.address, peer.is_proxy) else {
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
        Some((peer, slot))
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
    let http = Arc::new(Http::new(server));
    let mut threads = http.check_threads();
    let mut begin = |stream: TcpStream, address| {
        let Some((peer, slot)) = http.server.admit(&stream, address) else {
            return;
        };
        let (http, watcher) = (http.clone(), graceful.watcher());
        let client = CheckClient {
            http,
            peer,
            slot,
            watcher,
        };
        match &mut threads {
            // If the system no longer knows the stream, it is closed.
            Some(threads) => drop(stream.into_std().map(|stream| threads.hand_over(stream, client))),
            None => drop(tokio::spawn(client.serve_http(stream, Vec::new()))),
        }
    };
    tokio::pin!(stop);
    let grace = loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => begin(stream, address),
                Err(error) => {
                    // Most likely out of file descriptors: wait for some to be closed.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            grace = &mut stop => break grace,
        }
    };
    accept_the_last(listener, begin);
    if let Some(threads) = &threads {
        threads.stop();
    }
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were still running after {} seconds", grace.as_secs());
    }
}

/// Accepts what waits for this listener, and closes it. Clients whose connections the system has accepted may have sent requests: closing
/// the listener before would reset them.
fn accept_the_last(listener: TcpListener, mut begin: impl FnMut(TcpStream, SocketAddr)) {
    // The runtime may not know yet of those that came last, so the system is asked.
    let Ok(listener) = listener.into_std() else { return };
    for _ in 0..LAST_ACCEPTED {
        match listener.accept() {
            Ok((stream, address)) => {
                let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
                // If the system refuses to watch it, it is closed.
                drop(stream.map(|stream| begin(stream, address)));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            // That one was closed while it waited.
            Err(_) => {}
        }
    }
}

/// The HTTP implementation.
struct Http {
    server: Arc<HttpServer>,
    builder: http1::Builder,
    runtime: Handle,
}

impl Http {
    /// Serves connections on the runtime that calls this.
    fn new(server: Arc<HttpServer>) -> Http {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(server.timeouts.headers)
            .max_header_size(BUFFER)
            .max_buf_size(BUFFER);
        Http {
            server,
            builder,
            runtime: Handle::current(),
        }
    }

    /// Starts the threads for checks, if this node answers them.
    fn check_threads(&self) -> Option<CheckThreads<CheckClient>> {
        if !self.server.app.config.roles.check {
            return None;
        }
        let limits = Limits {
            silence: self.server.timeouts.headers,
            write: self.server.timeouts.write,
        };
        let threads = CheckThreads::start(limits);
        let threads = threads.inspect_err(
            |error| tracing::warn!(%error, "cannot start threads for update checks: they share those of other requests"),
        );
        threads.ok()
    }
}

/// The client of a connection on a thread for checks.
struct CheckClient {
    http: Arc<Http>,
    peer: Peer,
    slot: ConnectionSlot,
    watcher: Watcher,
}

impl CheckClient {
    /// Serves all further requests, and those in the bytes that were read before.
    async fn serve_http(self, stream: TcpStream, read: Vec<u8>) {
        let read = if read.is_empty() { arrived(&stream) } else { read };
        let server = self.http.server.clone();
        let unread = Unread::default();
        let connection = Connection::new(stream, server.timeouts, unread.clone(), self.slot, read);
        let client = Client {
            server,
            peer: self.peer,
            unread,
        };
        let mut connection = self.http.builder.serve_connection(TokioIo::new(connection), client);
        // The end of the server closes a connection without a request: one that was read before must be known by then.
        if poll!(&mut connection).is_pending() {
            // A client that disconnects in the middle is not an error.
            let _ = self.watcher.watch(connection).await;
        }
    }
}

/// What a client has sent. The runtime knows nothing of a stream that is new to it, and would close it at the end of the server.
fn arrived(stream: &TcpStream) -> Vec<u8> {
    let mut bytes = [0; FIRST_READ];
    let count = recv(stream, &mut bytes[..], RecvFlags::DONTWAIT).map_or(0, |(count, _)| count);
    // Nothing takes no memory: the connection keeps it.
    bytes[..count].to_vec()
}

/// Whether a request has exactly one `Host` (RFC 9112, section 3.2). Over HTTP/1.0 it may lack it.
fn names_its_host<B>(request: &Request<B>) -> bool {
    let hosts = request.headers().get_all(HOST).iter().count();
    hosts == 1 || (hosts == 0 && request.version() < Version::HTTP_11)
}

impl check_connection::Client for CheckClient {
    fn prefetch_place(&self, bundle: &str) -> Option<Place> {
        self.http.server.app.index.prefetch_place(bundle)
    }

    fn prefetch_bundles(&self, places: &[Place]) {
        self.http.server.app.index.prefetch_bundles(places);
    }

    fn answer(&self, request: &PlainRequest<'_>, output: &mut Output) -> bool {
        self.http.server.write_check(request, self.peer, output)
    }

    fn take_over(self, stream: std::net::TcpStream, read: Vec<u8>) {
        let runtime = self.http.runtime.clone();
        runtime.spawn(async move {
            // If the system refuses to watch it, it is closed.
            if let Ok(stream) = TcpStream::from_std(stream) {
                self.serve_http(stream, read).await;
            }
        });
    }
}

/// Answers the requests of one connection of the HTTP implementation.
struct Client {
    server: Arc<HttpServer>,
    peer: Peer,
    unread: Unread,
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
        let refusal = (!names_its_host(&request)).then(|| self.server.refuse_host(&request, self.peer));
        match refusal.or_else(|| self.server.answer_at_once(&request, self.peer)) {
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
