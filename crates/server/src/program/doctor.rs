//! The command `doctor`: tries the sandbox in which this server would run builds, and prints what builds can access on
//! this machine.

use std::io::Write;

use launchway_config::Config;
use launchway_ops::api_error::ApiError;

use crate::command_error::CommandError;
use crate::embedded_runner;

/// Prints the finding of each step of the trial.
pub(super) async fn run(config: &Config) -> Result<(), CommandError> {
    let sandbox = embedded_runner::look(config).await;
    let sandbox = sandbox.map_err(|problem| ApiError::bad(format!("This server cannot run builds: {problem}")))?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", sandbox.sentence())?;
    if !sandbox.is_enough() {
        writeln!(
            out,
            "this server runs only builds of its first organization, until the most severe of these problems is fixed:"
        )?;
    }
    for opening in sandbox.openings() {
        match opening.remedy {
            Some(remedy) => writeln!(out, "warning  {}\n         → {remedy}", opening.what)?,
            None => writeln!(out, "open     {}", opening.what)?,
        }
    }
    Ok(())
}
