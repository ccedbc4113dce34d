//! The command line of `launchway-server`.

use clap::{Parser, Subcommand};
use launchway_config::RawSettings;

use crate::admin::AdminCommand;

/// The service that builds, submits and updates mobile apps
///
/// Without a command, it serves. Flags take precedence over the environment, and the environment over launchway-server.toml.
#[derive(Debug, Parser)]
#[command(name = "launchway-server", version, arg_required_else_help = false)]
pub struct Args {
    /// The command; `serve` if absent.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The settings.
    #[command(flatten)]
    pub settings: RawSettings,
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API, the dashboard and the checks (the default)
    Serve {
        /// Create an organization, an owner, a key and the sample app with an update, and print what to try
        #[arg(long)]
        demo: bool,
    },
    /// Check the settings, and try the database, the storage and the directories that they name, without changing them
    CheckConfig,
    /// Migrate the database and exit
    Migrate,
    /// Test the build sandbox, and report what builds can access on this machine and how to restrict it
    Doctor,
    /// Run an operator's command; a running server notices the change within a second
    Admin {
        /// The operator's command.
        #[command(subcommand)]
        command: AdminCommand,
        /// Print the result as one JSON object
        #[arg(long, global = true)]
        json: bool,
    },
    /// Print the OpenAPI document of the API
    Openapi,
    /// Simulate the App Store and Google Play, to try submissions; it has its own settings
    StoreSimulator,
}
