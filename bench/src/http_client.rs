//! A client's connection to a server under measurement.

use std::net::SocketAddr;

use anyhow::ensure;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Opens a connection that is kept alive until the sender is dropped.
///
/// # Errors
/// When nobody listens at the address.
pub async fn connect<B>(address: SocketAddr) -> anyhow::Result<SendRequest<B>>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    // Ends with the sender; the next call reports any error.
    tokio::spawn(connection);
    Ok(sender)
}

/// The body of an answer from a path.
///
/// # Errors
/// When the server refused the request, with what it said.
pub async fn body_of(path: &str, answer: Response<Incoming>) -> anyhow::Result<Bytes> {
    let status = answer.status();
    let bytes = answer.into_body().collect().await?.to_bytes();
    ensure!(
        status.is_success(),
        "{path} was answered {status}: {}",
        String::from_utf8_lossy(&bytes)
    );
    Ok(bytes)
}
