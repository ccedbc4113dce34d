//! `/o/{org}/updates/{id}`: an over-the-air update: its device reports and its actions. Its data updates live; every
//! change except that of the notes is confirmed first.

use askama::Template;
use axum::response::Response;
use launchway_api::reports::{CrashGroup, ReportCounts};
use launchway_api::updates::{ChangeUpdate, UpdateView};
use launchway_domain::crash::{MAX_GROUP_DEVICES, Stack};
use launchway_domain::id::UpdateId;
use launchway_domain::report::Health;
use launchway_domain::time::{from_rfc3339, iso};
use launchway_domain::update::{AWAITING_LIFE, UpdateStatus};
use launchway_ops::api_error::ApiError;
use launchway_ops::updates;
use launchway_ops::updates::listing::{Listing, listing};
use launchway_ops::updates::release;
use launchway_ota::Callers;
use launchway_store::{Org, Paging, UpdateFilter, day_of};

use crate::dashboard::form_data::{Difference, Form, FormData};
use crate::dashboard::frame::{Frame, Notice, page};
use crate::dashboard::live::{self, Part, RenderedPart};
use crate::dashboard::page_error::PageError;
use crate::dashboard::revision::{self, Revision};
use crate::dashboard::show;
use crate::dashboard::states;
use crate::dashboard::updates::actions;
use crate::dashboard::updates::health::{failure_rate, health_of};
use crate::dashboard::updates::reasons::{Reasons, grouped};
use crate::dashboard::updates::report_days::Days;
use crate::dashboard::visit::Visit;
use crate::http::updates::reports;

/// The groups of crashes on the page, which is sent again whenever one changes.
const SHOWN_CRASHES: usize = 10;
/// Earlier updates that a rollback can choose from.
const EARLIER: Paging = Paging { limit: 50, offset: 0 };

#[derive(Template)]
#[template(path = "dashboard/update.html")]
struct Page {
    frame: Frame,
    state: UpdateSection,
    earlier: Vec<UpdateView>,
    /// The configurations that it can be promoted to.
    configurations: Vec<String>,
    callers: Callers,
    form: Form,
    revision: String,
}

/// The live part of the page.
#[derive(Template)]
#[template(path = "dashboard/update_state.html")]
struct UpdateSection {
    home: String,
    update: UpdateView,
    chart: Vec<Bar>,
    reports: ReportCounts,
    reasons: Vec<Reasons>,
    /// Reports by day; `None` if there were none lately.
    days: Option<Days>,
    health: Health,
    /// What the roles of the app say about it; `None` if the app does not sign its updates.
    listing: Option<Listing>,
}

/// What names a group on the page, so that an opened stack stays open when the groups change.
pub fn crash_key(group: &CrashGroup) -> String {
    Stack::new(group.stack.clone()).map_or_else(|_| String::new(), |stack| stack.group_key())
}

/// The number of devices of a group, of which no more than a bound are counted.
pub fn count_devices(group: &CrashGroup) -> String {
    let devices = show::count(&group.devices);
    match group.devices {
        1 => "1 device".to_owned(),
        MAX_GROUP_DEVICES.. => format!("{devices} devices or more"),
        _ => format!("{devices} devices"),
    }
}

/// A bar of the chart of reports.
struct Bar {
    label: &'static str,
    count: i64,
    /// The width, of 100.
    width: i64,
    colour: &'static str,
}

impl UpdateSection {
    /// Whether any action is still possible.
    fn is_open(&self) -> bool {
        self.update.status != UpdateStatus::Withdrawn && !self.awaits_signature()
    }

    /// Whether it waits for signatures, and cannot be changed until then.
    fn awaits_signature(&self) -> bool {
        self.update.status == UpdateStatus::AwaitingSignature
    }

    /// When it is withdrawn unless it is signed before, as HTML.
    fn withdrawn_at(&self) -> String {
        let created = from_rfc3339(&self.update.created_at);
        created.map_or_else(String::new, |at| show::at(&iso(at + AWAITING_LIFE)))
    }

    /// The role that revokes its package.
    fn revoked_by(&self) -> Option<&str> {
        self.listing.as_ref()?.revoked_by.as_deref()
    }

    /// The mark of a revoked package, as HTML.
    fn revoked_badge(&self) -> Option<String> {
        self.revoked_by().map(|_| states::badge(("bad", "cross", "Revoked")))
    }

    /// The share of devices on which it failed; `None` if no device tried it.
    fn failure_rate(&self) -> Option<String> {
        failure_rate(&self.health)
    }

    /// The crashes of the most devices.
    fn crashes(&self) -> impl Iterator<Item = &CrashGroup> {
        self.reports.crashes.iter().take(SHOWN_CRASHES)
    }

    /// How many groups of crashes the page does not show.
    fn hidden_crashes(&self) -> usize {
        self.reports.crashes.len().saturating_sub(SHOWN_CRASHES)
    }

    /// Whether its role removed it, because newer updates took its place.
    fn is_pruned(&self) -> bool {
        let is_removed = |listing: &Listing| listing.revoked_by.is_none() && !listing.is_listed;
        self.is_open() && self.update.trust_role.is_some() && self.listing.as_ref().is_some_and(is_removed)
    }
}

async fn view(org: &mut Org<'_>, id: UpdateId) -> Result<UpdateView, ApiError> {
    Ok(UpdateView::of(&actions::read(org, id).await?))
}

async fn state(org: &mut Org<'_>, visit: &Visit<UpdateId>) -> Result<UpdateSection, ApiError> {
    let reports = reports(org, visit.id).await?;
    let update = actions::read(org, visit.id).await?;
    Ok(UpdateSection {
        home: visit.visitor.home(),
        listing: listing(org, &update).await?,
        update: UpdateView {
            foreign_ids: Some(release::foreign_ids(org, visit.id).await?),
            ..UpdateView::of(&update)
        },
        chart: chart(&reports),
        health: health_of(&reports),
        reasons: grouped(&reports.reasons),
        days: Days::of(&org.report_days(visit.id).await?, day_of(visit.app.clock.now())),
        reports,
    })
}

/// Shows the page; a form that was refused or is shown again is filled in.
pub async fn render_page(visit: &Visit<UpdateId>, form: Option<Form>) -> Result<Response, PageError> {
    let mut tx = visit.app.db.read().await?;
    let mut org = tx.org(visit.org());
    let state = state(&mut org, visit).await?;
    let update = &state.update;
    let filter = UpdateFilter {
        bundle: update.bundle_id.parse().ok(),
        platform: update.platform.known(),
        ..UpdateFilter::default()
    };
    let same_line = |other: &UpdateView| {
        let was_offered = other.status != UpdateStatus::AwaitingSignature;
        was_offered && other.id < update.id && other.configuration == update.configuration
    };
    let earlier = org.updates(&filter, EARLIER).await?.items;
    let title = format!(
        "{} {} for {}",
        update.bundle_id,
        update.version,
        show::platform(&update.platform)
    );
    // What changes are compared with has no ids.
    let compared = UpdateView {
        foreign_ids: None,
        ..update.clone()
    };
    let form = form.unwrap_or_else(|| visit.visitor.form_or(Form::default()));
    let mut configurations = org.configurations().await?;
    configurations.retain(|name| Some(name) != update.configuration.as_ref());
    let shown = Page {
        configurations,
        frame: visit.frame("updates", title),
        earlier: earlier.iter().map(UpdateView::of).filter(same_line).collect(),
        callers: visit.app.index.callers(&update.bundle_id),
        revision: form.revision(&Revision::of(&compared)?),
        form,
        state,
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

pub async fn show(visit: Visit<UpdateId>) -> Result<Response, PageError> {
    render_page(&visit, None).await
}

impl Part for Visit<UpdateId> {
    async fn make(&self) -> Result<Option<RenderedPart>, ApiError> {
        let mut tx = self.app.db.read().await?;
        match state(&mut tx.org(self.org()), self).await {
            Err(ApiError::NoSuch(_)) => Ok(None),
            state => Ok(Some(RenderedPart {
                html: show::render(&state?)?,
                is_last: false,
            })),
        }
    }
}

pub async fn live(visit: Visit<UpdateId>) -> Result<Response, PageError> {
    view(&mut visit.app.db.read().await?.org(visit.org()), visit.id).await?;
    Ok(live::follow(visit.app.clone(), visit.visitor.caller.clone(), visit)?)
}

/// The typed rollout; `None` if it is empty.
pub fn percent(form_data: &FormData) -> Result<Option<i64>, ApiError> {
    let typed = form_data.optional("rollout")?.map(|percent| percent.parse());
    typed
        .transpose()
        .map_err(|_| ApiError::bad("rollout must be a whole number from 0 to 100"))
}

/// Changes the release notes, unless somebody else changed the update since the page was shown.
pub async fn change_notes(visit: Visit<UpdateId>, form_data: FormData) -> Result<Response, PageError> {
    match changed(&visit, &form_data).await {
        Ok(()) => Ok(visit.redirect_with_notice(&actions::path(visit.id), Notice::UPDATE_CHANGED)),
        Err(ApiError::Changed) => {
            let now = view(&mut visit.app.db.read().await?.org(visit.org()), visit.id).await?;
            let differs = vec![Difference::new(
                "Release notes",
                &form_data.text("releaseNotes")?,
                &now.release_notes,
            )];
            render_page(&visit, Some(Form::outdated(form_data, differs))).await
        }
        Err(failure) => render_page(&visit, Some(Form::refused_if_bad(form_data, failure)?)).await,
    }
}

async fn changed(visit: &Visit<UpdateId>, form_data: &FormData) -> Result<(), ApiError> {
    // Browsers send line ends as CRLF, whatever was typed.
    let notes = form_data.text("releaseNotes")?.replace("\r\n", "\n");
    let plan = updates::plan(&ChangeUpdate {
        release_notes: Some(notes),
        ..ChangeUpdate::default()
    })?;
    visit
        .change(async |write, id| {
            let update = updates::lock(write, id).await?;
            revision::check(form_data, &Revision::of(&UpdateView::of(&update))?)?;
            updates::change(write, id, plan).await.map(drop)
        })
        .await
}
