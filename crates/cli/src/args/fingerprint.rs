//! The arguments of `fingerprint` and `native-needed`.

use clap::{Args, Subcommand};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;

use crate::args::publish::platforms;

/// What `embed` reads.
pub const EMBED_NOTES: &str = "\
The root comes from launchway.trust.json, which `launchway trust init` creates, and never from a server.
An app that contains it takes only updates that its developers signed.
An app that contains the SDK also gets its settings, from [server], [sdk] and the profile of launchway.toml.";

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

With a platform, only the hash is printed; without one, a table of all platforms of the project.

[fingerprint] in launchway.toml adds files (include) and excludes files (exclude).
Files named .fingerprintignore, in the format of .gitignore, also exclude files."
)]
pub struct FingerprintArgs {
    /// Platform of the project [default: all]
    #[arg(value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Option<Platform>,
    /// Which app of the project.
    #[command(flatten)]
    pub app: AppArgs,
    /// Print the document that the hash is computed from
    #[arg(long, requires = "platform")]
    pub document: bool,
    /// What else to do with fingerprints.
    #[command(subcommand)]
    pub command: Option<FingerprintCommand>,
}

/// What else to do with fingerprints.
#[derive(Debug, Subcommand)]
pub enum FingerprintCommand {
    /// Show the differences between two native apps
    Diff(DiffArgs),
    /// Write the fingerprint into the native project, where the app reads it
    Embed(EmbedArgs),
}

/// The arguments of `embed` and `fingerprint embed`.
#[derive(Args, Debug)]
pub struct EmbedArgs {
    /// Platform to write for [default: every platform of the project]
    #[arg(value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Option<Platform>,
    /// Which app of the project.
    #[command(flatten)]
    pub app: AppArgs,
    /// Ignore the native project, because it was generated from the configuration, as by Expo's prebuild
    #[arg(long)]
    pub generated: bool,
}

/// Which app of the project is meant.
#[derive(Args, Clone, Debug, Default)]
pub struct AppArgs {
    /// Profile of launchway.toml with the app's directory [default: the one that a build uses]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

/// The arguments of `fingerprint diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each side is one of:
  here       the project
  FILE       a document printed by `launchway fingerprint PLATFORM --document`
  ID         an update or a build on the server")]
pub struct DiffArgs {
    /// First side, such as the installed app
    #[arg(value_name = "A")]
    pub there: String,
    /// Second side, such as the update
    #[arg(value_name = "B")]
    pub here: String,
    /// Platform of the project [default: that of the other side]
    #[arg(long, value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Option<Platform>,
    /// Which app of the project.
    #[command(flatten)]
    pub app: AppArgs,
}

/// The arguments of `native-needed`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exits with 0 if the installed app can run an update of this project, and with 10 if it needs a build from the store.
With latest, the project is compared as by `launchway update`: with the newest successful build of
the app that has a fingerprint, or without one, with the newest such update.

  launchway native-needed android --against latest && launchway update android --dir dist")]
pub struct NativeNeededArgs {
    /// Platform to check [default: that of the project, or of the other side]
    #[arg(value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Option<Platform>,
    /// Build or update to compare the project with, or latest
    #[arg(long, value_name = "latest|ID")]
    pub against: String,
    /// App to look for with latest [default: the project's]
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
    /// Configuration of the app to look for with latest [default: that of updates in launchway.toml]
    #[arg(long, value_name = "NAME")]
    pub configuration: Option<Configuration>,
    /// Which app of the project.
    #[command(flatten)]
    pub app: AppArgs,
}
