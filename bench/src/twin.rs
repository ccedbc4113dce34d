//! The static twin of the check: plain hyper on the runtime of our other requests, with the same response headers, and
//! one pre-rendered body. Its cost is what no server in its place could avoid.

use std::convert::Infallible;
use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;

use crate::args::TwinArgs;
use crate::server::READY;

/// How every body begins, as on our server.
pub const BEGINNING: &[u8] = br#"{"updateAvailable":"#;
/// The same timeout as our server.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Serves until the process is killed.
///
/// # Errors
/// When 127.0.0.1 has no free port.
pub fn run(args: &TwinArgs) -> anyhow::Result<()> {
    let mut body = BEGINNING.to_vec();
    body.resize(args.body_bytes as usize, b' ');
    let body = Bytes::from(body);
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?;
            let serving = tokio::spawn(serve(listener, move || respond(body.clone())));
            writeln!(std::io::stdout(), "{READY}{address}")?;
            Ok(serving.await?)
        })
}

/// The response to every request.
pub fn respond(body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-store, must-revalidate"),
    );
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(REQUEST_ID, HeaderValue::from_static("0123456789abcdef0123456789abcdef"));
    response
}

/// Answers every request on a listener with the result of `respond`.
pub async fn serve<F>(listener: TcpListener, respond: F)
where
    F: Fn() -> Response<Full<Bytes>> + Clone + Send + 'static,
{
    let graceful = GracefulShutdown::new();
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let respond = respond.clone();
        let service = service_fn(move |_: Request<Incoming>| {
            let response = respond();
            async move { Ok::<_, Infallible>(response) }
        });
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A client that disconnects is not an error.
            let _ = connection.await;
        });
    }
}
