//! `update pause`, `resume`, `withdraw` and `rollout`: change which devices are offered a published update.

use launchway_api::updates::ChangeUpdate;
use launchway_domain::update::UpdateStatus;

use crate::commands::update::{note_on_rollout, show};
use crate::context::Context;
use crate::failure::Failure;

/// Sets the status of an update.
pub async fn status(id: &str, status: UpdateStatus, context: &Context) -> Result<(), Failure> {
    let change = ChangeUpdate {
        status: Some(status.into()),
        ..ChangeUpdate::default()
    };
    apply(id, &change, context).await
}

/// Sets the percentage of devices that are offered an update.
pub async fn rollout(id: &str, percent: u8, context: &Context) -> Result<(), Failure> {
    let change = ChangeUpdate {
        rollout: Some(percent.into()),
        ..ChangeUpdate::default()
    };
    apply(id, &change, context).await?;
    note_on_rollout(percent, context);
    Ok(())
}

async fn apply(id: &str, change: &ChangeUpdate, context: &Context) -> Result<(), Failure> {
    let answer = context.client()?.change_update(id, change).await?;
    context.printer.result(&answer.body, || show::prose(&answer.value))
}
