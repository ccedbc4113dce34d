//! The arguments of `fingerprint` and `native-needed`.

use clap::{Args, Subcommand};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;

use crate::args::publish::platforms;

/// The arguments of `fingerprint`.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "launchway fingerprint [PLATFORM] [OPTIONS]\n       \
                      launchway fingerprint <COMMAND>",
    after_help = "\
Examples:
  launchway fingerprint
  launchway fingerprint android --document > android.json
  launchway fingerprint diff android.json here

With a platform the hash alone is printed, without one a table of all platforms of the project.

[fingerprint] in launchway.toml adds files (include) and leaves some out (exclude).
Files named .fingerprintignore, written as .gitignore is, leave files out too."
)]
pub struct FingerprintArgs {
    /// Platform to look at; every one of the project unless told
    #[arg(value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Option<Platform>,
    /// Which app of the project.
    #[command(flatten)]
    pub app: AppArgs,
    /// Print the document that the hash stands for
    #[arg(long, requires = "platform")]
    pub document: bool,
    /// What else to do with fingerprints.
    #[command(subcommand)]
    pub command: Option<FingerprintCommand>,
}

/// What else to do with fingerprints.
#[derive(Debug, Subcommand)]
pub enum FingerprintCommand {
    /// Show what differs between two native apps
    Diff(DiffArgs),
    /// Write the fingerprint into the native project, where the app reads it
    Embed {
        /// Platform to write it for; every one of the project unless told
        #[arg(value_name = "PLATFORM", value_parser = platforms())]
        platform: Option<Platform>,
        /// Which app of the project.
        #[command(flatten)]
        app: AppArgs,
        /// The native project was made from the configuration, as Expo's prebuild does, and does not count
        #[arg(long)]
        generated: bool,
    },
}

/// Which app of the project is meant.
#[derive(Args, Clone, Debug, Default)]
pub struct AppArgs {
    /// Profile of launchway.toml that says where the app is; the one that a build would take unless told
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

/// The arguments of `fingerprint diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each side is one of:
  here       the project
  FILE       a document, as `launchway fingerprint PLATFORM --document` prints it
  ID         an update or a build on the server")]
pub struct DiffArgs {
    /// What is there, such as the installed app
    #[arg(value_name = "A")]
    pub there: String,
    /// What it is compared with, such as the update
    #[arg(value_name = "B")]
    pub here: String,
    /// Platform of the project; the other side's unless told
    #[arg(long, value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Option<Platform>,
    /// Which app of the project.
    #[command(flatten)]
    pub app: AppArgs,
}

/// The arguments of `native-needed`.
#[derive(Args, Debug)]
#[command(after_help = "\
Ends with 0 when the installed app can run an update of this project, and with 10 when it needs a build from the store.
With latest it is compared with the newest successful build of the app that has a fingerprint, or
else with its newest such update.

  launchway native-needed android --against latest && launchway update android --dir dist")]
pub struct NativeNeededArgs {
    /// Platform to look at; the one of the project, or of what it is compared with, unless told
    #[arg(value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Option<Platform>,
    /// Build or update to compare the project with
    #[arg(long, value_name = "latest|ID")]
    pub against: String,
    /// App to look for with latest; the project's unless told
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
    /// Which app of the project.
    #[command(flatten)]
    pub app: AppArgs,
}
