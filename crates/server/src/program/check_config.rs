//! The command `check-config`: with the settings that `serve` would have, tries what they name, and leaves nothing behind
//! (`docs/reference/operation.md#checking-settings`). Every problem is reported, not only the first.

mod addresses;
mod database;
mod findings;
mod folders;
mod storage;

use std::io::Write;

use launchway_config::{Config, unknown_variables};

use crate::command_error::CommandError;
use findings::{Finding, Level};

/// Prints what was found, and fails if the server could not start or work.
pub(super) async fn run(config: &Config) -> Result<(), CommandError> {
    let mut findings = vec![settings(config)];
    findings.extend(unknown_variables().into_iter().map(|name| {
        Finding::warning(
            "settings",
            format!("{name} is not a setting and has no effect"),
            "compare it with `launchway-server --help`",
        )
    }));
    findings.extend(folders::look(config));
    findings.extend(database::look(config).await);
    findings.extend(storage::look(config).await);
    findings.extend(addresses::look(config));
    let mut out = std::io::stdout().lock();
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    if findings.iter().any(|finding| finding.level == Level::Error) {
        return Err(CommandError::Unfit);
    }
    writeln!(out, "\nThe server can start with these settings")?;
    Ok(())
}

/// Where the settings come from. That they are valid is known when they are loaded.
fn settings(config: &Config) -> Finding {
    let file = &config.settings_file;
    let text = match file.exists() {
        true => format!("valid; from {}, the environment and the command line", file.display()),
        false => "valid; from the environment and the command line alone".to_owned(),
    };
    Finding::ok("settings", text)
}
