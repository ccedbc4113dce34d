//! `/o/{org}/updates/audience`: who gets what. For a device with the entered properties it shows the response of the
//! check and the reason, by the same decision.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use launchway_domain::ota::{self, Candidate, Decision, Obstacle};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::apps;
use launchway_ota::{Entry, Updates};

use crate::dashboard::form_data::{Form, FormData};
use crate::dashboard::frame::{Frame, page};
use crate::dashboard::page_error::PageError;
use crate::dashboard::updates::bundles;
use crate::dashboard::visitor::Visitor;
use crate::http::update_check;

/// The maximum number of updates that are explained individually.
const EXPLAINED: usize = 50;

#[derive(Template)]
#[template(path = "dashboard/audience.html")]
struct Page {
    frame: Frame,
    form: Form,
    bundles: Vec<String>,
    answer: Option<Answer>,
}

/// What the device gets.
struct Answer {
    /// In one sentence.
    sentence: String,
    /// Its color and icon.
    status: (&'static str, &'static str),
    /// The explanation.
    reason: Option<String>,
    rows: Vec<Row>,
    /// Updates that are not explained individually.
    left_out: usize,
}

/// An update and the reasons against offering it.
struct Row {
    id: String,
    version: String,
    build: u64,
    configuration: String,
    rollout: u8,
    why: &'static str,
    chosen: bool,
}

pub async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = query.unwrap_or_default();
    let typed = FormData::of_pairs(&query);
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let (status, form, answer) = match read_answer(&app, &mut org, &typed, &query).await {
        Ok(answer) => (StatusCode::OK, Form::from_typed(typed), answer),
        Err(failure) if failure.status().0 == StatusCode::BAD_REQUEST => {
            (StatusCode::BAD_REQUEST, Form::refused(typed, &failure), None)
        }
        Err(failure) => return Err(failure.into()),
    };
    let shown = Page {
        frame: Frame::new(&app, &visitor, "updates", "Who gets what"),
        bundles: bundles(&mut org).await?,
        form,
        answer,
    };
    Ok(page(status, &shown))
}

async fn read_answer(
    app: &App,
    org: &mut launchway_store::Org<'_>,
    typed: &FormData,
    query: &str,
) -> Result<Option<Answer>, ApiError> {
    let bundle = typed.text("bundleId")?;
    if bundle.is_empty() {
        return Ok(None);
    }
    // Only the organization's own apps: updates of other organizations must not be visible.
    if org.app_by_bundle(&apps::bundle_id(bundle)?).await?.is_none() {
        return Err(ApiError::bad("bundleId is not an app of this organization"));
    }
    let answer = update_check::look(app, bundle, query, answer)?;
    Ok(Some(answer.unwrap_or_else(|| Answer {
        sentence: "No updates found for this bundle".to_owned(),
        status: ("calm", "dash"),
        reason: Some("Nothing is published for it".to_owned()),
        rows: Vec::new(),
        left_out: 0,
    })))
}

fn answer(caller: &ota::Caller<'_>, updates: &Updates<'_>) -> Answer {
    let newest_first: Vec<Entry<'_>> = updates.iter().collect();
    let (sentence, status, reason, chosen) = match ota::decide(caller, &newest_first) {
        Decision::NoUpdate => ("No update available".to_owned(), ("calm", "dash"), None, None),
        Decision::Update(update) => (
            format!("It gets {} (build {})", update.version(), update.build()),
            ("good", "check"),
            None,
            Some(update.id()),
        ),
        Decision::StoreUpdate(update) => (
            format!(
                "{} (build {}) requires a store release first",
                update.version(),
                update.build()
            ),
            ("warn", "warning"),
            Some(update.reason(caller.fingerprint.unwrap_or_default()).to_owned()),
            Some(update.id()),
        ),
    };
    let row = |update: &Entry<'_>| Row {
        id: update.id().to_owned(),
        version: update.version().to_string(),
        build: update.build(),
        configuration: update.configuration().unwrap_or("all").to_owned(),
        rollout: update.rollout().percent(),
        why: why(caller, update, chosen),
        chosen: chosen == Some(update.id()),
    };
    Answer {
        sentence,
        status,
        reason,
        rows: newest_first.iter().take(EXPLAINED).map(row).collect(),
        left_out: newest_first.len().saturating_sub(EXPLAINED),
    }
}

fn why(caller: &ota::Caller<'_>, update: &Entry<'_>, chosen: Option<&str>) -> &'static str {
    match ota::obstacle(caller, update) {
        None if chosen == Some(update.id()) => "This update is offered",
        None => "It matches, but a newer update matches as well",
        Some(Obstacle::NotNewer) => "The device has this version or a newer one",
        Some(Obstacle::Platform) => "It is for another platform",
        Some(Obstacle::Configuration) if caller.configuration.is_none() => {
            "It is for a configuration, but the device sends none"
        }
        Some(Obstacle::Configuration) => "It is for another configuration",
        Some(Obstacle::Rollout) if caller.device_id.is_none() => {
            "Its rollout reaches only some devices, but this one sends no device id"
        }
        Some(Obstacle::Rollout) => "Its rollout does not reach this device yet",
        Some(Obstacle::Fingerprint) => "It requires native code that differs from the device's",
        Some(Obstacle::Format) => "The app's client does not install its format",
        Some(Obstacle::Runtime) => "It requires an app that was built with another runtime",
        Some(Obstacle::Range) => "It requires an app of another version",
    }
}
