//! The arguments of `init` and `doctor`, which work on the local project.

use clap::Args;
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
pub struct DoctorArgs {
    /// Also test the sandbox in which `launchway runner` runs builds, and report what builds can access
    #[arg(long)]
    pub runner: bool,
}

/// What follows the help of `doctor`.
pub const DOCTOR_NOTES: &str = "\
Checks launchway.toml, the server, the API key, the project in the current directory and the
tools that build it here, and says how to fix each problem. It changes nothing
and runs no code of the project. It exits with 1 if there is a problem; warnings do not count.";
