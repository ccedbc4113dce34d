//! `submit rollout`, `halt`, `resume`, `retry`, `cancel` and `delete`.

use launchway_api::submissions::ChangeSubmission;
use launchway_domain::submission::RolloutState;

use crate::args::submit::WaitArgs;
use crate::commands::submit::{show, wait};
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupts::unless_interrupted;

/// Halts a rollout, or has it go on.
pub async fn status(id: &str, status: RolloutState, context: &Context) -> Result<(), Failure> {
    let change = ChangeSubmission {
        status: Some(status.into()),
        rollout: None,
    };
    apply(id, &change, context).await
}

/// Sets the percent of the users who get it.
pub async fn rollout(id: &str, percent: u8, context: &Context) -> Result<(), Failure> {
    let change = ChangeSubmission {
        rollout: Some(percent.into()),
        status: None,
    };
    apply(id, &change, context).await
}

async fn apply(id: &str, change: &ChangeSubmission, context: &Context) -> Result<(), Failure> {
    let answer = context.client()?.change_submission(id, change).await?;
    context.printer.result(&answer.body, || show::prose(&answer.value))?;
    context.printer.note(&format!(
        "The store is told next; see how it goes: launchway submit logs -f {id}"
    ));
    Ok(())
}

/// Goes on where it stopped.
pub async fn retry(id: &str, arguments: &WaitArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let asked = async { Ok(client.retry_submission(id).await?) };
    let answer = unless_interrupted(asked).await?;
    wait::as_told(answer, arguments, &client, context).await
}

/// Stops a submission.
pub async fn cancel(id: &str, context: &Context) -> Result<(), Failure> {
    let answer = context.client()?.cancel_submission(id).await?;
    context.printer.result(&answer.body, || show::prose(&answer.value))?;
    if answer.value.cancel_requested {
        context.printer.note("It is canceled when the store has agreed.");
    }
    Ok(())
}

/// Stops a submission if it can be, and removes its record.
pub async fn delete(id: &str, yes: bool, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let question = format!("Delete {id}? What the store has of it stays there.");
    context.terminal.sure(&question, yes).await?;
    let answer = client.delete_submission(id).await?;
    context.printer.result(&answer.body, || {
        format!("{} is {}.\n", answer.value.id, answer.value.status)
    })
}
