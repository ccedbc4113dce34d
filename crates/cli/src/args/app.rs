//! The arguments of `app`.

use clap::Subcommand;
use launchway_domain::bundle_id::BundleId;

use crate::args::resource::{DeleteArgs, IdArgs, PageArgs};

/// What follows the help of `app`.
pub const EXAMPLES: &str = "\
Examples:
  launchway app create com.example.app --name 'Example'
  launchway app show com.example.app";

/// The commands on apps.
#[derive(Debug, Subcommand)]
pub enum AppCommand {
    /// List apps, newest first
    List(PageArgs),
    /// Show one app, by id or bundle identifier
    Show(IdArgs),
    /// Claim a bundle identifier for the organization, as its first build or update does
    Create {
        /// Bundle identifier, as in the app's native project, such as com.example.app
        #[arg(value_name = "BUNDLE_ID")]
        bundle_id: BundleId,
        /// Display name of the app [default: the bundle identifier]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Remove an app, by id or bundle identifier, from the list; its updates are still offered
    Delete(DeleteArgs),
}
