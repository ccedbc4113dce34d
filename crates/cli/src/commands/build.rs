//! `build`: starts and follows a build, or works on existing builds.

mod artifacts;
mod change;
mod follow;
mod git_directory;
mod git_facts;
mod list;
#[cfg(unix)]
mod local;
mod logs;
mod plan;
mod show;
mod start;
mod wanted;

use crate::args::build::{BuildArgs, BuildCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupts::unless_interrupted;

pub async fn run(arguments: BuildArgs, context: &Context) -> Result<(), Failure> {
    match arguments {
        BuildArgs {
            command: Some(command), ..
        } => run_command(command, context).await,
        BuildArgs {
            platform: Some(platform),
            start,
            ..
        } => start::run(platform, start, context).await,
        BuildArgs { .. } => Err(Failure::usage("no platform or command specified")),
    }
}

async fn run_command(command: BuildCommand, context: &Context) -> Result<(), Failure> {
    match command {
        BuildCommand::Retry { build, follow } => change::retry(&build.id, &follow, context).await,
        BuildCommand::Logs(arguments) => logs::run(arguments, context).await,
        BuildCommand::List(arguments) => unless_interrupted(list::run(arguments, context)).await,
        BuildCommand::Show(build) => unless_interrupted(show::run(&build.id, context)).await,
        BuildCommand::Cancel(build) => unless_interrupted(change::cancel(&build.id, context)).await,
        BuildCommand::Delete { build, yes } => unless_interrupted(change::delete(&build.id, yes, context)).await,
        BuildCommand::Download(arguments) => unless_interrupted(artifacts::run(arguments, context)).await,
        BuildCommand::Plan(arguments) => unless_interrupted(plan::run(arguments, context)).await,
    }
}
