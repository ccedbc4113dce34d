//! `submit rollout`, `halt`, `resume`, `retry`, `cancel` and `delete`.

use launchway_api::submissions::ChangeSubmission;
use launchway_domain::submission::RolloutState;

use crate::args::submit::WaitArgs;
use crate::commands::submit::{show, wait};
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupts::unless_interrupted;

/// Halts or resumes a rollout.
pub async fn status(id: &str, status: RolloutState, context: &Context) -> Result<(), Failure> {
    let change = ChangeSubmission {
        status: Some(status.into()),
        rollout: None,
    };
    apply(id, &change, context).await
}

/// Sets the percentage of users who receive the release.
pub async fn rollout(id: &str, percent: u8, context: &Context) -> Result<(), Failure> {
    let change = ChangeSubmission {
        rollout: Some(percent.into()),
        status: None,
    };
    apply(id, &change, context).await
}

async fn apply(id: &str, change: &ChangeSubmission, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = client.change_submission(id, change).await?;
    show::print(&answer, &client, context).await?;
    context.printer.note(&format!(
        "The change is sent to the store. To follow it: launchway submit logs -f {id}"
    ));
    Ok(())
}

/// Continues a failed submission from where it stopped.
pub async fn retry(id: &str, arguments: &WaitArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let asked = async { Ok(client.retry_submission(id).await?) };
    let answer = unless_interrupted(asked).await?;
    wait::follow(answer, arguments, &client, context).await
}

pub async fn cancel(id: &str, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = client.cancel_submission(id).await?;
    show::print(&answer, &client, context).await?;
    if answer.value.cancel_requested {
        context.printer.note("It is canceled when the store confirms it");
    }
    Ok(())
}

/// Cancels a submission if possible, and deletes its record.
pub async fn delete(id: &str, yes: bool, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let question = async || {
        let submission = client.submission(id).await?.value;
        let (app, destination) = (submission.bundle_id, submission.destination);
        Ok(format!(
            "Delete {id}, the submission of {app} to {destination}? Its data in the store stays there."
        ))
    };
    context.terminal.require_confirmation_of(yes, question).await?;
    let answer = client.delete_submission(id).await?;
    context.printer.result(&answer.body, || {
        format!("{} is {}.\n", answer.value.id, answer.value.status)
    })
}
