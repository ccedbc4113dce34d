//! The arguments of `device`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;

use crate::args::publish::{platforms, version};

/// The arguments of `device`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  launchway device init ios --bundle-id com.example.app --version 1.0.0 --build 1
  launchway device install
  launchway device confirm

A directory is the phone. The command runs the client that phones run: it checks, downloads,
verifies and switches as they do. Nothing of the app is executed: `confirm` and `crash` stand
for what it does.")]
pub struct DeviceArgs {
    /// Directory that is the phone
    #[arg(long, global = true, value_name = "DIR", default_value = "phone")]
    pub dir: PathBuf,
    /// Seconds to wait for the next bytes of a server
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 30)]
    pub timeout: u64,
    /// What happens on the phone.
    #[command(subcommand)]
    pub command: DeviceCommand,
}

/// What happens on the phone.
#[derive(Debug, Subcommand)]
pub enum DeviceCommand {
    /// Install an app from the store, or a newer one in its place, and start it
    Init(StoreApp),
    /// Ask the server for an update
    Check,
    /// Download, verify and install an update, and start the app with it
    Install,
    /// Start the app
    Start,
    /// Let the app confirm that it works
    Confirm,
    /// Let the app crash, and start it again
    Crash {
        /// Stack of the error, for the report
        #[arg(long, value_name = "TEXT")]
        stack: Option<String>,
    },
    /// Send the pending reports
    Report,
    /// Show what runs and what is installed
    Status,
}

/// An app from the store.
#[derive(Args, Debug)]
pub struct StoreApp {
    /// Platform of the phone
    #[arg(value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Platform,
    /// Bundle identifier of the app
    #[arg(long, value_name = "ID")]
    pub bundle_id: BundleId,
    /// Version of the app
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub version: String,
    /// Build number of the app
    #[arg(long, value_name = "NUMBER")]
    pub build: String,
    /// Configuration whose updates the app takes
    #[arg(long, value_name = "NAME")]
    pub configuration: Option<Configuration>,
    /// Fingerprint of the app
    #[arg(long, value_name = "HASH")]
    pub fingerprint: Option<String>,
    /// File that the app starts with
    #[arg(long, value_name = "PATH", default_value = "index.html")]
    pub entry_file: String,
    /// Trust file that the app contains, such as launchway.trust.json; without one it takes unsigned updates
    #[arg(long, value_name = "FILE")]
    pub trust: Option<PathBuf>,
}
