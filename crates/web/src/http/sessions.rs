//! `/auth/sessions`: the caller's own browser sessions, listed and revocable
//! (`docs/reference/callers.md#lifetime-of-a-session`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::auth::SessionView;
use launchway_api::lists::{Deleted, Page};
use launchway_api::words::DoneStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::{Caller, Who};
use launchway_ops::sessions::{self, EndSession};

use crate::http::answers::{id_and_status, page};
use crate::query::Query;

/// Lists the caller's sessions.
#[utoipa::path(
    get,
    path = "/auth/sessions",
    tag = "Sessions",
    params(
        ("limit" = Option<i64>, Query, description = "The maximum number of sessions, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of sessions to skip", minimum = 0),
    ),
    responses((status = 200, description = "A page of sessions", body = Page<SessionView>))
)]
pub async fn list(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let paging = query.paging()?;
    let Who::Session { session, user, .. } = &caller.who else {
        return Err(ApiError::NoAuthentication);
    };
    app.last_used.flush(&app.db).await?;
    let mut tx = app.db.read().await?;
    let rows = tx
        .system("a session belongs to a user, not to a tenant")
        .sessions(user.id, app.clock.now(), paging)
        .await?;
    Ok(page(rows, paging, |listed| {
        SessionView::of(listed, listed.id == session.id)
    }))
}

/// Ends one of the caller's sessions.
#[utoipa::path(
    delete,
    path = "/auth/sessions",
    tag = "Sessions",
    params(("id" = String, Query, description = "The session")),
    responses(
        (status = 200, description = "`revoked`", body = Deleted),
        (status = 404, description = "The caller has no session with this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn revoke(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("session")?;
    let Who::Session { user, .. } = &caller.who else {
        return Err(ApiError::NoAuthentication);
    };
    let id = id.get()?;
    sessions::end_session(&app, user.id, id, EndSession::Revoke, &caller.origin).await?;
    Ok(id_and_status(id, DoneStatus::Revoked))
}
