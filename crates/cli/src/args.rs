//! Command-line arguments, parsed into types (`docs/reference/command-line.md#commands`). This module checks values;
//! `settings` resolves a value that no argument sets.
#![expect(rustdoc::bare_urls, reason = "the command line shows these comments as its help")]

pub mod api;
pub mod app;
pub mod build;
pub mod credential;
pub mod env;
pub mod fingerprint;
pub mod key;
pub mod org;
pub mod project;
pub mod publish;
pub mod resource;
pub mod runner;
pub mod start;
pub mod submit;
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
use crate::args::env::EnvCommand;
use crate::args::fingerprint::{FingerprintArgs, NativeNeededArgs};
use crate::args::key::KeyCommand;
use crate::args::org::{AuditCommand, OrgCommand, UsageArgs};
use crate::args::project::{DoctorArgs, InitArgs};
use crate::args::runner::RunnerArgs;
use crate::args::submit::SubmitArgs;
use crate::args::update::UpdateArgs;
use crate::args::webhook::WebhookCommand;

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    failed
  2    wrong usage
  3    not found
  4    not logged in, or not allowed
  5    the update is incompatible with the newest build
  6    the server cannot be reached or failed
  10   a build from the store is needed (native-needed)
  11   the build or submission that was waited for failed
  12   it was canceled
  13   it took too long
  130  interrupted

Environment:
  LAUNCHWAY_API_KEY       the API key; wins over the saved login
  LAUNCHWAY_URL           the server, as --url
  LAUNCHWAY_ORG           the organization, as --org
  LAUNCHWAY_CONFIG        the project's settings, as --config
  LAUNCHWAY_RUNNER_TOKEN  what enrols a runner, once
  NO_COLOR                no colors
  CI                      no questions";

/// The command line of Launchway: builds mobile apps, submits them to the stores, publishes over-the-air updates of them
/// and steers who gets them.
#[derive(Debug, Parser)]
#[command(name = "launchway", version, after_help = EXIT_CODES, max_term_width = 100)]
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
    /// Organization to act in; the API key's own unless told
    #[arg(long, global = true, value_name = "ID")]
    pub org: Option<String>,
    /// Talk to the development server instead of production
    #[arg(long, global = true)]
    pub dev: bool,
    /// Settings of the project; launchway.toml here or above unless told
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but results, warnings and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Do not use colors
    #[arg(long, global = true)]
    pub no_color: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Sign in with a browser or an API key, and keep that for later commands
    Login(LoginArgs),
    /// Forget the saved API key
    Logout,
    /// Show who you are to the server
    Whoami,
    /// Write launchway.toml for the project in this directory
    Init(InitArgs),
    /// Find what is wrong with settings, server, key, project and tools
    #[command(after_help = project::DOCTOR_NOTES)]
    Doctor(DoctorArgs),
    /// Build an app, or look at and work on builds
    Build(Box<BuildArgs>),
    /// Submit an app to the App Store or Google Play, or look at and work on submissions
    Submit(Box<SubmitArgs>),
    /// Publish an over-the-air update, or look at and change published ones
    Update(Box<UpdateArgs>),
    /// Show what the project is natively: its fingerprint
    Fingerprint(FingerprintArgs),
    /// Tell whether a change needs a build from the store, or an update will do
    NativeNeeded(NativeNeededArgs),
    /// Run builds on this machine for a server, or look after the machines that do
    Runner(Box<RunnerArgs>),
    /// Look after apps: which bundle identifiers belong to the organization
    #[command(subcommand, after_help = app::EXAMPLES)]
    App(AppCommand),
    /// Look after the environment variables of builds
    #[command(subcommand, after_help = env::EXAMPLES)]
    Env(EnvCommand),
    /// Look after API keys
    #[command(subcommand, after_help = key::EXAMPLES)]
    Key(KeyCommand),
    /// Look after webhooks, and see what was delivered to them
    #[command(subcommand, after_help = webhook::EXAMPLES)]
    Webhook(WebhookCommand),
    /// Look after credentials for signing and for the stores
    #[command(subcommand, after_help = credential::EXAMPLES)]
    Credential(CredentialCommand),
    /// Look at organizations, and choose the one to act in
    #[command(subcommand, after_help = org::EXAMPLES)]
    Org(OrgCommand),
    /// See who did what in the organization
    #[command(subcommand, after_help = org::AUDIT_EXAMPLES)]
    Audit(AuditCommand),
    /// See what the organization used in a month, and what it may use
    Usage(UsageArgs),
    /// Call any endpoint of the API and print what it answers
    Api(ApiArgs),
    /// Print a script that completes commands in your shell
    Completion {
        /// Your shell
        shell: Shell,
    },
    /// Write a manual page for each command into a directory
    Man {
        /// Where to write them; it is made if need be
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
In a browser you see what is asked for and confirm it; the API key that is made so works for
90 days. A key can be pasted instead. It is never an argument, because arguments are kept in
histories and shown to other users. Where there is no terminal it is read from standard input:

  launchway login --url https://launchway.example.com < key.txt")]
pub struct LoginArgs {
    /// Read the API key from standard input, even on a terminal
    #[arg(long, conflicts_with = "browser")]
    pub with_key: bool,
    /// Sign in with a browser, here or on another device, without being asked
    #[arg(long)]
    pub browser: bool,
    /// What the key from a browser may do: build, submit, update; several with commas
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_values = Scope::GRANTABLE.map(Scope::as_str),
        value_parser = Scope::GRANTABLE.map(Scope::as_str))]
    pub scopes: Vec<String>,
}

/// The commands that do something by themselves and have commands below them, with what to say when both are asked.
const EITHER_OR: [(&str, &str); 4] = [
    (
        "update",
        "either publish an update or use one of the commands on published ones, not both",
    ),
    (
        "build",
        "either start a build or use one of the commands on builds, not both",
    ),
    (
        "submit",
        "either submit an app or use one of the commands on submissions, not both",
    ),
    (
        "runner",
        "either work as a runner or use one of the commands on runners, not both",
    ),
];

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
    let about_platform = matches!(about, Some(ContextValue::String(argument)) if argument == "<PLATFORM>");
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
