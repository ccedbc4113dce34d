//! `/o/{org}/builds`: the builds of an organization, newest first, with filters and live updates.

pub mod actions;
pub mod detail;
pub mod log;
pub mod log_lines;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::builds::{BuildContext, BuildView};
use launchway_domain::id::OrgId;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_store::{BuildFilter, Paging};

use super::filters::{Filters, Known, Matching};
use super::frame::{Frame, page};
use super::live::{self, Part, RenderedPart};
use super::page_error::PageError;
use super::show::{self, Pager, ROWS};
use super::updates::bundles;
use super::visitor::Visitor;
use crate::http::builds::words;
use crate::query::Query;

const FILTERS: [Known; 5] = [
    ("status", "status", Matching::Whole),
    ("platform", "platform", Matching::Whole),
    ("bundleId", "app", Matching::Part),
    ("configuration", "configuration", Matching::Part),
    ("branch", "branch", Matching::Part),
];

#[derive(Template)]
#[template(path = "dashboard/builds.html")]
struct List {
    frame: Frame,
    filters: Filters,
    bundles: Vec<String>,
    configurations: Vec<String>,
    rows: Rows,
    /// The URL of live rows.
    live: String,
    command: String,
}

/// The live part of the page.
#[derive(Template)]
#[template(path = "dashboard/builds_rows.html")]
struct Rows {
    home: String,
    builds: Vec<BuildView>,
    pager: Pager,
}

async fn rows(app: &App, org: OrgId, filter: &BuildFilter, query: &str, offset: i64) -> Result<Rows, ApiError> {
    let paging = Paging { limit: ROWS, offset };
    let found = app.db.read().await?.org(org).builds(filter, paging).await?;
    let view = |build| BuildView::of(build, BuildContext::default());
    Ok(Rows {
        home: format!("/o/{org}"),
        pager: Pager::new(offset, found.items.len(), found.total, query),
        builds: found.items.iter().map(view).collect(),
    })
}

/// The filters of a query, and the builds that they match.
async fn wanted(app: &App, org: OrgId, query: &Query) -> Result<(Filters, BuildFilter), ApiError> {
    let mut filters = Filters::read(query, FILTERS)?;
    let (bundle, bundle_part) = filters.app(&mut app.db.read().await?.org(org)).await?;
    let filter = BuildFilter {
        bundle,
        bundle_part,
        configuration_part: filters.part("configuration"),
        branch_part: filters.part("branch"),
        ..words(query)?
    };
    Ok((filters, filter))
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    let (filters, filter) = wanted(&app, visitor.org.id, &query).await?;
    let offset = query.paging()?.offset;
    let asked = filters.query();
    let rows = rows(&app, visitor.org.id, &filter, &asked, offset).await?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let list = List {
        frame: Frame::new(&app, &visitor, "builds", "Builds"),
        live: format!("{}/builds/live?{asked}offset={offset}", visitor.home()),
        filters,
        bundles: bundles(&mut org).await?,
        configurations: org.configurations().await?,
        rows,
        command: format!(
            "launchway login --url {}\nlaunchway init\nlaunchway build android",
            app.public_url
        ),
    };
    Ok(page(StatusCode::OK, &list))
}

struct LiveRows {
    app: Arc<App>,
    org: OrgId,
    filter: BuildFilter,
    query: String,
    offset: i64,
}

impl Part for LiveRows {
    async fn make(&self) -> Result<Option<RenderedPart>, ApiError> {
        let rows = rows(&self.app, self.org, &self.filter, &self.query, self.offset).await?;
        Ok(Some(RenderedPart {
            html: show::render(&rows)?,
            is_last: false,
        }))
    }
}

pub async fn live(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    let (filters, filter) = wanted(&app, visitor.org.id, &query).await?;
    let part = LiveRows {
        app: app.clone(),
        org: visitor.org.id,
        filter,
        query: filters.query(),
        offset: query.paging()?.offset,
    };
    Ok(live::follow(app, visitor.caller, part)?)
}
