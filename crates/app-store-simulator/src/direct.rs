//! The transport to a simulator in the same process: no socket, and time only from the test.

use std::sync::Arc;

use futures::future::BoxFuture;
use launchway_app_stores::transport::{Request, Response, Transport, TransportError};

use crate::{Call, Simulator};

/// Calls a simulator directly.
#[derive(Clone)]
pub struct Direct(pub Arc<Simulator>);

impl Transport for Direct {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let rest = request.url.split_once("://").map_or("", |(_, rest)| rest);
            let target = rest.find('/').map_or("/", |at| &rest[at..]);
            let mut call = Call::new(request.method.as_str(), target, request.headers);
            call.headers
                .push(("content-length".to_owned(), request.body.length().to_string()));
            call.body = request.body.into_stream();
            self.0.answer(call).await.map_err(|_| TransportError::Broken)
        })
    }
}
