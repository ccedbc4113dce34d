//! `update pause`, `resume`, `withdraw`, `rollout` and `edit`: change a published update.

use launchway_api::updates::ChangeUpdate;
use launchway_domain::update::UpdateStatus;

use crate::args::update::{EditArgs, WithdrawArgs};
use crate::commands::text_or_file;
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

/// Withdraws an update after a confirmation, because nothing takes it back.
pub async fn withdraw(arguments: &WithdrawArgs, context: &Context) -> Result<(), Failure> {
    let id = &arguments.update.id;
    let client = context.client()?;
    let question = async || {
        let update = client.update(id).await?.value;
        let is_foreign = update.foreign_ids.as_ref().is_some_and(|ids| !ids.is_empty());
        let follows = match is_foreign {
            true => "phones with the client of another service leave it, others that have it keep it",
            false => "phones that have it keep it",
        };
        Ok(format!(
            "Withdraw {}? It stays withdrawn; {follows}.",
            show::named(&update)
        ))
    };
    context
        .terminal
        .require_confirmation_of(arguments.yes, question)
        .await?;
    status(id, UpdateStatus::Withdrawn, context).await
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

/// Changes what an update says about itself.
pub async fn edit(arguments: EditArgs, context: &Context) -> Result<(), Failure> {
    let change = ChangeUpdate {
        release_notes: arguments.release_notes.map(text_or_file).transpose()?,
        mandatory: arguments.mandatory,
        ..ChangeUpdate::default()
    };
    apply(&arguments.update.id, &change, context).await
}

async fn apply(id: &str, change: &ChangeUpdate, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = client.change_update(id, change).await?;
    show::print(&answer, &client, context).await
}
