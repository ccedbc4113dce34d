//! `/o/{org}/audit`: who did what, when and from where.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::audit::AuditView;
use launchway_store::Paging;
use serde_json::Value;

use super::frame::{Frame, page};
use super::show::{Pager, ROWS};
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::app::App;
use crate::blob::percent::encoded;
use crate::failure::Failure;
use crate::http::audit::{filter, view};
use crate::http::extract::Query;

#[derive(Template)]
#[template(path = "dashboard/audit.html")]
struct Page {
    frame: Frame,
    lines: Vec<AuditView>,
    pager: Pager,
    actor: String,
    action: String,
    resource: String,
}

impl Page {
    /// A record of the log as people read it.
    fn pretty(value: &Value) -> String {
        serde_json::to_string_pretty(value).unwrap_or_default()
    }
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, Trouble> {
    let typed = |name: &str| Ok::<_, Failure>(query.get(name)?.unwrap_or_default().to_owned());
    let (actor, action, resource) = (typed("actor")?, typed("action")?, typed("resource")?);
    let offset = query.paging()?.offset;
    let paging = Paging { limit: ROWS, offset };
    let rows = app
        .db
        .read()
        .await?
        .org(visitor.org.id)
        .audit(&filter(&query)?, paging)
        .await?;
    let asked = [("actor", &actor), ("action", &action), ("resource", &resource)];
    let set = asked.into_iter().filter(|(_, value)| !value.is_empty());
    let asked: String = set.map(|(name, value)| format!("{name}={}&", encoded(value))).collect();
    let shown = Page {
        frame: Frame::new(&app, &visitor, "audit", "Audit log"),
        pager: Pager::new(offset, rows.items.len(), rows.total, &asked),
        lines: rows.items.iter().map(view).collect(),
        actor,
        action,
        resource,
    };
    Ok(page(StatusCode::OK, &shown))
}
