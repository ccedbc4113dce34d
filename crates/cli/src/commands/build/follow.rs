//! Follows a build to its end: prints its log as it arrives, what it waits for, and its result
//! (`docs/reference/command-line.md#waiting`).

use std::time::Duration;

use launchway_api::builds::BuildView;
use launchway_api::open;
use launchway_client::{Answer, BuildEvent, Client, Error};
use launchway_domain::build::{BuildErrorCode, BuildStatus};

use crate::args::start::FollowArgs;
use crate::commands::build::{artifacts, show};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::interrupts::{stopped, unless_interrupted};
use crate::printer::log_lines::LogLines;

/// As wide as `hint: `.
const HINT: &str = "      ";

/// Waits for a new build as the arguments request, and prints its result.
pub async fn wait(
    asked: Answer<BuildView>,
    arguments: &FollowArgs,
    client: &Client,
    context: &Context,
) -> Result<(), Failure> {
    let id = asked.value.id.clone();
    if arguments.no_wait {
        show::print(&asked, client, context).await?;
        context.note_page(client.base(), &id);
        context
            .printer
            .note(&format!("To follow it: launchway build logs -f {id}"));
        return Ok(());
    }
    context.printer.note(&format!("{id} is {}", asked.value.status));
    context.note_page(client.base(), &id);
    let ended = tokio::select! {
        biased;
        () = stopped() => return Err(interrupted(&id, arguments, client, context).await),
        () = elapse(arguments.timeout) => return Err(timeout_failure(&id, arguments)),
        ended = watch(&id, client, context) => ended?,
    };
    let build = &ended.value;
    let downloaded = match &arguments.download {
        Some(directory) if build.status == BuildStatus::Success => {
            let all = artifacts::download(build, &[], directory, client, context);
            unless_interrupted(all).await.map(drop)
        }
        _ => Ok(()),
    };
    show::print(&ended, client, context).await?;
    downloaded?;
    if build.status == BuildStatus::Success && arguments.download.is_none() && !build.artifacts.is_empty() {
        context
            .printer
            .note(&format!("To download it: launchway build download {id}"));
    }
    outcome(build)
}

/// Prints a build's log and state until the build is finished.
async fn watch(id: &str, client: &Client, context: &Context) -> Result<Answer<BuildView>, Failure> {
    let printer = &context.printer;
    let mut following = client.follow_build(id, 0);
    let mut lines = LogLines::default();
    let (mut waiting_for, mut status, mut attempt) = (None, open::BuildStatus::default(), 1);
    while let Some(event) = following.next().await.map_err(|error| follow_failure(id, error))? {
        match event {
            BuildEvent::Log(log) => lines.push(log.value.text.as_bytes(), |line| printer.log_line(line)),
            BuildEvent::Build(answer) => {
                let build = answer.value;
                if build.waiting_for.is_some() && build.waiting_for != waiting_for {
                    printer.note(build.waiting_for.as_deref().unwrap_or_default());
                }
                if build.attempt > attempt {
                    printer.note(&format!("Attempt {} starts", build.attempt));
                }
                if build.status == BuildStatus::Running && status != build.status {
                    let runner = build.runner.as_deref().unwrap_or("a runner");
                    printer.note(&format!("{id} runs on {runner}"));
                }
                (waiting_for, status, attempt) = (build.waiting_for, build.status, build.attempt);
            }
            BuildEvent::End(answer) => {
                lines.finish(|line| printer.log_line(line));
                return Ok(*answer);
            }
        }
    }
    Err(Failure::new(
        Exit::Server,
        format!("{id} ended, but the server did not report its status"),
    ))
}

/// The failure of a finished build, if it did not succeed.
pub fn outcome(build: &BuildView) -> Result<(), Failure> {
    let id = &build.id;
    match (build.status.known(), &build.error) {
        (Some(BuildStatus::Success), _) => Ok(()),
        (Some(BuildStatus::Canceled), _) => Err(Failure::new(Exit::Canceled, format!("{id} was canceled"))),
        (_, Some(error)) => {
            let exit = match error.code.known() {
                Some(BuildErrorCode::TimedOut | BuildErrorCode::Expired) => Exit::TimedOut,
                _ => Exit::AwaitedFailed,
            };
            let phase = error
                .phase
                .as_deref()
                .map(|phase| format!(" in '{phase}'"))
                .unwrap_or_default();
            let message = format!("{id} failed{phase} ({}): {}", error.code, error.message);
            let code = error.code.known();
            let hint = match code.is_some_and(BuildErrorCode::may_pass) {
                true => format!("to build it again: launchway build retry {id}"),
                false => format!("to see why: launchway build logs {id}"),
            };
            Err(Failure::new(exit, message).hint(hint))
        }
        (None, None) => {
            let message = format!(
                "{id} ended with the status {}, which this version does not know",
                build.status
            );
            Err(Failure::new(Exit::AwaitedFailed, message).hint("update launchway"))
        }
        (_, None) => Err(Failure::new(Exit::AwaitedFailed, format!("{id} failed"))),
    }
}

/// Reports, or cancels the build, when the user does not want to wait any longer.
async fn interrupted(id: &str, arguments: &FollowArgs, client: &Client, context: &Context) -> Failure {
    if !arguments.cancel_on_interrupt {
        return Failure::new(
            Exit::Interrupted,
            format!("interrupted; {id} continues\n{}", resume_hint(id, "")),
        );
    }
    match client.cancel_build(id).await {
        Ok(answer) if answer.value.cancel_requested => {
            Failure::new(Exit::Interrupted, format!("interrupted; {id} is being canceled"))
        }
        Ok(_) => Failure::new(Exit::Interrupted, format!("interrupted; {id} is canceled")),
        // The build may just have finished.
        Err(error) => {
            context.printer.warn(&format!("{id} was not canceled: {error}"));
            Failure::new(Exit::Interrupted, format!("interrupted\n{}", resume_hint(id, "")))
        }
    }
}

fn timeout_failure(id: &str, arguments: &FollowArgs) -> Failure {
    let seconds = arguments.timeout.unwrap_or_default().as_secs();
    Failure::new(
        Exit::TimedOut,
        format!("{id} did not end within {seconds} s, and continues"),
    )
    .hint(resume_hint(id, HINT))
}

fn follow_failure(id: &str, error: Error) -> Failure {
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Server => {
            let message = format!("{}; {id} continues", failure.message);
            Failure::new(Exit::Server, message).hint(resume_hint(id, HINT))
        }
        _ => failure,
    }
}

/// The second line begins with `margin`.
fn resume_hint(id: &str, margin: &str) -> String {
    format!("to follow it: launchway build logs -f {id}\n{margin}to cancel it: launchway build cancel {id}")
}

async fn elapse(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => tokio::time::sleep(timeout).await,
        None => std::future::pending().await,
    }
}
