//! The arguments of `init` and `doctor`, which work on the local project.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use launchway_domain::bundle_id::BundleId;

/// The arguments of `init`.
#[derive(Args, Debug)]
#[command(after_help = "\
Inspects the project in the current directory, prompts on a terminal for what it cannot detect, and
writes a commented launchway.toml. An existing file is never overwritten.

Then it adds the SDK to the app: the package, its call in the script that starts the app, and in
React Native the lines that load its bundle. Each change is shown first, and made after you agree
or with --yes. What it cannot change safely, it prints. It installs nothing. In a project that has
a launchway.toml it adds only what the app lacks of the SDK.

Examples:
  launchway init
  launchway init --yes --bundle-id com.example.app --url https://launchway.example.com")]
pub struct InitArgs {
    /// App, such as com.example.app [default: the native project's]
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
    /// Use what is detected and add the SDK, without prompts
    #[arg(short, long)]
    pub yes: bool,
    /// Do not add the SDK to the app
    #[arg(long)]
    pub no_sdk: bool,
}

/// The arguments of `doctor`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct DoctorArgs {
    /// Also test the sandbox in which `launchway runner` runs builds, and report what builds can access
    #[arg(long)]
    pub runner: bool,
    /// What else to check.
    #[command(subcommand)]
    pub command: Option<DoctorCommand>,
}

/// What else `doctor` checks.
#[derive(Debug, Subcommand)]
pub enum DoctorCommand {
    /// Try keys of the app stores with requests that only read
    #[command(after_help = STORES_NOTES)]
    Stores(DoctorStoresArgs),
}

/// The arguments of `doctor stores`.
#[derive(Args, Debug)]
pub struct DoctorStoresArgs {
    /// Keys: the .p8 file of App Store Connect, the .json file of a Google service account
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Send the requests to the app stores; without it, only the files are checked
    #[arg(long)]
    pub live: bool,
    /// App to read about [default: the project's]
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
    /// Id of an App Store Connect key [default: from a file named AuthKey_….p8]
    #[arg(long, value_name = "ID")]
    pub key_id: Option<String>,
    /// Issuer id of a team's App Store Connect key
    #[arg(long, value_name = "ID")]
    pub issuer_id: Option<String>,
    /// Write what was sent and received to a new file, without keys, names and identifiers
    #[arg(long, value_name = "FILE", requires = "live")]
    pub transcript: Option<PathBuf>,
}

/// What follows the help of `doctor stores`.
const STORES_NOTES: &str = "\
The keys stay on this machine: the requests go to Apple and Google directly, and nothing goes to the
Launchway server. No request changes anything. The transcript can be attached to a report; read it before.

Examples:
  launchway doctor stores AuthKey_2X9R4HXF34.p8 --issuer-id 57246542-96fe-1a63-e053-0824d011072a
  launchway doctor stores service-account.json --live --bundle-id com.example.app --transcript play.txt";

/// What follows the help of `doctor`.
pub const DOCTOR_NOTES: &str = "\
Checks launchway.toml, the server, the API key, the project in the current directory and the
tools that build it here, and says how to fix each problem. It changes nothing
and runs no code of the project. It exits with 1 if there is a problem; warnings do not count.";
