//! `/o/{org}/updates/{id}`: one over-the-air update: what devices report of it, and what may be done with it.

use askama::Template;
use axum::response::Response;
use launchway_api::reports::ReportCounts;
use launchway_api::updates::{ChangeUpdate, CreateUpdate, FingerprintInput, TextOrNumber, UpdateView};
use launchway_domain::id::UpdateId;
use launchway_domain::update::Update;
use launchway_store::{Org, Paging, UpdateFilter, day_of};

use super::frame::{Frame, Notice, page};
use super::posted::{Form, Posted};
use super::report_days::Days;
use super::show;
use super::trouble::Trouble;
use super::visit::Visit;
use crate::failure::Failure;
use crate::http::update::reports;
use crate::ops::publish_request::{self, Published};
use crate::ops::updates;

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

async fn read(org: &mut Org<'_>, id: UpdateId) -> Result<UpdateView, Failure> {
    let update = org.update(id).await?.ok_or(Failure::NoSuch("update"))?;
    Ok(UpdateView::of(&update))
}

async fn shown(visit: &Visit<UpdateId>, form: Form) -> Result<Response, Trouble> {
    let mut tx = visit.app.db.read().await?;
    let mut org = tx.org(visit.org());
    let update = read(&mut org, visit.id).await?;
    let reports = reports(&mut org, visit.id).await?;
    let days = Days::of(&org.report_days(visit.id).await?, day_of(visit.app.clock.now()));
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
    let shown = Page {
        frame: visit.frame("updates", title),
        chart: chart(&reports),
        failure_rate: failure_rate(&reports),
        earlier: earlier.iter().map(UpdateView::of).filter(same_line).collect(),
        reports,
        days,
        update,
        form,
    };
    Ok(page(shown.form.status(), &shown))
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

pub async fn show(visit: Visit<UpdateId>) -> Result<Response, Trouble> {
    shown(&visit, Form::default()).await
}

/// Changes status, rollout, urgency or notes: whichever the form has.
pub async fn change(visit: Visit<UpdateId>, posted: Posted) -> Result<Response, Trouble> {
    match changed(&visit, &posted).await {
        Ok(update) => Ok(visit.done(&format!("/updates/{}", update.id), Notice::UPDATE_CHANGED)),
        Err(failure) => shown(&visit, Form::refused_if_bad(posted, failure)?).await,
    }
}

async fn changed(visit: &Visit<UpdateId>, posted: &Posted) -> Result<Update, Failure> {
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
    visit
        .change(async |write, id| updates::change(write, id, plan).await)
        .await
}

/// Publishes the same bytes for another configuration.
pub async fn promote(visit: Visit<UpdateId>, posted: Posted) -> Result<Response, Trouble> {
    let source = read(&mut visit.app.db.read().await?.org(visit.org()), visit.id).await?;
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
    publish_again(&visit, posted, &request, Notice::UPDATE_PROMOTED).await
}

/// Publishes the bytes of an earlier update again, above this one for every device that has it.
pub async fn roll_back(visit: Visit<UpdateId>, posted: Posted) -> Result<Response, Trouble> {
    let none = |_| Failure::NoSuch("update");
    let mut tx = visit.app.db.read().await?;
    let mut org = tx.org(visit.org());
    let bad = read(&mut org, visit.id).await?;
    let good = read(&mut org, posted.text("to")?.parse().map_err(none)?).await?;
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
    publish_again(&visit, posted, &request, Notice::UPDATE_ROLLED_BACK).await
}

async fn publish_again(
    visit: &Visit<UpdateId>,
    posted: Posted,
    request: &CreateUpdate,
    notice: Notice,
) -> Result<Response, Trouble> {
    match publish_request::run(&visit.app, &visit.visitor.caller, request, None).await {
        Ok(Published::Fresh(view)) => Ok(visit.done(&format!("/updates/{}", view.id), notice)),
        Ok(Published::Kept(_)) => Ok(visit.done("/updates", notice)),
        Err(failure) => shown(visit, Form::refused_if_bad(posted, failure)?).await,
    }
}

pub async fn delete(visit: Visit<UpdateId>) -> Result<Response, Trouble> {
    visit.change(updates::delete).await?;
    Ok(visit.done("/updates", Notice::UPDATE_DELETED))
}
