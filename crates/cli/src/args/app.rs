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
    /// Show one app, named by id or by bundle identifier
    Show(IdArgs),
    /// Claim a bundle identifier for the organization; the first build or update of it does the same
    Create {
        /// Bundle identifier, as the app's native project writes it, such as com.example.app
        #[arg(value_name = "BUNDLE_ID")]
        bundle_id: BundleId,
        /// What people call the app; the bundle identifier unless told
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Take an app, named by id or by bundle identifier, off the list; its updates go on being offered
    Delete(DeleteArgs),
}
