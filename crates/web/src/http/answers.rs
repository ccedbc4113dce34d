//! The responses that resources share: created, a page of a list, deleted, replayed.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use launchway_api::lists::{Deleted, Page};
use launchway_api::words::DoneStatus;
use launchway_ops::create::Created;
use launchway_store::{KeptAnswer, Paging, Rows};
use serde::Serialize;

/// 201 with the resource.
pub fn created(view: &impl Serialize) -> Response {
    (StatusCode::CREATED, Json(view)).into_response()
}

/// 201 with the new resource, or the first response to the same request.
pub fn created_or_kept(result: Created<impl Serialize>) -> Response {
    match result {
        Created::Kept(kept) => replay(kept),
        Created::Fresh(view) => created(&view),
    }
}

/// 200 with the resource.
pub fn found(view: &impl Serialize) -> Response {
    Json(view).into_response()
}

/// 200 with a page of a list.
pub fn page<T, V: Serialize>(rows: Rows<T>, paging: Paging, view: impl Fn(&T) -> V) -> Response {
    page_of(rows.items.iter().map(view).collect(), rows.total, paging)
}

/// 200 with a page of items that are already rendered, out of `total`.
pub fn page_of(items: Vec<impl Serialize>, total: i64, paging: Paging) -> Response {
    Json(Page {
        items,
        total,
        limit: paging.limit,
        offset: paging.offset,
    })
    .into_response()
}

/// 200 with the id and the resulting status.
pub fn id_and_status(id: impl ToString, status: DoneStatus) -> Response {
    Json(Deleted {
        id: id.to_string(),
        status: status.into(),
    })
    .into_response()
}

/// Replays the first response to an idempotent request.
pub fn replay(kept: KeptAnswer) -> Response {
    let status = u16::try_from(kept.status)
        .ok()
        .and_then(|code| StatusCode::from_u16(code).ok());
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (status.unwrap_or(StatusCode::CREATED), json, kept.body).into_response()
}
