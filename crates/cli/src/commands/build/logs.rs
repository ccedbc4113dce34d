//! `build logs`: the present log of a build, or with `--follow` the log until the build is finished.

use launchway_client::{BuildEvent, Client};

use crate::args::build::LogsArgs;
use crate::commands::build::follow::outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupts::unless_interrupted;
use crate::printer::log_lines::LogLines;

pub async fn run(arguments: LogsArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let (id, offset) = (arguments.build.id.as_str(), arguments.offset);
    match arguments.follow {
        true => unless_interrupted(follow(id, offset, &client, context)).await,
        false => unless_interrupted(print(id, offset, &client, context)).await,
    }
}

async fn print(id: &str, offset: u64, client: &Client, context: &Context) -> Result<(), Failure> {
    let mut log = client.build_log(id, offset);
    let mut shown = LogOutput::new(context);
    while let Some(part) = log.next().await? {
        shown.part(&part)?;
    }
    shown.finish()
}

async fn follow(id: &str, offset: u64, client: &Client, context: &Context) -> Result<(), Failure> {
    let mut following = client.follow_build(id, offset);
    let mut shown = LogOutput::new(context);
    let as_json = context.printer.is_json();
    while let Some(event) = following.next().await? {
        if as_json {
            let (name, body) = match &event {
                BuildEvent::Log(answer) => ("log", &answer.body),
                BuildEvent::Build(answer) => ("build", &answer.body),
                BuildEvent::End(answer) => ("end", &answer.body),
            };
            context.printer.line(line(name, body).as_bytes())?;
        } else if let BuildEvent::Log(answer) = &event {
            shown.part(answer.value.text.as_bytes())?;
        }
        if let BuildEvent::End(answer) = event {
            shown.finish()?;
            return outcome(&answer.value);
        }
    }
    Ok(())
}

/// An event as a line of JSON, in the server's own words. JSON escapes line breaks in strings.
fn line(event: &str, body: &str) -> String {
    format!("{{\"event\":\"{event}\",\"data\":{}}}", body.replace(['\n', '\r'], " "))
}

/// Writes a log to standard output: line by line and sanitized for a terminal, unchanged elsewhere.
struct LogOutput<'c> {
    context: &'c Context,
    lines: Option<LogLines>,
}

impl<'c> LogOutput<'c> {
    fn new(context: &'c Context) -> Self {
        let lines = context.printer.shows_results_on_a_terminal().then(LogLines::default);
        Self { context, lines }
    }

    fn part(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(lines) = &mut self.lines else {
            return self.context.printer.bytes(bytes);
        };
        let mut text = String::new();
        lines.push(bytes, |line| {
            text.push_str(line);
            text.push('\n');
        });
        self.context.printer.bytes(text.as_bytes())
    }

    fn finish(self) -> Result<(), Failure> {
        let mut text = String::new();
        if let Some(lines) = self.lines {
            lines.finish(|line| {
                text.push_str(line);
                text.push('\n');
            });
        }
        self.context.printer.bytes(text.as_bytes())
    }
}
