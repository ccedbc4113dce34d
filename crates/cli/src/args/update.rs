//! The arguments of `update`, which publishes unless a subcommand is named.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_trust::{Sha256, Sha256Error};

use crate::args::publish::{PublishArgs, platforms};
use crate::args::resource::PageArgs;
use crate::args::trust::SigningArgs;

/// The arguments of `update`.
#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    subcommand_negates_reqs = true,
    subcommand_help_heading = "Commands on published updates",
    override_usage = "launchway update <PLATFORM|all> --dir <DIR> --configuration <NAME> [OPTIONS]\n       \
                      launchway update <COMMAND>",
    after_help = "\
Examples:
  launchway update android --dir dist --configuration production
  launchway update ios --dir dist --configuration staging --release-notes @notes.txt --rollout 20
  launchway update all --dir dist --configuration production --dry-run
  launchway update list --status paused

A rollout below 100 reaches only apps that send a device id when they check for updates."
)]
pub struct UpdateArgs {
    /// What to publish; absent when a command is given.
    #[command(flatten)]
    pub publish: Option<PublishArgs>,
    /// What to do with published updates.
    #[command(subcommand)]
    pub command: Option<UpdateCommand>,
}

/// The commands on published updates.
#[derive(Debug, Subcommand)]
pub enum UpdateCommand {
    /// List updates, newest first
    List(ListArgs),
    /// Show one update and the devices' reports about it
    Show(UpdateIdArgs),
    /// Pause an update: it is no longer offered
    Pause(UpdateIdArgs),
    /// Resume a paused update
    Resume(UpdateIdArgs),
    /// Change the percentage of devices that are offered an update
    Rollout {
        /// Which update
        #[command(flatten)]
        update: UpdateIdArgs,
        /// Percentage of devices, 0 to 100
        #[arg(value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
        percent: u8,
    },
    /// Change the release notes of an update, or whether it is mandatory
    Edit(EditArgs),
    /// Withdraw an update permanently; its bytes can be published again
    Withdraw(WithdrawArgs),
    /// Publish the bytes of an update for another configuration
    Promote(PromoteArgs),
    /// Publish the bytes from before a bad update again, with a higher build number
    Rollback(RollbackArgs),
    /// Sign updates that wait for a signature, which publishes them
    Sign(UpdateSignArgs),
    /// Revoke the package of an update: no phone starts it again, not even one that has it
    Revoke(RevokeArgs),
}

/// The arguments of `update sign`.
#[derive(Args, Debug)]
#[command(
    override_usage = "launchway update sign <ID>... [OPTIONS]\n       \
                      launchway update sign --all <FILE> [OPTIONS]",
    after_help = "\
What is signed is the package that you vouch for: by its file, or by the SHA-256 that the CI which packed it printed.
With neither, the package is downloaded, the files that differ from the newest signed update are shown, and you are asked."
)]
pub struct UpdateSignArgs {
    /// Updates that wait, as shown by `update list --status awaiting_signature`
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub ids: Vec<String>,
    /// Package that an update must have
    #[arg(long, value_name = "FILE")]
    pub package: Vec<PathBuf>,
    /// SHA-256 of the package that an update must have
    #[arg(long, value_name = "HEX", value_parser = sha256)]
    pub sha256: Vec<Sha256>,
    /// Sign every waiting update whose SHA-256 is in this file, one in each line
    #[arg(long, value_name = "FILE", conflicts_with = "ids")]
    pub all: Option<PathBuf>,
    /// App, with --all [default: that of launchway.trust.json]
    #[arg(long, value_name = "ID", requires = "all")]
    pub bundle_id: Option<BundleId>,
    /// Sign with this command: it reads the bytes from standard input and prints the DER of the signature
    #[arg(long, value_name = "COMMAND")]
    pub sign_with: Option<String>,
    /// Replace a draft that already has signatures, which are lost
    #[arg(long)]
    pub force: bool,
}

/// The arguments of `update revoke`.
#[derive(Args, Debug)]
#[command(after_help = "\
Every update with this package is withdrawn, and phones that run it go back to the one before.
The hash is added to launchway.trust.json: commit it, so that the next release of the app refuses the package too.")]
pub struct RevokeArgs {
    /// Which update
    #[command(flatten)]
    pub update: UpdateIdArgs,
    /// Why, for the message of the commit
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Whether to ask, and who signs.
    #[command(flatten)]
    pub signing: SigningArgs,
}

/// Parses a SHA-256.
fn sha256(text: &str) -> Result<Sha256, Sha256Error> {
    text.to_ascii_lowercase().parse()
}

/// One update.
#[derive(Args, Debug)]
pub struct UpdateIdArgs {
    /// Id of the update, as shown by `update list`
    #[arg(value_name = "ID")]
    pub id: String,
}

/// The arguments of `update withdraw`.
#[derive(Args, Debug)]
pub struct WithdrawArgs {
    /// Which update
    #[command(flatten)]
    pub update: UpdateIdArgs,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// The arguments of `update edit`.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true).args(["release_notes", "mandatory"]))]
pub struct EditArgs {
    /// Which update
    #[command(flatten)]
    pub update: UpdateIdArgs,
    /// Release notes, up to 4 KiB; @FILE reads them from a file, an empty text removes them
    #[arg(long, value_name = "TEXT")]
    pub release_notes: Option<String>,
    /// Whether the app is asked to install the update immediately
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
    pub mandatory: Option<bool>,
}

/// The arguments of `update list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Only of this app
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<String>,
    /// Only for this platform
    #[arg(long, value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Option<Platform>,
    /// Only of this configuration
    #[arg(long, value_name = "NAME")]
    pub configuration: Option<String>,
    /// Only with this status
    #[arg(long, value_name = "STATUS", value_parser = ["published", "paused", "withdrawn", "awaiting_signature"])]
    pub status: Option<String>,
    /// Which page.
    #[command(flatten)]
    pub page: PageArgs,
}

/// The arguments of `update promote`.
#[derive(Args, Debug)]
pub struct PromoteArgs {
    /// Which update
    #[command(flatten)]
    pub update: UpdateIdArgs,
    /// Configuration to publish it for
    #[arg(long, value_name = "NAME")]
    pub configuration: Configuration,
    /// Percentage of devices that are offered it [default: 100]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub rollout: Option<u8>,
    /// Sign with this command: it reads the bytes from standard input and prints the DER of the signature
    #[arg(long, value_name = "COMMAND")]
    pub sign_with: Option<String>,
}

/// The arguments of `update rollback`.
#[derive(Args, Debug)]
#[command(
    override_usage = "launchway update rollback <ID> [OPTIONS]\n       \
                      launchway update rollback --bundle-id <ID> --platform <PLATFORM> \
                      (--configuration <NAME> | --all-configurations) [OPTIONS]",
    after_help = "\
The new update has the version of the bad one and a higher build number, so that devices with the bad one also get it."
)]
pub struct RollbackArgs {
    /// Id of the bad update [default: the newest of the app, platform and configuration]
    #[arg(value_name = "ID", required_unless_present = "bundle_id", conflicts_with_all = ["bundle_id", "platform"])]
    pub id: Option<String>,
    /// App whose newest update is bad
    #[arg(long, value_name = "ID", requires = "platform")]
    pub bundle_id: Option<String>,
    /// Platform of the bad update
    #[arg(long, value_name = "PLATFORM", value_parser = platforms(), requires = "bundle_id")]
    pub platform: Option<Platform>,
    /// Configuration of the bad update
    #[arg(
        long,
        value_name = "NAME",
        requires = "bundle_id",
        conflicts_with = "all_configurations"
    )]
    pub configuration: Option<Configuration>,
    /// The bad update has no configuration
    #[arg(long, requires = "bundle_id")]
    pub all_configurations: bool,
    /// Update whose bytes to publish [default: the one before the bad one]
    #[arg(long, value_name = "ID")]
    pub to: Option<String>,
    /// Sign with this command: it reads the bytes from standard input and prints the DER of the signature
    #[arg(long, value_name = "COMMAND")]
    pub sign_with: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}
