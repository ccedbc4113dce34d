//! `/o/{org}/updates/{id}`: one over-the-air update: what devices report of it, and what may be done with it.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use launchway_api::reports::ReportCounts;
use launchway_api::updates::{ChangeUpdate, CreateUpdate, FingerprintInput, TextOrNumber, UpdateView};
use launchway_domain::id::UpdateId;
use launchway_store::{Org, Paging, UpdateFilter, day_of};

use super::frame::{Frame, Notice, done, page};
use super::posted::{Form, Posted};
use super::report_days::Days;
use super::show;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::app::App;
use crate::failure::Failure;
use crate::http::update::reports;
use crate::ops::publish_request::{self, Published};
use crate::ops::updates;
use crate::ops::write::Write;

/// Earlier updates that a roll back is offered to.
const EARLIER: Paging = Paging { limit: 50, offset: 0 };

#[derive(Template)]
#[template(path = "dashboard/update.html")]
struct Page {
    frame: Frame,
    update: UpdateView,
    chart: Vec<Bar>,
    reports: ReportCounts,
    /// What was reported on which day; `None` when nothing was lately.
    days: Option<Days>,
    /// Of the devices that got it, how many of a hundred failed or went back; `None` before any did.
    failure_rate: Option<String>,
    earlier: Vec<UpdateView>,
    form: Form,
}

/// A bar of the chart of reports.
struct Bar {
    label: &'static str,
    count: i64,
    /// Of 100.
    width: i64,
    colour: &'static str,
}

impl Page {
    /// Whether anything may still be done with it.
    fn is_open(&self) -> bool {
        self.update.status != "withdrawn"
    }
}

fn id_of(text: &str) -> Result<UpdateId, Failure> {
    text.parse().map_err(|_| Failure::NoSuch("update"))
}

async fn read(org: &mut Org<'_>, id: UpdateId) -> Result<UpdateView, Failure> {
    let update = org.update(id).await?.ok_or(Failure::NoSuch("update"))?;
    Ok(UpdateView::of(&update))
}

async fn shown(app: &App, visitor: &Visitor, id: UpdateId, form: Form) -> Result<Page, Failure> {
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let update = read(&mut org, id).await?;
    let reports = reports(&mut org, id).await?;
    let days = Days::of(&org.report_days(id).await?, day_of(app.clock.now()));
    let filter = UpdateFilter {
        bundle: update.bundle_id.parse().ok(),
        platform: Some(update.platform),
        ..UpdateFilter::default()
    };
    let same_line = |other: &UpdateView| other.id < update.id && other.configuration == update.configuration;
    let earlier = org.updates(&filter, EARLIER).await?.items;
    let title = format!(
        "{} {} for {}",
        update.bundle_id,
        update.version,
        show::platform(&update.platform)
    );
    Ok(Page {
        frame: Frame::new(app, visitor, "updates", title),
        chart: chart(&reports),
        failure_rate: failure_rate(&reports),
        earlier: earlier.iter().map(UpdateView::of).filter(same_line).collect(),
        reports,
        days,
        update,
        form,
    })
}

fn chart(counts: &ReportCounts) -> Vec<Bar> {
    let rows = [
        ("Downloaded", counts.downloaded, "calm"),
        ("Installed", counts.installed, "busy"),
        ("Confirmed", counts.confirmed, "good"),
        ("Rolled back", counts.rolled_back, "warn"),
        ("Failed", counts.failed, "bad"),
    ];
    let most = rows.iter().map(|row| row.1).max().unwrap_or(0).max(1);
    rows.map(|(label, count, colour)| Bar {
        label,
        count,
        width: count * 100 / most,
        colour,
    })
    .into()
}

fn failure_rate(counts: &ReportCounts) -> Option<String> {
    let bad = counts.failed + counts.rolled_back;
    let all = counts.installed.max(counts.confirmed) + counts.failed;
    (all > 0).then(|| format!("{:.1} %", ((bad.min(all) * 1000 + all / 2) / all) as f64 / 10.0))
}

pub async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let shown = shown(&app, &visitor, id_of(&id)?, Form::default()).await?;
    Ok(page(StatusCode::OK, &shown))
}

/// Changes status, rollout, urgency or notes: whichever the form has.
pub async fn change(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
    posted: Posted,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    match changed(&app, &visitor, id, &posted).await {
        Ok(()) => Ok(done(&visitor, &format!("/updates/{id}"), Notice::UPDATE_CHANGED)),
        Err(failure) => Ok(refused(&app, &visitor, id, posted, failure).await?),
    }
}

async fn changed(app: &App, visitor: &Visitor, id: UpdateId, posted: &Posted) -> Result<(), Failure> {
    let rollout = posted.optional("rollout")?.map(|percent| percent.parse());
    let rollout = rollout.transpose();
    // Browsers send line ends as CRLF, whatever was typed.
    let notes = posted.bytes("releaseNotes").map(|_| posted.text("releaseNotes"));
    let plan = updates::plan(&ChangeUpdate {
        status: posted.optional("status")?,
        rollout: rollout.map_err(|_| Failure::bad("rollout must be a whole number from 0 to 100"))?,
        mandatory: posted.optional("mandatory")?.map(|mandatory| mandatory == "yes"),
        release_notes: notes.transpose()?.map(|notes| notes.replace("\r\n", "\n")),
    })?;
    let mut write = Write::begin(app, &visitor.caller).await?;
    updates::change(&mut write, id, plan).await?;
    write.commit().await
}

async fn refused(
    app: &App,
    visitor: &Visitor,
    id: UpdateId,
    posted: Posted,
    failure: Failure,
) -> Result<Response, Trouble> {
    if failure.status().0 != StatusCode::BAD_REQUEST {
        return Ok(Trouble(failure).into_response());
    }
    let form = Form::refused(posted, &failure);
    Ok(page(failure.status().0, &shown(app, visitor, id, form).await?))
}

/// Publishes the same bytes for another configuration.
pub async fn promote(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
    posted: Posted,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let source = read(&mut app.db.read().await?.org(visitor.org.id), id).await?;
    let request = CreateUpdate {
        source_update_id: Some(source.id),
        bundle_id: source.bundle_id,
        platform: source.platform.to_string(),
        version: source.version,
        build_number: Some(TextOrNumber::Text(source.build_number)),
        configuration: Some(posted.text("configuration")?.to_owned()),
        fingerprint: source.fingerprint.map(FingerprintInput::Hash),
        release_notes: Some(source.release_notes),
        mandatory: Some(source.mandatory),
        ..CreateUpdate::default()
    };
    publish_again(&app, &visitor, id, posted, &request, Notice::UPDATE_PROMOTED).await
}

/// Publishes the bytes of an earlier update again, above this one for every device that has it.
pub async fn roll_back(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
    posted: Posted,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let bad = read(&mut org, id).await?;
    let good = read(&mut org, id_of(posted.text("to")?)?).await?;
    drop(tx);
    let request = CreateUpdate {
        source_update_id: Some(good.id),
        bundle_id: bad.bundle_id,
        platform: bad.platform.to_string(),
        version: bad.version,
        build_number: Some(TextOrNumber::Text("auto".to_owned())),
        configuration: bad.configuration,
        fingerprint: good.fingerprint.map(FingerprintInput::Hash),
        release_notes: Some(good.release_notes),
        mandatory: Some(good.mandatory),
        ..CreateUpdate::default()
    };
    publish_again(&app, &visitor, id, posted, &request, Notice::UPDATE_ROLLED_BACK).await
}

async fn publish_again(
    app: &App,
    visitor: &Visitor,
    id: UpdateId,
    posted: Posted,
    request: &CreateUpdate,
    notice: Notice,
) -> Result<Response, Trouble> {
    match publish_request::run(app, &visitor.caller, request, None).await {
        Ok(Published::Fresh(view)) => Ok(done(visitor, &format!("/updates/{}", view.id), notice)),
        Ok(Published::Kept(_)) => Ok(done(visitor, "/updates", notice)),
        Err(failure) => Ok(refused(app, visitor, id, posted, failure).await?),
    }
}

pub async fn delete(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    updates::delete(&mut write, id).await?;
    write.commit().await?;
    Ok(done(&visitor, "/updates", Notice::UPDATE_DELETED))
}
