//! The arguments of `deployment-key`.

use clap::{Args, Subcommand};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;

use crate::args::publish::platforms;
use crate::args::resource::{DeleteArgs, PageArgs};

/// What follows the help of `deployment-key`.
pub const EXAMPLES: &str = "\
Examples:
  launchway deployment-key add --bundle-id com.example.app --platform ios --configuration production
  launchway deployment-key list --bundle-id com.example.app

A deployment key is public: every copy of the app contains it.";

/// The commands on deployment keys.
#[derive(Debug, Subcommand)]
pub enum DeploymentKeyCommand {
    /// List deployment keys, newest first
    List {
        /// Only those of this app
        #[arg(long, value_name = "ID")]
        bundle_id: Option<BundleId>,
        /// Which page
        #[command(flatten)]
        page: PageArgs,
    },
    /// Add the key that apps in use have, or a new one, and print it
    Add(AddDeploymentKeyArgs),
    /// Remove a deployment key: apps that have it get no more updates
    Remove(DeleteArgs),
}

/// The arguments of `deployment-key add`.
#[derive(Args, Debug)]
pub struct AddDeploymentKeyArgs {
    /// App, such as com.example.app
    #[arg(long, value_name = "ID")]
    pub bundle_id: BundleId,
    /// Platform whose updates the key finds
    #[arg(long, value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Platform,
    /// Configuration whose updates the key finds [default: only updates for every configuration]
    #[arg(long, value_name = "NAME")]
    pub configuration: Option<Configuration>,
    /// Key of apps in use: 10 to 100 letters, digits, - and _ [default: a new key]
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
}
