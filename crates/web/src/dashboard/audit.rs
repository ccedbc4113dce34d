//! `/o/{org}/audit`: who did what, when and from where.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::audit::AuditView;
use launchway_domain::id::{Kind, User};
use launchway_domain::time::iso;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_store::{AuditFilter, ChainedRow, Org, Paging};
use serde_json::Value;

use super::filters::{Filters, Known, Matching};
use super::frame::{Frame, page};
use super::page_error::PageError;
use super::show::{Pager, ROWS};
use super::visitor::Visitor;
use crate::http::audit::{times, view};
use crate::names::names_of;
use crate::query::Query;

/// The lines that are printed at most.
const PRINTED: Paging = Paging { limit: 1000, offset: 0 };

const FILTERS: [Known; 3] = [
    ("actor", "actor", Matching::Part),
    ("action", "action", Matching::Part),
    ("resource", "resource", Matching::Part),
];

#[derive(Template)]
#[template(path = "dashboard/audit.html")]
struct Page {
    frame: Frame,
    lines: Vec<AuditView>,
    /// The display names of the actors, by id.
    names: BTreeMap<String, String>,
    pager: Pager,
    filters: Filters,
    /// For paper: all lines on one page, with what changed.
    is_print: bool,
    /// When the page was made.
    now: String,
}

impl Page {
    /// Formats a record of the log for reading.
    fn pretty(value: &Value) -> String {
        serde_json::to_string_pretty(value).unwrap_or_default()
    }
}

/// The display names of the actors of these lines: a member's address, the name of a key or runner.
async fn names(org: &mut Org<'_>, lines: &[ChainedRow]) -> Result<BTreeMap<String, String>, ApiError> {
    let actors: Vec<&str> = lines.iter().map(|line| line.row.actor.as_str()).collect();
    let mut names = names_of(org, &actors).await?;
    for (id, name) in &mut names {
        // Such as `key CI`; an address needs no word before it.
        if let Some(kind) = id.split('_').next().filter(|kind| *kind != User::PREFIX) {
            name.insert_str(0, &format!("{kind} "));
        }
    }
    Ok(names)
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    let offset = query.paging()?.offset;
    render_page(&app, &visitor, &query, Paging { limit: ROWS, offset }, false).await
}

/// The log for printing: the latest lines that match the filters, on one page.
pub async fn print(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    render_page(&app, &visitor, &query, PRINTED, true).await
}

async fn render_page(
    app: &App,
    visitor: &Visitor,
    query: &Query,
    paging: Paging,
    is_print: bool,
) -> Result<Response, PageError> {
    let filters = Filters::read(query, FILTERS)?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let filter = AuditFilter {
        actor_part: filters.part("actor"),
        action_part: filters.part("action"),
        resource_part: filters.part("resource"),
        ..times(query)?
    };
    let rows = org.audit(&filter, paging).await?;
    let shown = Page {
        frame: Frame::new(app, visitor, "audit", "Audit log"),
        pager: Pager::new(paging.offset, rows.items.len(), rows.total, &filters.query()),
        names: names(&mut org, &rows.items).await?,
        lines: rows.items.iter().map(view).collect(),
        filters,
        is_print,
        now: iso(app.clock.now()),
    };
    Ok(page(StatusCode::OK, &shown))
}
