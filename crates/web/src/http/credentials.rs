//! `/credentials` (`docs/reference/submissions.md#credential-endpoints`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::credentials::{CreateCredential, CredentialTaken, CredentialView};
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::words::DoneStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::credentials;
use launchway_ops::write::{Creation, Write, kept_answer};

use crate::extract::Create;
use crate::http::answers::{created, found, id_and_status, page, replay};
use crate::query::Query;

/// Lists credentials, or reads the one that `id` names. The response has the metadata of the file, never the file.
#[utoipa::path(
    get,
    path = "/credentials",
    tag = "Credentials",
    params(
        ("id" = Option<String>, Query, description = "Read this credential instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of credentials, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of credentials to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of credentials; with `id`, the credential", body = OneOrPage<CredentialView>),
        (status = 404, description = "No credential has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("credential")?;
    let paging = query.paging()?;
    let now = app.clock.now();
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    match id {
        Some(id) => {
            let credential = org.credential(id.get()?).await?;
            let credential = credential.ok_or(ApiError::NoSuch("credential"))?;
            Ok(found(&CredentialView::of(&credential, now)))
        }
        None => Ok(page(org.credentials(paging).await?, paging, |credential| {
            CredentialView::of(credential, now)
        })),
    }
}

/// Creates a credential, after opening the file and validating its content.
#[utoipa::path(
    post,
    path = "/credentials",
    tag = "Credentials",
    request_body = CreateCredential,
    responses((status = 201, description = "The credential, without its file and passwords", body = CredentialTaken))
)]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    new: Create<CreateCredential>,
) -> Result<Response, ApiError> {
    // Inspection is expensive, so an idempotent replay skips it.
    if let Some(kept) = kept_answer(&app, &caller, &new.request).await? {
        return Ok(replay(kept));
    }
    let plan = credentials::plan(&app, &caller, new.body).await?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let (record, store_events) = credentials::create(&mut write, plan).await?;
    let mut answer = CredentialTaken {
        record,
        store_events: None,
    };
    write.commit_created(&answer).await?;
    answer.store_events = store_events;
    Ok(created(&answer))
}

/// Gives the events of App Store Connect a new secret. Only this response contains it. For 24 hours the previous one stays
/// valid, too.
#[utoipa::path(
    post,
    path = "/credentials/rotate-events-secret",
    tag = "Credentials",
    params(("id" = String, Query, description = "The credential, of the kind app_store_connect_key")),
    responses(
        (status = 200, description = "The record, and the webhook with its new secret", body = CredentialTaken),
        (status = 404, description = "No credential has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn rotate_events_secret(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    let id = query.id("credential")?;
    let mut write = Write::begin(&app, &caller).await?;
    let (record, store_events) = credentials::rotate_events_secret(&mut write, id.get()?).await?;
    write.commit().await?;
    Ok(found(&CredentialTaken {
        record,
        store_events: Some(store_events),
    }))
}

/// Deletes a credential. Builds and submissions that already have it keep it until they end.
#[utoipa::path(
    delete,
    path = "/credentials",
    tag = "Credentials",
    params(("id" = String, Query, description = "The credential")),
    responses(
        (status = 200, description = "`deleted`", body = Deleted),
        (status = 404, description = "No credential has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn delete(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("credential")?.get()?;
    Write::run(&app, &caller, id, credentials::delete).await?;
    Ok(id_and_status(id, DoneStatus::Deleted))
}
