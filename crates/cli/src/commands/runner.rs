//! `runner`: runs builds, or administers runners.

mod admin;
#[cfg(unix)]
mod enrollment;
#[cfg(unix)]
#[cfg(unix)]
mod work;

use crate::args::runner::{RunnerArgs, RunnerCommand};
use crate::context::Context;
use crate::failure::Failure;

pub async fn run(arguments: RunnerArgs, context: &Context) -> Result<(), Failure> {
    match arguments.command {
        Some(RunnerCommand::List(page)) => admin::list(page, context).await,
        Some(RunnerCommand::Revoke { id, yes }) => admin::revoke(&id, yes, context).await,
        Some(RunnerCommand::Token) => admin::token(context).await,
        #[cfg(unix)]
        None => work::run(arguments.work, context).await,
        #[cfg(not(unix))]
        None => Err(Failure::failed("runners work only on Linux and macOS")),
    }
}
