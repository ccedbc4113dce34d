//! A client's connection to a server under measurement.

use std::net::SocketAddr;

use hyper::body::Body;
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
