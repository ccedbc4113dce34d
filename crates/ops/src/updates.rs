//! Changes and deletes over-the-air updates.

pub mod expo;
pub mod expo_signed;
pub mod listing;
mod naming;
pub mod publish;
pub mod release;
pub mod release_error;
pub mod request;
pub mod unsigned;

use launchway_api::open;
use launchway_api::updates::{ChangeUpdate, UpdateView};
use launchway_domain::id::UpdateId;
use launchway_domain::rollout::Rollout;
use launchway_domain::update::{Update, UpdateStatus};
use launchway_store::UpdateChange;

use crate::api_error::ApiError;
use crate::apps;
use crate::trust::drafts;
use crate::write::{NOTHING, Write};

/// A validated change of an update. `None` keeps a value.
#[derive(Clone, Debug)]
pub struct ChangePlan {
    status: Option<UpdateStatus>,
    rollout: Option<Rollout>,
    mandatory: Option<bool>,
    release_notes: Option<String>,
}

/// Validates a request for a change.
pub fn plan(request: &ChangeUpdate) -> Result<ChangePlan, ApiError> {
    let status = request.status.as_ref().map(open::UpdateStatus::checked).transpose();
    Ok(ChangePlan {
        status: status.map_err(|unknown| ApiError::bad(unknown.to_string()))?,
        rollout: request.rollout.map(publish::rollout).transpose()?,
        mandatory: request.mandatory,
        release_notes: request
            .release_notes
            .as_deref()
            .map(publish::release_notes)
            .transpose()?,
    })
}

/// Changes an update. A change without effect leaves no trace.
pub async fn change(write: &mut Write<'_>, id: UpdateId, plan: ChangePlan) -> Result<Update, ApiError> {
    let before = lock(write, id).await?;
    let after = apply(&before, plan)?;
    let (old, new) = (UpdateView::of(&before), UpdateView::of(&after));
    if old == new {
        return Ok(after);
    }
    let change = UpdateChange {
        status: after.status,
        rollout: after.rollout,
        mandatory: after.mandatory,
        release_notes: after.release_notes.clone(),
    };
    write.org().change_update(id, &change).await?;
    let withdrawn = after.status == UpdateStatus::Withdrawn && before.status != after.status;
    if withdrawn {
        expo::withdrawn(write, &after).await?;
    }
    let (action, event) = match withdrawn {
        true => ("update.withdraw", "update.withdrawn"),
        false => ("update.change", "update.changed"),
    };
    write.audit(action, id, Some(&old), Some(&new)).await?;
    write.event(event, &new).await?;
    Ok(after)
}

/// The update after a change.
pub fn apply(before: &Update, plan: ChangePlan) -> Result<Update, ApiError> {
    let status = plan.status.unwrap_or(before.status);
    if before.status == UpdateStatus::AwaitingSignature {
        return Err(ApiError::bad(
            "An update that awaits its signature cannot be changed. Sign it with launchway update sign, or delete it.",
        ));
    }
    if status == UpdateStatus::AwaitingSignature {
        return Err(ApiError::bad("status must be published, paused or withdrawn"));
    }
    if !before.status.may_become(status) {
        return Err(ApiError::bad(
            "A withdrawn update stays withdrawn. Publish its bytes again with sourceUpdateId.",
        ));
    }
    Ok(Update {
        status,
        rollout: plan.rollout.unwrap_or(before.rollout),
        mandatory: plan.mandatory.unwrap_or(before.mandatory),
        release_notes: plan.release_notes.unwrap_or_else(|| before.release_notes.clone()),
        ..before.clone()
    })
}

/// Deletes an update. Its identity remains taken.
pub async fn delete(write: &mut Write<'_>, id: UpdateId) -> Result<(), ApiError> {
    let update = lock(write, id).await?;
    let now = write.now();
    write.org().delete_update(&update, now).await?;
    let view = UpdateView::of(&update);
    write.audit("update.delete", id, Some(&view), NOTHING).await?;
    if update.status == UpdateStatus::AwaitingSignature {
        drafts::forget(write, &update).await?;
    }
    if update.status != UpdateStatus::Withdrawn {
        expo::withdrawn(write, &update).await?;
        write.event("update.withdrawn", &view).await?;
    }
    Ok(())
}

/// The update, with the bundle's updates locked until this change ends.
pub async fn lock(write: &mut Write<'_>, id: UpdateId) -> Result<Update, ApiError> {
    let none = || ApiError::NoSuch("update");
    let seen = write.org().update(id).await?.ok_or_else(none)?;
    write.touch_updates(&apps::bundle_id(&seen.bundle_id)?).await?;
    write.org().update(id).await?.ok_or_else(none)
}
