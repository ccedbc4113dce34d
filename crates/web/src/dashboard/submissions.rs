//! `/o/{org}/submissions`: submissions to the app stores, newest first, with filters and live updates.

pub mod actions;
pub mod detail;
pub mod new;
pub mod timeline;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::submissions::SubmissionView;
use launchway_domain::id::OrgId;
use launchway_domain::submission::SubmissionStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_store::{Paging, SubmissionFilter};

use super::filters::{Filters, Known, Matching};
use super::frame::{Frame, page};
use super::live::{self, Part, RenderedPart};
use super::page_error::PageError;
use super::show::{self, Pager, ROWS};
use super::updates::bundles;
use super::visitor::Visitor;
use crate::http::submissions::words;
use crate::query::Query;

const FILTERS: [Known; 4] = [
    ("status", "status", Matching::Whole),
    ("platform", "platform", Matching::Whole),
    ("bundleId", "app", Matching::Part),
    ("buildId", "build", Matching::Part),
];

#[derive(Template)]
#[template(path = "dashboard/submissions.html")]
struct List {
    frame: Frame,
    filters: Filters,
    statuses: &'static [SubmissionStatus],
    bundles: Vec<String>,
    rows: Rows,
    /// The URL of live rows.
    live: String,
    command: String,
}

/// The live part of the page.
#[derive(Template)]
#[template(path = "dashboard/submissions_rows.html")]
struct Rows {
    home: String,
    submissions: Vec<SubmissionView>,
    pager: Pager,
}

async fn rows(app: &App, org: OrgId, filter: &SubmissionFilter, query: &str, offset: i64) -> Result<Rows, ApiError> {
    let paging = Paging { limit: ROWS, offset };
    let found = app.db.read().await?.org(org).submissions(filter, paging).await?;
    Ok(Rows {
        home: format!("/o/{org}"),
        pager: Pager::new(offset, found.items.len(), found.total, query),
        submissions: found.items.iter().map(SubmissionView::of).collect(),
    })
}

/// The filters of a query, and the submissions that they match.
async fn wanted(app: &App, org: OrgId, query: &Query) -> Result<(Filters, SubmissionFilter), ApiError> {
    let mut filters = Filters::read(query, FILTERS)?;
    let (bundle, bundle_part) = filters.app(&mut app.db.read().await?.org(org)).await?;
    let filter = SubmissionFilter {
        bundle,
        bundle_part,
        build_part: filters.part("buildId"),
        ..words(query)?
    };
    Ok((filters, filter))
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    let (filters, filter) = wanted(&app, visitor.org.id, &query).await?;
    let offset = query.paging()?.offset;
    let asked = filters.query();
    let rows = rows(&app, visitor.org.id, &filter, &asked, offset).await?;
    let list = List {
        frame: Frame::new(&app, &visitor, "submissions", "Submissions"),
        live: format!("{}/submissions/live?{asked}offset={offset}", visitor.home()),
        filters,
        statuses: &SubmissionStatus::ALL,
        bundles: bundles(&mut app.db.read().await?.org(visitor.org.id)).await?,
        rows,
        command: format!(
            "launchway login --url {}\nlaunchway build android\nlaunchway submit android --latest --destination internal",
            app.public_url
        ),
    };
    Ok(page(StatusCode::OK, &list))
}

struct LiveRows {
    app: Arc<App>,
    org: OrgId,
    filter: SubmissionFilter,
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
