//! `completion`: a completion script for the user's shell.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::args::Cli;
use crate::failure::Failure;
use crate::printer::Printer;

pub fn run(shell: Shell, printer: &Printer) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "launchway", &mut script);
    printer.line(&script)
}
