//! `/audit`: who did what.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::audit::AuditView;
use launchway_api::lists::Page;
use launchway_domain::time::{from_rfc3339, iso};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_store::{AuditFilter, ChainedRow, Rows};

use crate::http::answers::page;
use crate::query::Query;

/// Lists what was done in the organization, newest first.
#[utoipa::path(
    get,
    path = "/audit",
    tag = "Audit log",
    params(
        ("actor" = Option<String>, Query, description = "Only actions of this user, key, `operator` or `service`"),
        ("action" = Option<String>, Query, description = "Only this action, such as `key.revoke`"),
        ("resource" = Option<String>, Query, description = "Only actions on this resource"),
        ("since" = Option<String>, Query, description = "Only entries from this time on, such as 2026-11-20T10:00:00.000Z"),
        ("until" = Option<String>, Query, description = "Only entries before this time"),
        ("limit" = Option<i64>, Query, description = "The maximum number of entries, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of entries to skip", minimum = 0),
    ),
    responses((status = 200, description = "A page of the audit log", body = Page<AuditView>))
)]
pub async fn list(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let filter = filter(&query)?;
    let paging = query.paging()?;
    let mut tx = app.db.read().await?;
    let rows = match filter {
        Some(filter) => tx.org(caller.org_id()?).audit(&filter, paging).await?,
        None => Rows::none(),
    };
    Ok(page(rows, paging, view))
}

/// Parses the filter of a query; `None` if it names nothing.
fn filter(query: &Query) -> Result<Option<AuditFilter>, ApiError> {
    let times = times(query)?;
    let [actor, action, resource] = ["actor", "action", "resource"].map(|name| query.named_text(name));
    let (Some(actor), Some(action), Some(resource)) = (actor?, action?, resource?) else {
        return Ok(None);
    };
    Ok(Some(AuditFilter {
        actor,
        action,
        resource,
        ..times
    }))
}

/// Parses the times of a filter.
pub fn times(query: &Query) -> Result<AuditFilter, ApiError> {
    Ok(AuditFilter {
        since: time(query, "since")?,
        until: time(query, "until")?,
        ..AuditFilter::default()
    })
}

fn time(query: &Query, name: &str) -> Result<Option<i64>, ApiError> {
    let time = |text| {
        let time = from_rfc3339(text);
        time.ok_or_else(|| ApiError::bad(format!("{name} must be a time such as 2026-11-20T10:00:00.000Z")))
    };
    query.get(name)?.map(time).transpose()
}

/// A line as the API shows it.
pub fn view(line: &ChainedRow) -> AuditView {
    let json = |text: &Option<String>| text.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    AuditView {
        seq: line.seq,
        at: iso(line.row.at),
        actor: line.row.actor.clone(),
        action: line.row.action.clone(),
        resource: line.row.resource.clone(),
        before: json(&line.row.before),
        after: json(&line.row.after),
        address: some(&line.row.address),
        request_id: some(&line.row.request_id),
        hash: line.hash.clone(),
    }
}
