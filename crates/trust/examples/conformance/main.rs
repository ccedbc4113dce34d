//! A client for the TUF conformance suite (its `CLIENT-CLI.md`): this crate's workflow, with what only the suite needs:
//! the standard layout of a repository, any delegations, any names of roles, SHA-512, and no check of app and repository.
//! `docs/reference/trust.md#conformance` says how to run it.
#![expect(
    clippy::print_stderr,
    reason = "a program of the terminal, which tells the suite's user what was refused"
)]

mod arguments;
mod artifact;
mod http;
mod metadata_dir;
mod search;
mod session;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use session::Session;

/// Whatever goes wrong ends the program with exit code 1 and this message.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(1)
        }
    }
}

fn run() -> Result<(), Failure> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    match &arguments.command {
        Command::Init { root } => {
            std::fs::create_dir_all(&arguments.metadata_dir)?;
            std::fs::copy(root, arguments.metadata_dir.join("root.json"))?;
            Ok(())
        }
        Command::Refresh => Session::open(&arguments)?.refresh(),
        Command::Download => {
            let mut session = Session::open(&arguments)?;
            session.refresh()?;
            let mut names = arguments.target_names.iter();
            names.try_for_each(|name| session.download(&arguments, name))
        }
    }
}
