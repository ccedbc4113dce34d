//! `update`: publishes, or works on published updates.

mod change;
mod lineage;
mod list;
mod promote;
pub mod publish;
mod revoke;
mod rollback;
mod show;
mod sign;
pub mod signing;
mod source;

use crate::args::update::{UpdateArgs, UpdateCommand};
use crate::context::Context;
use crate::failure::Failure;
use launchway_domain::update::UpdateStatus;

pub async fn run(arguments: UpdateArgs, context: &Context) -> Result<(), Failure> {
    match arguments {
        UpdateArgs {
            command: Some(command), ..
        } => run_command(command, context).await,
        UpdateArgs {
            publish: Some(publish), ..
        } => publish::run(publish, context).await,
        UpdateArgs { .. } => Err(Failure::usage("no platform or command specified")),
    }
}

async fn run_command(command: UpdateCommand, context: &Context) -> Result<(), Failure> {
    match command {
        UpdateCommand::List(arguments) => list::run(arguments, context).await,
        UpdateCommand::Show(update) => show::run(&update.id, context).await,
        UpdateCommand::Pause(update) => change::status(&update.id, UpdateStatus::Paused, context).await,
        UpdateCommand::Resume(update) => change::status(&update.id, UpdateStatus::Published, context).await,
        UpdateCommand::Withdraw(arguments) => change::withdraw(&arguments, context).await,
        UpdateCommand::Rollout { update, percent } => change::rollout(&update.id, percent, context).await,
        UpdateCommand::Edit(arguments) => change::edit(arguments, context).await,
        UpdateCommand::Promote(arguments) => promote::run(arguments, context).await,
        UpdateCommand::Rollback(arguments) => rollback::run(arguments, context).await,
        UpdateCommand::Sign(arguments) => sign::run(arguments, context).await,
        UpdateCommand::Revoke(arguments) => revoke::run(arguments, context).await,
    }
}

/// Points out that a rollout does not reach everybody.
fn note_on_rollout(percent: u8, context: &Context) {
    if percent < 100 {
        let note = format!("Rollout {percent}%: only apps that send a device id with their check can get it");
        context.printer.note(&note);
    }
}
