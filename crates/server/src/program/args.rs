//! The command line of `launchway-server`.

use clap::{Parser, Subcommand};
use launchway_config::RawSettings;

use crate::admin::AdminCommand;

/// The service that builds, submits and updates mobile apps.
///
/// Without a command it serves. Settings come from flags, then the environment, then launchway-server.toml.
#[derive(Debug, Parser)]
#[command(name = "launchway-server", version, arg_required_else_help = false)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The settings.
    #[command(flatten)]
    pub settings: RawSettings,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API, the pages and the checks (the default)
    Serve {
        /// Make an organization, an owner, a key and the sample app with an update, and print what to try
        #[arg(long)]
        demo: bool,
    },
    /// Bring the database up to date and end
    Migrate,
    /// Try the sandbox for builds, and say what is open to them on this machine and what would close it
    Doctor,
    /// The operator's commands; they work while the server runs, which notices within a second
    Admin {
        /// Which one.
        #[command(subcommand)]
        command: AdminCommand,
        /// Print one JSON object
        #[arg(long, global = true)]
        json: bool,
    },
    /// Print the OpenAPI document of the API
    Openapi,
    /// Stand in for the App Store and Google Play, to try submissions on; it has settings of its own
    StoreSimulator,
}
