//! `/api-keys` (`docs/reference/callers.md#api-keys`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::keys::{CreateKey, CreatedKey, KeyView};
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::words::DoneStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::api_keys;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::write::{Creation, Target, Write};

use crate::extract::Create;
use crate::http::answers::{created, found, id_and_status, page, replay};
use crate::query::Query;

/// Lists API keys, or reads the one that `id` names.
#[utoipa::path(
    get,
    path = "/api-keys",
    tag = "API keys",
    params(
        ("id" = Option<String>, Query, description = "Read this key instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of keys, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of keys to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of keys, including revoked ones; with `id`, the key", body = OneOrPage<KeyView>),
        (status = 404, description = "No key has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("API key")?;
    let paging = query.paging()?;
    app.last_used.flush(&app.db).await?;
    let now = app.clock.now();
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    match id {
        Some(id) => {
            let key = org.key(id.get()?).await?.ok_or(ApiError::NoSuch("API key"))?;
            Ok(found(&KeyView::of(&key, now)))
        }
        None => Ok(page(org.keys(paging).await?, paging, |key| KeyView::of(key, now))),
    }
}

/// Creates an API key. Only this response contains the key itself.
#[utoipa::path(
    post,
    path = "/api-keys",
    tag = "API keys",
    request_body = CreateKey,
    responses((status = 201, description = "The record and the key", body = CreatedKey))
)]
pub async fn create(State(app): State<Arc<App>>, caller: Caller, new: Create<CreateKey>) -> Result<Response, ApiError> {
    let plan = api_keys::plan(&new.body)?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let (key, record) = api_keys::create(&mut write, plan).await?;
    let record = KeyView::of(&record, write.now());
    write
        .commit_created(&CreatedKey {
            record: record.clone(),
            key: None,
        })
        .await?;
    Ok(created(&CreatedKey {
        record,
        key: Some(key.reveal().to_owned()),
    }))
}

/// Revokes an API key. It is refused from now on, and stays in the list.
#[utoipa::path(
    delete,
    path = "/api-keys",
    tag = "API keys",
    params(("id" = String, Query, description = "The key")),
    responses(
        (status = 200, description = "`revoked`, also if it was revoked before", body = Deleted),
        (status = 404, description = "No key has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn revoke(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("API key")?.get()?;
    Write::run_against(&app, &caller, Target::Key(id), id, api_keys::revoke).await?;
    Ok(id_and_status(id, DoneStatus::Revoked))
}
