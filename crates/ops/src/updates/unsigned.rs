//! Ends the wait of updates that nobody signed (`docs/reference/trust.md#waiting-for-a-signature`).

use launchway_api::updates::UpdateView;
use launchway_domain::id::UpdateId;
use launchway_domain::update::{Update, UpdateStatus};

use super::lock;
use crate::api_error::ApiError;
use crate::trust::drafts;
use crate::write::Write;

/// Withdraws an update that awaits its signature; returns false if it no longer does.
pub async fn withdraw(write: &mut Write<'_>, id: UpdateId) -> Result<bool, ApiError> {
    let before = match lock(write, id).await {
        // Deleted, or moved to another organization.
        Err(ApiError::NoSuch(_)) => return Ok(false),
        found => found?,
    };
    if !write.org().withdraw_awaiting_update(id).await? {
        return Ok(false);
    }
    let after = Update {
        status: UpdateStatus::Withdrawn,
        ..before.clone()
    };
    let (old, new) = (UpdateView::of(&before), UpdateView::of(&after));
    write.audit("update.withdraw", id, Some(&old), Some(&new)).await?;
    drafts::forget(write, &after).await?;
    write.event("update.withdrawn", &new).await?;
    Ok(true)
}
