//! Command-line arguments, parsed into types (`docs/reference/command-line.md#commands`). This module checks values;
//! `settings` resolves a value that no argument sets.
#![expect(rustdoc::bare_urls, reason = "the command line shows these comments as its help")]

pub mod api;
pub mod app;
pub mod build;
pub mod credential;
pub mod deployment_key;
pub mod device;
pub mod env;
pub mod fingerprint;
pub mod import;
pub mod key;
pub mod org;
pub mod project;
pub mod publish;
pub mod resource;
pub mod runner;
pub mod start;
pub mod submit;
pub mod trust;
pub mod update;
pub mod webhook;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Parser, Subcommand};
use clap_complete::Shell;
use launchway_client::BaseUrl;
use launchway_domain::scope::Scope;

use crate::args::api::ApiArgs;
use crate::args::app::AppCommand;
use crate::args::build::BuildArgs;
use crate::args::credential::CredentialCommand;
use crate::args::deployment_key::DeploymentKeyCommand;
use crate::args::device::DeviceArgs;
use crate::args::env::EnvCommand;
use crate::args::fingerprint::{EmbedArgs, FingerprintArgs, NativeNeededArgs};
use crate::args::import::ImportArgs;
use crate::args::key::KeyCommand;
use crate::args::org::{AuditCommand, OrgCommand, UsageArgs};
use crate::args::project::{DoctorArgs, InitArgs};
use crate::args::runner::RunnerArgs;
use crate::args::submit::SubmitArgs;
use crate::args::trust::TrustCommand;
use crate::args::update::UpdateArgs;
use crate::args::webhook::WebhookCommand;
use crate::narrow::fit_prose;

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    failed
  2    wrong usage
  3    not found
  4    not logged in, or not allowed
  5    the update is incompatible with the newest build
  6    the server failed or cannot be reached
  10   a store build is needed (native-needed)
  11   the build or submission failed
  12   the build or submission was canceled
  13   the build or submission timed out
  130  interrupted

Environment:
  LAUNCHWAY_API_KEY       API key; overrides the saved login
  LAUNCHWAY_URL           address of the server, like --url
  LAUNCHWAY_ORG           organization, like --org
  LAUNCHWAY_CONFIG        settings file of the project, like --config
  LAUNCHWAY_RUNNER_TOKEN  one-time token that enrolls a runner
  LAUNCHWAY_SIGNING_KEY   private key that signs updates, in PEM or the path of its file
  LAUNCHWAY_KEY_PASSPHRASE  passphrase of private keys
  NO_COLOR                turns colors off
  CI                      turns prompts off";

/// The widest line of help.
pub const HELP_WIDTH: usize = 100;

/// The command line of Launchway: builds mobile apps, submits them to the app stores, and publishes over-the-air updates
/// to them.
#[derive(Debug, Parser)]
#[command(name = "launchway", version, after_help = EXIT_CODES, max_term_width = HELP_WIDTH)]
pub struct Cli {
    /// What applies to every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What applies to every command.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Address of the server, such as https://launchway.example.com
    #[arg(long, global = true, value_name = "URL")]
    pub url: Option<BaseUrl>,
    /// Organization to act in [default: the API key's organization]
    #[arg(long, global = true, value_name = "ID")]
    pub org: Option<String>,
    /// Use the development server instead of production
    #[arg(long, global = true)]
    pub dev: bool,
    /// Settings file of the project [default: launchway.toml here or in a parent directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only results, warnings and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Do not use colors
    #[arg(long, global = true)]
    pub no_color: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Sign in with a browser or an API key, and save the key for later commands
    Login(LoginArgs),
    /// Delete the saved API key
    Logout,
    /// Show the caller that the server sees
    Whoami,
    /// Write launchway.toml for the project in this directory
    Init(InitArgs),
    /// Check the settings, server, key, project and tools
    #[command(after_help = project::DOCTOR_NOTES)]
    Doctor(DoctorArgs),
    /// Build an app, or view and manage builds
    Build(Box<BuildArgs>),
    /// Submit an app to the App Store or Google Play, or view and manage submissions
    Submit(Box<SubmitArgs>),
    /// Publish an over-the-air update, or view and manage published updates
    Update(Box<UpdateArgs>),
    /// Manage signed updates: the keys of an app, and the metadata that phones verify
    #[command(subcommand, after_help = trust::EXAMPLES)]
    Trust(Box<TrustCommand>),
    /// Show the fingerprint of the project's native code
    Fingerprint(FingerprintArgs),
    /// Write the fingerprint and the root of signed updates into the native project
    #[command(after_help = fingerprint::EMBED_NOTES)]
    Embed(EmbedArgs),
    /// Check whether a change needs a store build, or can be an update
    NativeNeeded(NativeNeededArgs),
    /// Run builds on this machine for a server, or manage runners
    Runner(Box<RunnerArgs>),
    /// Run the client of phones in a directory, to try updates from the terminal
    Device(Box<DeviceArgs>),
    /// Manage apps: the bundle identifiers of the organization
    #[command(subcommand, after_help = app::EXAMPLES)]
    App(AppCommand),
    /// Manage the deployment keys by which apps with CodePush's client find their updates
    #[command(subcommand, after_help = deployment_key::EXAMPLES)]
    DeploymentKey(DeploymentKeyCommand),
    /// Take over the live releases of an app from CodePush, Expo Updates, Capgo or hot-updater
    Import(Box<ImportArgs>),
    /// Manage the environment variables of builds
    #[command(subcommand, after_help = env::EXAMPLES)]
    Env(EnvCommand),
    /// Manage API keys
    #[command(subcommand, after_help = key::EXAMPLES)]
    Key(KeyCommand),
    /// Manage webhooks, and view their deliveries
    #[command(subcommand, after_help = webhook::EXAMPLES)]
    Webhook(WebhookCommand),
    /// Manage credentials for signing and for the app stores
    #[command(subcommand, after_help = credential::EXAMPLES)]
    Credential(CredentialCommand),
    /// View organizations, and choose the one to act in
    #[command(subcommand, after_help = org::EXAMPLES)]
    Org(OrgCommand),
    /// Show the audit log of the organization
    #[command(subcommand, after_help = org::AUDIT_EXAMPLES)]
    Audit(AuditCommand),
    /// Show the organization's usage in a month, and its quotas
    Usage(UsageArgs),
    /// Call any endpoint of the API and print the response
    Api(ApiArgs),
    /// Print a completion script for your shell
    Completion {
        /// Your shell
        shell: Shell,
    },
    /// Write a manual page for each command into a directory
    Man {
        /// Directory to write them to; created if it does not exist
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

impl Command {
    /// Whether the command itself handles interruptions, to end in order.
    pub fn handles_interrupts(&self) -> bool {
        match self {
            Command::Runner(runner) => runner.command.is_none(),
            Command::Build(_) | Command::Submit(_) => true,
            _ => false,
        }
    }
}

/// The arguments of `login`.
#[derive(Args, Debug)]
#[command(after_help = "\
In a browser you review the request and confirm it; the API key that this creates is valid for
90 days. With --admin it also manages credentials, environment variables, webhooks, keys and
members, as far as your own role does, and is valid for 8 hours.

You can paste a key instead. A key is never an argument, because shells save arguments
and other users can see them. Without a terminal, it is read from standard input:

  launchway login --url https://launchway.example.com < key.txt")]
pub struct LoginArgs {
    /// Read the API key from standard input, even on a terminal
    #[arg(long, conflicts_with = "browser")]
    pub with_key: bool,
    /// Sign in with a browser, here or on another device, without a prompt
    #[arg(long)]
    pub browser: bool,
    /// Sign in with a browser for a key with the scope admin too, if you are an owner or admin
    #[arg(long, conflicts_with = "with_key")]
    pub admin: bool,
    /// Scopes of the key created in a browser: build, submit, update; comma-separated
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_values = Scope::GRANTABLE.map(Scope::as_str),
        value_parser = Scope::GRANTABLE.map(Scope::as_str))]
    pub scopes: Vec<String>,
}

/// The commands that do something by themselves and have commands below them, with what to say when both are asked.
const EITHER_OR: [(&str, &str); 4] = [
    (
        "update",
        "publish an update or use one of the commands on published updates, not both",
    ),
    ("build", "start a build or use one of the commands on builds, not both"),
    (
        "submit",
        "submit an app or use one of the commands on submissions, not both",
    ),
    (
        "runner",
        "work as a runner or use one of the commands on runners, not both",
    ),
];

/// Breaks the notes and examples below the help of all commands for a terminal of this width. The parser would break
/// them without their columns, and commands in the middle.
pub fn fit_notes(command: clap::Command, width: usize) -> clap::Command {
    let notes = command.get_after_help().map(ToString::to_string);
    let command = match notes {
        Some(notes) => command.after_help(fit_prose(&notes, width)),
        None => command,
    };
    command.mut_subcommands(|below| fit_notes(below, width))
}

/// Rejects a subcommand together with arguments of its parent, which the parser accepts.
pub fn check(matches: &ArgMatches, command: &mut clap::Command) -> Result<(), clap::Error> {
    for (name, message) in EITHER_OR {
        let Some(given) = matches
            .subcommand_matches(name)
            .filter(|given| given.subcommand().is_some())
        else {
            continue;
        };
        let own = command
            .find_subcommand_mut(name)
            .expect("the command that was just parsed exists");
        let is_told = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
        // Global options may appear anywhere.
        let both = own
            .get_arguments()
            .any(|argument| !argument.is_global_set() && is_told(argument.get_id().as_str()));
        if both {
            return Err(own.error(ErrorKind::ArgumentConflict, message));
        }
    }
    Ok(())
}

/// Adds a hint to an error about `update WORD`, `build WORD` or `submit WORD`: the word may be a mistyped subcommand, but
/// the parser only knows that it is not a platform.
pub fn explain(mut error: clap::Error, command: &clap::Command, arguments: &[OsString]) -> clap::Error {
    let about = error.get(ContextKind::InvalidArg);
    let about_platform =
        matches!(about, Some(ContextValue::String(argument)) if argument == "<PLATFORM>" || argument == "[PLATFORM]");
    if error.kind() != ErrorKind::InvalidValue || !about_platform {
        return error;
    }
    let first = arguments.iter().find_map(|word| match word.to_str() {
        Some("build") => Some(("build", "builds")),
        Some("submit") => Some(("submit", "submissions")),
        Some("update") => Some(("update", "published updates")),
        _ => None,
    });
    let Some((name, on)) = first else { return error };
    if let Some(command) = command.find_subcommand(name) {
        let names: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
        let tip = format!("commands on {on}: {}", names.join(", "));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}
