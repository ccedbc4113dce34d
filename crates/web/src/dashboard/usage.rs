//! `/o/{org}/usage`: usage by month, against the limits of the tier.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::usage::UsageView;
use launchway_domain::usage::{Month, Usage};
use launchway_ops::app::App;
use launchway_ops::usage::holdings;
use launchway_store::Paging;

use super::frame::{Frame, page};
use super::page_error::PageError;
use super::show;
use super::visitor::Visitor;

/// Months that are shown.
const YEAR: Paging = Paging { limit: 12, offset: 0 };

#[derive(Template)]
#[template(path = "dashboard/usage.html")]
struct Page {
    frame: Frame,
    month: String,
    tier: String,
    requests: u32,
    meters: Vec<Meter>,
    months: Vec<UsageView>,
}

/// A counter of this month.
struct Meter {
    label: &'static str,
    used: String,
    limit: Option<String>,
    /// The share of the limit, of 100.
    share: Option<i64>,
}

pub async fn show(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, PageError> {
    let present = Month::of(app.clock.now());
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let quotas = &app.config.quotas;
    let held = holdings(&mut org).await?;
    let view = |usage: &Usage| UsageView::of(usage, present, visitor.org.tier, quotas, held);
    let months: Vec<_> = org.usage(YEAR).await?.items.iter().map(view).collect();
    let now = months.iter().find(|month| month.id == present.to_string()).cloned();
    let now = now.unwrap_or_else(|| view(&Usage::none(present)));
    let shown = Page {
        frame: Frame::new(&app, &visitor, "usage", "Usage"),
        month: now.id.clone(),
        tier: visitor.org.tier.to_string(),
        requests: visitor.org.tier.requests_per_minute(),
        meters: meters(&now),
        months,
    };
    Ok(page(StatusCode::OK, &shown))
}

fn meters(month: &UsageView) -> Vec<Meter> {
    let quotas = &month.quotas;
    let meter = |label, used: i64, limit: Option<u64>, write: fn(&i64) -> String| {
        let limit = limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
        Meter {
            label,
            used: write(&used),
            limit: limit.as_ref().map(write),
            share: limit.map(|limit| (used as f64 / limit.max(1) as f64 * 100.0).min(100.0) as i64),
        }
    };
    vec![
        meter("Builds", month.builds, quotas.builds, show::count),
        meter("Build minutes", month.build_minutes, quotas.build_minutes, show::count),
        meter("Submissions", month.submissions, quotas.submissions, show::count),
        meter("Updates", month.updates, quotas.updates, show::count),
        meter("Stored for updates", month.bytes, quotas.bytes, show::size),
        meter("Stored now", month.stored_bytes, quotas.stored_bytes, show::size),
        meter("Claimed bundle ids", month.apps, quotas.apps, show::count),
        meter("Checks of devices", month.checks, None, show::count),
    ]
}
