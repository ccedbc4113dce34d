//! `/o/{org}/updates`: the over-the-air updates of an organization, newest first, with filters.

pub mod actions;
pub mod audience;
pub mod detail;
pub mod health;
pub mod new;
pub mod reasons;
pub mod report_days;
pub mod republish;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::updates::UpdateView;
use launchway_domain::report::Health;
use launchway_domain::update::Update;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_store::{Paging, UpdateFilter};

use super::filters::{Filters, Known, Matching};
use super::frame::{Frame, page};
use super::page_error::PageError;
use super::show::{Pager, ROWS};
use super::visitor::Visitor;
use crate::http::updates::words;
use crate::query::Query;

const FILTERS: [Known; 4] = [
    ("bundleId", "app", Matching::Part),
    ("platform", "platform", Matching::Whole),
    ("configuration", "configuration", Matching::Part),
    ("status", "status", Matching::Whole),
];

#[derive(Template)]
#[template(path = "dashboard/updates.html")]
struct List {
    frame: Frame,
    filters: Filters,
    bundles: Vec<String>,
    configurations: Vec<String>,
    updates: Vec<(UpdateView, Health)>,
    pager: Pager,
    command: String,
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    let mut filters = Filters::read(&query, FILTERS)?;
    let offset = query.paging()?.offset;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let (bundle, bundle_part) = filters.app(&mut org).await?;
    let filter = UpdateFilter {
        bundle,
        bundle_part,
        configuration_part: filters.part("configuration"),
        ..words(&query)?
    };
    let rows = org.updates(&filter, Paging { limit: ROWS, offset }).await?;
    let healths = health::healths(&mut org, &rows.items).await?;
    let listed = |update: &Update| {
        let health = healths.get(&update.id).copied().unwrap_or_default();
        (UpdateView::of(update), health)
    };
    let list = List {
        frame: Frame::new(&app, &visitor, "updates", "Updates"),
        bundles: bundles(&mut org).await?,
        configurations: org.configurations().await?,
        pager: Pager::new(offset, rows.items.len(), rows.total, &filters.query()),
        updates: rows.items.iter().map(listed).collect(),
        filters,
        command: format!(
            "launchway login --url {}\nlaunchway init\nlaunchway update android",
            app.public_url
        ),
    };
    Ok(page(StatusCode::OK, &list))
}

/// The bundle identifiers of the organization's apps, for a list of choices.
pub async fn bundles(org: &mut launchway_store::Org<'_>) -> Result<Vec<String>, ApiError> {
    let apps = org.apps(Paging { limit: 100, offset: 0 }).await?.items;
    Ok(apps.into_iter().map(|app| app.bundle_id).collect())
}
