//! `submit`: submits an app to an app store and waits for it, or works on existing submissions.

mod change;
mod list;
mod logs;
mod show;
mod start;
mod target;
mod wait;

use crate::args::submit::{SubmitArgs, SubmitCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupts::unless_interrupted;
use launchway_domain::submission::RolloutState;

pub async fn run(arguments: SubmitArgs, context: &Context) -> Result<(), Failure> {
    match arguments {
        SubmitArgs {
            command: Some(command), ..
        } => run_command(command, context).await,
        SubmitArgs {
            platform: Some(platform),
            app,
            target,
            wait,
            ..
        } => start::run(platform, &app, &target, &wait, context).await,
        SubmitArgs { .. } => Err(Failure::usage("no platform or command specified")),
    }
}

async fn run_command(command: SubmitCommand, context: &Context) -> Result<(), Failure> {
    match command {
        SubmitCommand::Retry { submission, wait } => change::retry(&submission.id, &wait, context).await,
        SubmitCommand::List(arguments) => unless_interrupted(list::run(arguments, context)).await,
        SubmitCommand::Show(submission) => unless_interrupted(show::run(&submission.id, context)).await,
        SubmitCommand::Logs { submission, follow } => {
            unless_interrupted(logs::run(&submission.id, follow, context)).await
        }
        SubmitCommand::Rollout { submission, percent } => {
            unless_interrupted(change::rollout(&submission.id, percent, context)).await
        }
        SubmitCommand::Halt(submission) => {
            unless_interrupted(change::status(&submission.id, RolloutState::Halted, context)).await
        }
        SubmitCommand::Resume(submission) => {
            unless_interrupted(change::status(&submission.id, RolloutState::RollingOut, context)).await
        }
        SubmitCommand::Cancel(submission) => unless_interrupted(change::cancel(&submission.id, context)).await,
        SubmitCommand::Delete { submission, yes } => {
            unless_interrupted(change::delete(&submission.id, yes, context)).await
        }
    }
}
