//! The only module that prints: prose and progress to standard error, results to standard output
//! (`docs/reference/command-line.md#streams`).

pub mod fields;
pub mod log_lines;
mod page;
pub mod progress;
pub mod table;

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::{AutoStream, ColorChoice};
use console::Term;
#[cfg(unix)]
use tracing::Level;

use crate::args::Global;
use crate::environment::Environment;
use crate::failure::{Exit, Failure};
use crate::narrow;
use crate::printer::progress::Progress;
use crate::printer::table::Table;

const RED: &str = "\u{1b}[1;31m";
const YELLOW: &str = "\u{1b}[1;33m";
const BOLD: &str = "\u{1b}[1m";
const CYAN: &str = "\u{1b}[1;36m";
const PLAIN: &str = "\u{1b}[0m";

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Printer {
    json: bool,
    quiet: bool,
    error_color: ColorChoice,
    bars: bool,
    result_terminal: bool,
    width: Option<usize>,
    /// The note to print when an interruption comes.
    left: Arc<Mutex<&'static str>>,
}

impl Printer {
    /// Configures itself from the flags, the environment and the terminal.
    pub fn new(global: &Global, environment: &Environment) -> Self {
        let dumb = environment
            .text("TERM")
            .is_ok_and(|term| term.as_deref() == Some("dumb"));
        let plain = global.no_color || environment.has("NO_COLOR") || dumb;
        let error_terminal = io::stderr().is_terminal();
        let result_terminal = io::stdout().is_terminal();
        Self {
            json: global.json,
            quiet: global.quiet,
            error_color: if plain || !error_terminal {
                ColorChoice::Never
            } else {
                ColorChoice::Always
            },
            bars: error_terminal && !global.quiet && !dumb,
            result_terminal,
            width: terminal_width(),
            left: Arc::default(),
        }
    }

    /// Prints a note.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.say(&format!("{}\n", self.fitted(&clean(text))));
        }
    }

    /// Prints a warning.
    pub fn warn(&self, text: &str) {
        self.say(&format!("{YELLOW}warning:{PLAIN} {}\n", clean(text)));
    }

    /// Prints a line of a build's log, which [`log_lines::LogLines`] has sanitized.
    pub fn log_line(&self, line: &str) {
        match (self.quiet, log_lines::is_heading(line)) {
            (true, _) => {}
            (false, true) => self.say(&format!("{BOLD}{line}{PLAIN}\n")),
            (false, false) => self.say(&format!("{line}\n")),
        }
    }

    /// Whether results are printed as JSON.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Whether only results, warnings and errors are printed.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether results go to a terminal, which untrusted text must not control.
    pub fn shows_results_on_a_terminal(&self) -> bool {
        self.result_terminal
    }

    /// Starts writing the tracing events of this program to standard error.
    #[cfg(unix)]
    pub fn begin_log(&self) {
        let level = if self.quiet { Level::WARN } else { Level::INFO };
        let log = tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(level);
        let log = log.with_ansi(self.error_color == ColorChoice::Always);
        // A second call has no effect.
        let _ = match self.json {
            true => log.json().flatten_event(true).try_init(),
            false => log.with_target(false).try_init(),
        };
    }

    /// Sets the note to print when an interruption comes. Empty when there is nothing to report, or the command reports
    /// it itself.
    pub fn set_interrupt_note(&self, text: &'static str) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Prints why the command failed: with `--json` as an object, the last line of standard error.
    pub fn failure(&self, failure: &Failure) {
        let mut message = failure.message.clone();
        if failure.exit == Exit::Interrupted {
            let left = *self.left.lock().unwrap_or_else(PoisonError::into_inner);
            let colon = if left.is_empty() { "" } else { "; " };
            message = format!("{message}{colon}{left}");
        }
        if self.json {
            return failure_as_json(&failure.clone().message(message));
        }
        if failure.exit == Exit::Interrupted {
            // The terminal displays `^C` at the start of the line.
            return self.say(&format!("\n{message}\n"));
        }
        let mut text = format!("{RED}error:{PLAIN} {}\n", clean(&failure.message));
        if let Some(hint) = &failure.hint {
            let _ = writeln!(text, "{CYAN}hint:{PLAIN} {}", clean(hint));
        }
        self.say(&text);
    }

    /// Prints a result: `json` unchanged with `--json`, otherwise the text of `prose`, which ends its own lines.
    pub fn result(&self, json: &str, prose: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json {
            self.line(json.trim_end().as_bytes())
        } else {
            self.write(self.fitted(&prose()).as_bytes())
        }
    }

    /// Breaks values and commands that are wider than the terminal.
    fn fitted(&self, text: &str) -> String {
        match self.width {
            Some(width) => narrow::fit(text, width),
            None => text.to_owned(),
        }
    }

    /// Prints bytes unchanged, and ends the line.
    pub fn line(&self, bytes: &[u8]) -> Result<(), Failure> {
        self.write(bytes)?;
        if bytes.is_empty() || bytes.ends_with(b"\n") {
            Ok(())
        } else {
            self.write(b"\n")
        }
    }

    /// Prints bytes unchanged.
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        self.write(bytes)
    }

    /// Renders a table for the width of the terminal.
    pub fn table(&self, table: &Table) -> String {
        table.render(self.width)
    }

    /// Starts a progress bar, if there is a terminal to show it on.
    pub fn progress(&self, doing: &'static str, bytes: u64) -> Progress {
        Progress::begin(self.bars, doing, bytes)
    }

    fn say(&self, text: &str) {
        // A closed standard error cannot be reported anywhere.
        let _ = AutoStream::new(io::stderr().lock(), self.error_color).write_all(text.as_bytes());
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            // A reader that stops early, such as `head`, is not a failure.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(Failure::failed(format!("cannot write to standard output: {error}"))),
            Ok(()) => Ok(()),
        }
    }
}

/// Prints a failure as JSON, also one that happened before there were any settings.
pub fn failure_as_json(failure: &Failure) {
    // A closed standard error cannot be reported anywhere.
    let _ = writeln!(io::stderr().lock(), "{}", failure.json());
}

/// The columns of the terminal that results go to; `None` without one.
pub fn terminal_width() -> Option<usize> {
    let is_terminal = io::stdout().is_terminal();
    let size = is_terminal.then(|| Term::stdout().size_checked()).flatten();
    size.map(|size| size.1.into())
}

/// Removes control characters, because texts come from servers and files. Line breaks stay.
pub fn clean(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_control() || *letter == '\n')
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\rc\nd\u{9b}0me\u{7}"), "a[2Jbc\nd0me");
    }
}
