//! Serves the simulator over HTTP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use http_body_util::{BodyExt, BodyStream, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::{Call, Simulator};

type Body = StreamBody<BoxStream<'static, io::Result<Frame<Bytes>>>>;

/// Handles the connections of a listener until the future is dropped.
pub async fn serve(listener: TcpListener, simulator: Arc<Simulator>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let simulator = simulator.clone();
        connections.spawn(async move {
            let service = service_fn(|request| answer(request, &simulator));
            // A client that disconnects is not worth a log line.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}

/// An error closes the connection without a response, as `Cut` requires.
async fn answer(request: hyper::Request<Incoming>, simulator: &Simulator) -> Result<hyper::Response<Body>, io::Error> {
    let (parts, body) = request.into_parts();
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = parts.headers.iter();
    let headers = headers.map(|(name, value)| (name.to_string(), text(value))).collect();
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let mut call = Call::new(parts.method.as_str(), target, headers);
    let pieces = BodyStream::new(body.map_err(io::Error::other));
    call.body = pieces
        .filter_map(async |piece| piece.map(|frame| frame.into_data().ok()).transpose())
        .boxed();
    let answered = simulator.answer(call).await;
    let answered = answered.map_err(|_| io::Error::from(io::ErrorKind::ConnectionReset))?;
    let slow = simulator.lock().faults.take_slow();
    let mut response = hyper::Response::builder().status(answered.status);
    for (name, value) in &answered.headers {
        response = response.header(name, value);
    }
    if !slow {
        response = response.header("content-length", answered.body.len());
    }
    let body = stream(answered.body, slow);
    response.body(StreamBody::new(body)).map_err(io::Error::other)
}

/// The number of pieces of a slow response.
const PIECES: usize = 50;

/// The body at once, or in small pieces.
fn stream(body: Bytes, slow: bool) -> BoxStream<'static, io::Result<Frame<Bytes>>> {
    if !slow {
        return futures::stream::once(async move { Ok(Frame::data(body)) }).boxed();
    }
    let size = body.len().div_ceil(PIECES).max(1);
    let ends = (0..body.len()).step_by(size).map(|at| at..body.len().min(at + size));
    let pieces: Vec<Bytes> = ends.map(|range| body.slice(range)).collect();
    futures::stream::iter(pieces)
        .then(|piece| async move {
            tokio::time::sleep(Duration::from_millis(2)).await;
            Ok(Frame::data(piece))
        })
        .boxed()
}
