//! `/names`: what people call the things whose ids other responses contain.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::error::ErrorBody;
use launchway_api::names::{MAX_IDS, Names};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;

use crate::http::answers::found;
use crate::names::names_of;
use crate::query::Query;

/// Reads the names of members, API keys, runners and credentials by their ids, such as those in `createdBy`, `actor` and
/// `credentialId`. An id that names nothing of the organization is missing in the response.
#[utoipa::path(
    get,
    path = "/names",
    tag = "Organizations",
    params(("ids" = Option<String>, Query, description = "Up to 100 ids, separated by commas")),
    responses(
        (status = 200, description = "The names by id", body = Names),
        (status = 400, description = "There are too many ids", body = ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let ids = query.get("ids")?.unwrap_or_default();
    let ids: Vec<&str> = ids.split(',').filter(|id| !id.is_empty()).take(MAX_IDS + 1).collect();
    if ids.len() > MAX_IDS {
        return Err(ApiError::bad(format!(
            "ids must be at most {MAX_IDS} ids, separated by commas"
        )));
    }
    let mut tx = app.db.read().await?;
    let names = names_of(&mut tx.org(caller.org_id()?), &ids).await?;
    Ok(found(&Names { names }))
}
