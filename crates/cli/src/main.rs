//! `launchway`, the command line: arguments → settings → command → printer.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod api_words;
mod args;
mod commands;
mod context;
mod developer_role;
mod environment;
mod failure;
mod interrupts;
mod login_file;
mod names;
mod narrow;
mod pack;
mod printer;
mod private_file;
mod sealing;
mod service;
mod settings;
mod size_limit;
mod source;
mod terminal;
mod trust;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, FromArgMatches};

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::interrupts::unless_interrupted;
use crate::printer::{Printer, failure_as_json, terminal_width};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // A runner starts this program again for each step of a build.
    #[cfg(unix)]
    if let Some(end) = launchway_runner::executor::step_entry(arguments.iter().cloned()) {
        return end;
    }
    let environment = Environment::of_this_process();
    let cli = match parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to standard output and succeeds; a mistake goes to standard error and exits with 2.
            let wants_json = arguments.iter().any(|argument| argument == "--json");
            match wants_json && error.use_stderr() {
                true => failure_as_json(&Failure::of_arguments(&error)),
                // A reader that closed the pipe needs no message.
                false => drop(error.print()),
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let printer = Printer::new(&cli.global, &environment);
    let handles_interrupts = cli.command.handles_interrupts();
    match block_on(run(cli, printer.clone(), environment), handles_interrupts) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            printer.failure(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// Parses the arguments. Whether to color an error about them must be known before they are parsed.
fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let plain = arguments.iter().any(|argument| argument == "--no-color");
    let color = if plain { ColorChoice::Never } else { ColorChoice::Auto };
    let command = Cli::command().color(color);
    let mut command = match terminal_width().filter(|width| *width < args::HELP_WIDTH) {
        Some(width) => args::fit_notes(command, width),
        None => command,
    };
    let matches = command.try_get_matches_from_mut(arguments);
    let matches = matches.map_err(|error| args::explain(error, &command, arguments))?;
    args::check(&matches, &mut command)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

async fn run(cli: Cli, printer: Printer, environment: Environment) -> Result<(), Failure> {
    match &cli.command {
        // Needs no settings, so that invalid ones do not break every new shell.
        Command::Completion { shell } => return commands::completion::run(*shell, &printer),
        Command::Man { directory } => return commands::man::run(directory, &printer),
        Command::Doctor(arguments) if arguments.command.is_none() => {
            return commands::doctor::run(arguments, &cli.global, printer, environment).await;
        }
        _ => {}
    }
    let context = Context::new(&cli.global, printer, environment)?;
    commands::run(cli.command, &context).await
}

/// Runs the command until it ends or, unless it handles interruptions itself, the user interrupts it.
fn block_on(command: impl Future<Output = Result<(), Failure>>, handles_interrupts: bool) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(format!("cannot start: {error}")))?;
    let outcome = runtime.block_on(async {
        if handles_interrupts {
            return command.await;
        }
        unless_interrupted(command).await
    });
    // A thread that still waits for the terminal or packs a directory must not delay the exit.
    runtime.shutdown_background();
    outcome
}
