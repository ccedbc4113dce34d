//! Refuses pages to client addresses that are over their limit.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Origin;

use crate::dashboard::PageError;

/// Serves a page, unless its client address is over its limit.
pub async fn by_address(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let Some(origin) = request.extensions().get::<Origin>() else {
        return ApiError::Internal("a request without origin".to_owned()).into_response();
    };
    match app.pages.count_address(origin.address, app.clock.now()) {
        Ok(()) => next.run(request).await,
        Err(seconds) => PageError(ApiError::RateLimited(seconds)).into_response(),
    }
}
