//! Confirmed changes of an update: its status, rollout and urgency, and its deletion.

use axum::response::Response;
use launchway_api::updates::{ChangeUpdate, UpdateView};
use launchway_domain::id::UpdateId;
use launchway_domain::update::{Update, UpdateStatus};
use launchway_ops::api_error::ApiError;
use launchway_ops::updates;
use launchway_ops::write::Write;
use launchway_store::Org;

use crate::dashboard::confirm::{Action, Done, Facts, Requester};
use crate::dashboard::form_data::{Form, FormData};
use crate::dashboard::frame::Notice;
use crate::dashboard::page_error::PageError;
use crate::dashboard::revision::Revision;
use crate::dashboard::show;
use crate::dashboard::updates::detail::{self, percent};
use crate::dashboard::updates::health::{configuration, health, reach};
use crate::dashboard::visit::Visit;

/// What a withdrawal means to devices with the client of another service.
const LEAVES: &str = "Devices with the client of another service leave it at their next check, as far as their client can: for an earlier \
                      update, or for what their app was installed with";

/// Pauses, resumes or withdraws an update, or changes its rollout or urgency.
pub struct Change(ChangeUpdate);

/// Deletes an update.
pub struct Delete;

/// Reads an update of the organization.
pub async fn read(org: &mut Org<'_>, id: UpdateId) -> Result<Update, ApiError> {
    org.update(id).await?.ok_or(ApiError::NoSuch("update"))
}

/// The name of an update in sentences.
pub fn name(update: &Update) -> String {
    format!("{} ({})", update.version_text, update.build_number.as_str())
}

/// Adds the details of an update to a question about it.
pub fn about(facts: Facts, update: &Update) -> Facts {
    facts
        .known("App", &update.bundle_id)
        .known("Platform", show::platform(&update.platform))
        .known("Update", name(update))
        .known("Configuration", configuration(update.configuration.as_ref()))
}

/// The path of an update's page.
pub fn path(id: UpdateId) -> String {
    format!("/updates/{id}")
}

/// The message about a new update: `published`, unless it awaits its signature.
pub fn notice_of(status: UpdateStatus, published: Notice) -> Notice {
    match status {
        UpdateStatus::AwaitingSignature => Notice::UPDATE_AWAITS,
        _ => published,
    }
}

pub fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

impl Change {
    fn question(&self, before: &Update, after: &Update) -> (String, &'static str, &'static str) {
        let named = name(before);
        let (question, button, follows) = if before.status != after.status || self.0.status.is_some() {
            match after.status {
                UpdateStatus::Paused => (
                    "Pause",
                    "Pause update",
                    "No device is offered this update until it is resumed. Devices that have it keep it.",
                ),
                UpdateStatus::Published => (
                    "Resume",
                    "Resume update",
                    "Devices are offered this update again from their next check on",
                ),
                UpdateStatus::Withdrawn => (
                    "Withdraw",
                    "Withdraw update",
                    "The update is no longer offered. Devices with the SDK that have it keep it. This cannot be undone. To \
                     bring earlier bytes to them, roll back.",
                ),
                // Refused before: no change leads to this status.
                UpdateStatus::AwaitingSignature => ("Keep", "Keep update", "The update awaits its signature"),
            }
        } else if self.0.rollout.is_some() {
            let (question, button) = match after.rollout.cmp(&before.rollout) {
                std::cmp::Ordering::Less => ("Lower the rollout of", "Lower rollout"),
                _ => ("Raise the rollout of", "Raise rollout"),
            };
            let follows = "The change applies from the devices' next check. Devices that have the update keep it, \
                           also with a lower rollout.";
            (question, button, follows)
        } else if after.mandatory {
            let follows = "Apps are asked to install it immediately and not to continue without it, on every device \
                           that is offered it";
            ("Make mandatory:", "Make it mandatory", follows)
        } else {
            (
                "No longer mandatory:",
                "Make it optional",
                "Devices can install it later",
            )
        };
        (format!("{question} {named}?"), button, follows)
    }
}

impl Action for Change {
    type Id = UpdateId;

    fn read(form_data: &FormData) -> Result<Self, ApiError> {
        let wanted = ChangeUpdate {
            status: form_data.word("status")?,
            rollout: percent(form_data)?,
            mandatory: form_data.optional("mandatory")?.map(|mandatory| mandatory == "yes"),
            release_notes: None,
        };
        if wanted.status.is_none() && wanted.rollout.is_none() && wanted.mandatory.is_none() {
            return Err(ApiError::bad(
                "Specify at least one change: status, rollout or mandatory",
            ));
        }
        Ok(Change(wanted))
    }

    async fn lock(&self, write: &mut Write<'_>, id: UpdateId) -> Result<(), ApiError> {
        updates::lock(write, id).await.map(drop)
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: UpdateId) -> Result<Facts, ApiError> {
        let before = read(org, id).await?;
        let after = updates::apply(&before, updates::plan(&self.0)?)?;
        let (question, button, follows) = self.question(&before, &after);
        let mut facts = Facts::new(question, button, Revision::of(&UpdateView::of(&before))?)
            .on("updates", path(id), "The update")
            .says(follows);
        for (wanted, what, now, then, field) in [
            (
                self.0.status.is_some(),
                "Status",
                before.status.to_string(),
                after.status.to_string(),
                "status",
            ),
            (
                self.0.rollout.is_some(),
                "Rollout",
                before.rollout.to_string(),
                after.rollout.to_string(),
                "rollout",
            ),
            (
                self.0.mandatory.is_some(),
                "Mandatory",
                yes_no(before.mandatory).to_owned(),
                yes_no(after.mandatory).to_owned(),
                "mandatory",
            ),
        ] {
            facts = match wanted {
                true => facts.change(what, now, &then).field(field, then.trim_end_matches(" %")),
                false => facts.known(what, now),
            };
        }
        facts.danger = after.status == UpdateStatus::Withdrawn;
        if facts.danger && !org.foreign_ids(id).await?.is_empty() {
            facts = facts.says(LEAVES);
        }
        let facts = about(facts, &before);
        let facts = reach(facts, org, &before, before.configuration.as_ref(), after.rollout).await?;
        health(facts, org, &before).await
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: UpdateId) -> Result<Done, ApiError> {
        updates::change(write, id, updates::plan(&self.0)?).await?;
        Ok(Done::new(path(id), Notice::UPDATE_CHANGED))
    }

    async fn refused(visit: &Visit<UpdateId>, form_data: FormData, failure: ApiError) -> Result<Response, PageError> {
        detail::render_page(visit, Some(Form::refused_if_bad(form_data, failure)?)).await
    }
}

impl Action for Delete {
    type Id = UpdateId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Delete)
    }

    async fn lock(&self, write: &mut Write<'_>, id: UpdateId) -> Result<(), ApiError> {
        updates::lock(write, id).await.map(drop)
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: UpdateId) -> Result<Facts, ApiError> {
        let update = read(org, id).await?;
        let revision = Revision::of(&UpdateView::of(&update))?;
        let facts = Facts::new(format!("Delete {}?", name(&update)), "Delete update", revision)
            .on("updates", path(id), "The update")
            .says(
                "Deletes the record and stops offering it. Its version and build number cannot be reused. This \
                   cannot be undone.",
            )
            .change("Status", update.status, "deleted")
            .known("Rollout", update.rollout)
            .known("Mandatory", yes_no(update.mandatory))
            .danger();
        health(about(facts, &update), org, &update).await
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: UpdateId) -> Result<Done, ApiError> {
        updates::delete(write, id).await?;
        Ok(Done::new("/updates", Notice::UPDATE_DELETED))
    }
}
