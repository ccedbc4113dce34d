//! `submit logs`: the past events of a submission, or with `--follow` all events until it is finished.

use launchway_api::submissions::{SubmissionEvent, SubmissionView};
use serde_json::json;

use crate::commands::submit::wait::{is_final, outcome};
use crate::context::Context;
use crate::failure::Failure;

pub async fn run(id: &str, follow: bool, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    if !follow {
        return print(&client.submission(id).await?.value, 0, context).map(drop);
    }
    let mut watching = client.watch_submission(id);
    let mut shown = 0;
    loop {
        let answer = watching.next().await?;
        shown = print(&answer.value, shown, context)?;
        if is_final(&answer.value) {
            if context.printer.is_json() {
                let end = format!(
                    "{{\"event\":\"end\",\"data\":{}}}",
                    answer.body.replace(['\n', '\r'], " ")
                );
                context.printer.line(end.as_bytes())?;
            }
            return outcome(&answer.value);
        }
    }
}

/// Prints the events after those that are already printed; returns the number of printed events.
fn print(submission: &SubmissionView, shown: usize, context: &Context) -> Result<usize, Failure> {
    for event in submission.events.iter().skip(shown) {
        let line = match context.printer.is_json() {
            true => format!("{{\"event\":\"log\",\"data\":{}}}", json!(event)),
            false => prose(event),
        };
        context.printer.line(line.as_bytes())?;
    }
    Ok(submission.events.len().max(shown))
}

/// An event as a line of text.
fn prose(event: &SubmissionEvent) -> String {
    let line = format!("{}  {}: {}", event.at, event.status, event.message);
    crate::printer::clean(&line.replace('\n', " "))
}
