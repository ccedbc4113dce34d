//! The arguments of `import`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_domain::release::Protocol;

use crate::args::publish::platforms;

/// What to take over, and where its packages are.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  launchway import codepush deployments.json Production=production.json \\
    --bundle-id com.example.app --platform android --packages packages --dry-run
  launchway import expo channels.json updates.json --bundle-id com.example.app --packages packages
  launchway import hot-updater bundles.json --bundle-id com.example.app --packages packages

The files are what the tools of the service print: see docs/moving.md. An import only adds what the
server does not have, so it can be repeated, and an interrupted one continues where it stopped.

The package of a release is NAME.zip or the directory NAME in the directory of --packages, or below
a directory with the name of its configuration or platform there. An update of Expo has what
`npx expo export` wrote, and NAME is its id or its group.")]
pub struct ImportArgs {
    /// Service that the app leaves
    #[arg(value_name = "SERVICE", value_parser = services())]
    pub service: Protocol,
    /// What its tools printed; the history of a deployment of CodePush as DEPLOYMENT=FILE
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    /// App that takes the releases, such as com.example.app
    #[arg(long, value_name = "ID")]
    pub bundle_id: BundleId,
    /// Platform of the releases; can be repeated [default: those that the files name]
    #[arg(long = "platform", value_name = "PLATFORM", value_parser = platforms())]
    pub platforms: Vec<Platform>,
    /// Directory with the packages of the releases
    #[arg(long, value_name = "DIR")]
    pub packages: Option<PathBuf>,
    /// Show what would be done; nothing is sent
    #[arg(long)]
    pub dry_run: bool,

    /// Sign updates of Expo and their undos with this private RSA key in PEM, which is not sent
    #[arg(long, value_name = "FILE", help_heading = "Apps with expo-updates")]
    pub expo_signing_key: Option<PathBuf>,
    /// Name of the key in the app [default: the project's, or root]
    #[arg(
        long,
        value_name = "NAME",
        requires = "expo_signing_key",
        help_heading = "Apps with expo-updates"
    )]
    pub expo_key_id: Option<String>,
    /// Address from which apps download files, where the server has a setting for it [default: that of the newest update]
    #[arg(
        long,
        value_name = "URL",
        requires = "expo_signing_key",
        help_heading = "Apps with expo-updates"
    )]
    pub expo_asset_base: Option<String>,
}

fn services() -> impl TypedValueParser<Value = Protocol> {
    PossibleValuesParser::new(Protocol::ALL.map(Protocol::as_str)).try_map(|name| name.parse::<Protocol>())
}
