//! `build cancel`, `retry` and `delete`.

use crate::args::start::FollowArgs;
use crate::commands::build::{follow, show};
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupts::unless_interrupted;

pub async fn cancel(id: &str, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = client.cancel_build(id).await?;
    show::print(&answer, &client, context).await?;
    if answer.value.cancel_requested {
        context.printer.note("Its runner stops it within a few seconds");
    }
    Ok(())
}

/// Starts a build with the same input.
pub async fn retry(id: &str, arguments: &FollowArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let asked = async { Ok(client.retry_build(id).await?) };
    let answer = unless_interrupted(asked).await?;
    follow::wait(answer, arguments, &client, context).await
}

/// Deletes a build with its log and artifacts.
pub async fn delete(id: &str, yes: bool, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let question = async || {
        let build = client.build(id).await?.value;
        let (app, platform) = (build.bundle_id, build.platform);
        Ok(format!(
            "Delete {id}, a build of {app} for {platform}, with its log and artifacts?"
        ))
    };
    context.terminal.require_confirmation_of(yes, question).await?;
    let answer = client.delete_build(id).await?;
    context.printer.result(&answer.body, || {
        format!("{} is {}.\n", answer.value.id, answer.value.status)
    })
}
