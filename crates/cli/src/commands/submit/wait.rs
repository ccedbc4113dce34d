//! Waits for a submission: prints each event and the result. By default, it waits until the store has accepted and
//! processed the app (`docs/reference/command-line.md#waiting`).

use std::time::Duration;

use launchway_api::submissions::SubmissionView;
use launchway_client::{Answer, Client, Error};
use launchway_domain::submission::SubmissionStatus;

use crate::api_words::in_commands;
use crate::args::submit::{Until, WaitArgs};
use crate::commands::submit::show;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::interrupts::stopped;

/// Waits for a new submission as the arguments request, and prints its result.
pub async fn follow(
    asked: Answer<SubmissionView>,
    arguments: &WaitArgs,
    client: &Client,
    context: &Context,
) -> Result<(), Failure> {
    let id = asked.value.id.clone();
    if arguments.no_wait {
        show::print(&asked, client, context).await?;
        context.note_page(client.base(), &id);
        context
            .printer
            .note(&format!("To follow it: launchway submit logs -f {id}"));
        return Ok(());
    }
    context.printer.note(&format!("{id} is {}", asked.value.status));
    context.note_page(client.base(), &id);
    let there = tokio::select! {
        biased;
        () = stopped() => {
            let message = format!("interrupted; {id} continues\n{}", resume_hint(&id, ""));
            return Err(Failure::new(Exit::Interrupted, message));
        }
        () = elapse(arguments.timeout) => return Err(timeout_failure(&id, arguments)),
        there = watch(&id, arguments.wait, client, context) => there?,
    };
    show::print(&there, client, context).await?;
    outcome(&there.value)?;
    if !is_final(&there.value) {
        let note = match there.value.status.known() {
            Some(SubmissionStatus::InReview) => "The app is in the store's review",
            _ => "The rollout to users continues",
        };
        context
            .printer
            .note(&format!("{note}. To follow it: launchway submit logs -f {id}"));
    }
    Ok(())
}

/// Prints events until the submission has reached `until`.
async fn watch(id: &str, until: Until, client: &Client, context: &Context) -> Result<Answer<SubmissionView>, Failure> {
    let mut watching = client.watch_submission(id);
    let (mut shown, mut status) = (0, None);
    loop {
        let answer = watching.next().await.map_err(|error| follow_failure(id, error))?;
        let submission = &answer.value;
        let events = submission.events.iter().skip(shown);
        let mut said = false;
        for event in events {
            context.printer.note(&format!("{}: {}", event.status, event.message));
            said = true;
        }
        if !said && status.as_ref().is_some_and(|before| *before != submission.status) {
            context.printer.note(&format!("{id} is {}", submission.status));
        }
        shown = submission.events.len().max(shown);
        status = Some(submission.status.clone());
        if has_reached(submission, until) {
            return Ok(answer);
        }
    }
}

/// Whether the submission does not progress without a further request.
pub fn is_final(submission: &SubmissionView) -> bool {
    submission.status.known().is_some_and(SubmissionStatus::is_final)
}

fn has_reached(submission: &SubmissionView, until: Until) -> bool {
    use SubmissionStatus::{Halted, InReview, RollingOut};
    match submission.status.known() {
        Some(InReview) => until == Until::Processed,
        Some(RollingOut | Halted) => true,
        Some(other) => other.is_final(),
        // A state of a newer server.
        None => false,
    }
}

/// The failure of a submission, if it did not succeed.
pub fn outcome(submission: &SubmissionView) -> Result<(), Failure> {
    use SubmissionStatus::{Canceled, Failed, Rejected};
    let id = &submission.id;
    let status = submission.status.known();
    match (status, &submission.error) {
        (Some(Canceled), _) => Err(Failure::new(Exit::Canceled, format!("{id} was canceled"))),
        (Some(Failed | Rejected), Some(error)) => {
            let verb = if status == Some(Rejected) {
                "was rejected"
            } else {
                "failed"
            };
            let message = format!("{id} {verb} ({}): {}", error.code, error.message);
            let fix = in_commands(&error.fix);
            let hint = match error.retryable {
                true => format!("{fix}\n      then continue: launchway submit retry {id}"),
                false => fix,
            };
            Err(Failure::new(Exit::AwaitedFailed, message).hint(hint))
        }
        (Some(Failed), None) => Err(Failure::new(Exit::AwaitedFailed, format!("{id} failed"))),
        (Some(Rejected), None) => Err(
            Failure::new(Exit::AwaitedFailed, format!("{id} was rejected")).hint(format!(
                "reply to the store in its console, then continue: launchway submit retry {id}"
            )),
        ),
        _ => Ok(()),
    }
}

fn timeout_failure(id: &str, arguments: &WaitArgs) -> Failure {
    let seconds = arguments.timeout.unwrap_or_default().as_secs();
    let far = match arguments.wait {
        Until::Processed => "processed",
        Until::Live => "live",
    };
    let message = format!("{id} was not {far} within {seconds} s, and continues");
    Failure::new(Exit::TimedOut, message).hint(resume_hint(id, "      "))
}

fn follow_failure(id: &str, error: Error) -> Failure {
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Server => {
            let message = format!("{}; {id} continues", failure.message);
            Failure::new(Exit::Server, message).hint(resume_hint(id, "      "))
        }
        _ => failure,
    }
}

/// The second line begins with `margin`.
fn resume_hint(id: &str, margin: &str) -> String {
    format!("to follow it: launchway submit logs -f {id}\n{margin}to cancel it: launchway submit cancel {id}")
}

async fn elapse(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => tokio::time::sleep(timeout).await,
        None => std::future::pending().await,
    }
}
