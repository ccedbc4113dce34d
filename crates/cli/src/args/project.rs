//! The arguments of `init` and `doctor`, which work on the local project.

use clap::Args;
use launchway_domain::bundle_id::BundleId;

/// The arguments of `init`.
#[derive(Args, Debug)]
#[command(after_help = "\
Looks at the project in the current directory, asks on a terminal what it did not find out, and
writes a commented launchway.toml. A file that is there is never overwritten.

Examples:
  launchway init
  launchway init --yes --bundle-id com.example.app --url https://launchway.example.com")]
pub struct InitArgs {
    /// App, such as com.example.app; the native project's unless told
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
    /// Take what was found, and do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// The arguments of `doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Also try the sandbox in which `launchway runner` would run builds here, and say what is open to them
    #[arg(long)]
    pub runner: bool,
}

/// What follows the help of `doctor`.
pub const DOCTOR_NOTES: &str = "\
Looks at launchway.toml, the server, the API key, the project in the current directory and the
tools that build it here, and says of each thing that is wrong how to mend it. It changes nothing
and runs nothing of the project. It ends with 1 when something is wrong; warnings do not count.";
