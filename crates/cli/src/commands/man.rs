//! `man`: writes a manual page for each command.

use std::path::Path;

use clap::CommandFactory;
use serde_json::json;

use crate::args::Cli;
use crate::failure::Failure;
use crate::printer::Printer;

pub fn run(directory: &Path, printer: &Printer) -> Result<(), Failure> {
    let shown = directory.display();
    let unwritable = |error| Failure::failed(format!("{shown} cannot be written: {error}"));
    std::fs::create_dir_all(directory).map_err(unwritable)?;
    clap_mangen::generate_to(Cli::command(), directory).map_err(unwritable)?;
    let summary = json!({ "path": shown.to_string() });
    printer.result(&summary.to_string(), || format!("{shown}\n"))?;
    printer.note(&format!("Read one of them with: man -l {shown}/launchway.1"));
    Ok(())
}
