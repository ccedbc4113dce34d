//! The arguments of `env`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;

use crate::args::publish::platforms;
use crate::args::resource::PageArgs;

/// What follows the help of `env`.
pub const EXAMPLES: &str = "\
Examples:
  launchway env set SENTRY_AUTH_TOKEN
  launchway env set API_URL https://api.example.com --plain --configuration production
  launchway env set SENTRY_AUTH_TOKEN < token.txt
  launchway env set GOOGLE_SERVICES --file services.json --path android/app/google-services.json
  launchway env import .env.production --configuration production

A secret value is never an argument: shells save arguments, and other users can see them.";

/// The commands on environment variables.
#[derive(Debug, Subcommand)]
pub enum EnvCommand {
    /// List the environment variables of builds, newest first
    List(PageArgs),
    /// Create a variable, or replace the one with the same name and scope
    Set(SetArgs),
    /// Set every variable of a .env file
    Import(ImportArgs),
    /// Delete a variable
    Delete {
        /// Name of the variable, or its id if several have the name
        #[arg(value_name = "NAME|ID")]
        name: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

/// The arguments of `env set`.
#[derive(Args, Debug)]
pub struct SetArgs {
    /// Name of the variable
    #[arg(value_name = "NAME")]
    pub name: String,
    /// @FILE reads the value from a file, - from standard input; the value itself requires --plain. Without VALUE, the
    /// value is prompted for, or read from a pipe. One line break at the end is removed
    #[arg(value_name = "VALUE", conflicts_with = "file")]
    pub value: Option<String>,
    /// File that builds find at --path; the variable holds its path
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Path of the file in the build, relative to the project [default: the path of --file]
    #[arg(long, value_name = "PATH", requires = "file")]
    pub path: Option<String>,
    /// Who sees it and which builds get it.
    #[command(flatten)]
    pub scope: ScopeArgs,
}

/// The arguments of `env import`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each line is NAME=VALUE, with or without a leading `export`. Values may be quoted; # starts a comment.")]
pub struct ImportArgs {
    /// The .env file, or - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Who sees them and which builds get them.
    #[command(flatten)]
    pub scope: ScopeArgs,
}

/// Who sees a variable, and which builds get it.
#[derive(Args, Debug)]
pub struct ScopeArgs {
    /// Let admins read the value later, instead of keeping it secret
    #[arg(long)]
    pub plain: bool,
    /// Only for builds of this app
    #[arg(long, value_name = "ID", help_heading = "Which builds get it")]
    pub bundle_id: Option<BundleId>,
    /// Only for builds of this configuration; can be repeated
    #[arg(long = "configuration", value_name = "NAME", help_heading = "Which builds get it")]
    pub configurations: Vec<Configuration>,
    /// Only for builds for this platform; can be repeated
    #[arg(long = "platform", value_name = "PLATFORM", value_parser = platforms(), help_heading = "Which builds get it")]
    pub platforms: Vec<Platform>,
}
