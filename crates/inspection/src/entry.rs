//! The hidden command with which this program inspects: restricts itself, works, prints the answer, exits.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;

use super::confine::{Bounds, give_up_everything};
use super::work::{answer, standard_input};
use super::{COMMAND, Task, batch, more_seconds, trial};

/// The hidden command with which this program inspects. `main` calls it first, with its arguments, and exits with the
/// code that it returns, if any.
pub fn entry(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != COMMAND {
        return None;
    }
    let task = arguments
        .next()
        .and_then(|task| serde_json::from_str(task.to_str()?).ok());
    Some(task.map_or(ExitCode::FAILURE, run))
}

/// Runs a task. If it cannot begin, it prints the reason to standard error and fails.
fn run(task: Task) -> ExitCode {
    // Without the message, which could quote the file.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(io::stderr(), "panicked at {place}");
    }));
    let done = match task {
        Task::Batch => batch::run(),
        Task::Trial(trial) => trial::run(trial),
        task => one(&task),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "{problem}");
            ExitCode::FAILURE
        }
    }
}

fn one(task: &Task) -> Result<(), String> {
    let input = standard_input()?;
    let more = match task {
        Task::Package(limits, _) | Task::Export(limits, _) => more_seconds(limits),
        _ => 0,
    };
    give_up_everything(&input, Bounds::ONE.with_seconds(more))?;
    let answer = answer(task, File::from(input));
    io::stdout().write_all(&answer).map_err(|error| error.to_string())
}
