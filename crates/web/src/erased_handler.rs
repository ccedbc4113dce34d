//! Handlers as one type. axum generates functions for each type of handler, and calls some of them when the router is made: the server would
//! begin with the code of all its hundreds of handlers in memory, instead of getting that of each with its first request.

use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{self, MethodRouter};
use futures::future::BoxFuture;
use launchway_ops::app::App;

/// A handler of requests whose own type is forgotten.
#[derive(Clone)]
pub struct ErasedHandler(Arc<dyn Fn(Request, Arc<App>) -> BoxFuture<'static, Response> + Send + Sync>);

impl Handler<(), Arc<App>> for ErasedHandler {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: Arc<App>) -> Self::Future {
        (self.0)(request, app)
    }
}

/// Forgets the type of a handler.
pub fn erase<H, T>(handler: H) -> ErasedHandler
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    ErasedHandler(Arc::new(move |request, app| {
        Box::pin(handler.clone().call(request, app))
    }))
}

/// A route for `GET` and `HEAD`.
pub fn get<H, T>(handler: H) -> MethodRouter<Arc<App>>
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    routing::get(erase(handler))
}

/// A route for `POST`.
pub fn post<H, T>(handler: H) -> MethodRouter<Arc<App>>
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    routing::post(erase(handler))
}
