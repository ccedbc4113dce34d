//! The arguments of `update <platform>`, which publishes.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use launchway_domain::build_number::BuildNumber;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_domain::version::{Version, VersionError};
use launchway_domain::words::UnknownWordError;

/// What to publish and for whom.
#[derive(Args, Debug)]
pub struct PublishArgs {
    /// Platform the update is for; all publishes one for each platform of the project
    #[arg(value_name = "PLATFORM", value_parser = targets(), required_unless_present = "target")]
    pub platform: Option<Target>,
    /// The same as an option
    #[arg(long = "platform", id = "target", value_name = "NAME", value_parser = targets(), conflicts_with = "platform",
        help_heading = "What to publish")]
    pub target: Option<Target>,

    /// Directory with the built web app or bundle; it is packed unchanged [default: what the bundler of React Native, Expo
    /// or NativeScript makes]
    #[arg(long, value_name = "DIR", conflicts_with = "file", help_heading = "What to publish")]
    pub dir: Option<PathBuf>,
    /// Existing ZIP file, instead of a directory
    #[arg(long, value_name = "ZIP", help_heading = "What to publish")]
    pub file: Option<PathBuf>,
    /// App to update, such as com.example.app [default: the native project's]
    #[arg(long, value_name = "ID", help_heading = "What to publish")]
    pub bundle_id: Option<BundleId>,
    /// Profile of launchway.toml with the app's directory [default: the one that a build uses]
    #[arg(long, value_name = "NAME", help_heading = "What to publish")]
    pub profile: Option<String>,
    /// Version of the update [default: the native project's]
    #[arg(long, value_name = "VERSION", value_parser = version, help_heading = "What to publish")]
    pub version: Option<String>,
    /// Build number of the update [default: the next free number]
    #[arg(long, value_name = "NUMBER|auto", value_parser = build_number, help_heading = "What to publish")]
    pub build_number: Option<String>,
    /// Release notes, up to 4 KiB; @FILE reads them from a file
    #[arg(long, value_name = "TEXT", help_heading = "What to publish")]
    pub release_notes: Option<String>,
    /// Ask the app to install the update immediately
    #[arg(long, help_heading = "What to publish")]
    pub mandatory: bool,
    /// Check and pack everything, and show what would be published; nothing is sent
    #[arg(long, help_heading = "What to publish")]
    pub dry_run: bool,

    /// Offer it only to apps that ask for this configuration, such as production
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "all_configurations",
        help_heading = "Who gets it"
    )]
    pub configuration: Option<Configuration>,
    /// Offer it to apps of every configuration
    #[arg(long, help_heading = "Who gets it")]
    pub all_configurations: bool,
    /// Offer it only to apps with this native fingerprint; @FILE reads a document [default: the project's]
    #[arg(long, value_name = "HASH", help_heading = "Who gets it")]
    pub fingerprint: Option<String>,
    /// Publish even if the newest build cannot run it, or if the project's fingerprint is unknown
    #[arg(long, help_heading = "Who gets it")]
    pub allow_incompatible: bool,
    /// Percentage of devices that are offered it [default: 100]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "Who gets it")]
    pub rollout: Option<u8>,

    /// Publish an export of Expo, for apps of this runtime version [default: the project's, for an export of an app with
    /// expo-updates]
    #[arg(long, value_name = "VERSION", help_heading = "Apps with expo-updates")]
    pub runtime_version: Option<String>,
    /// Sign the manifest and its undo with this private RSA key in PEM, which is not sent
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

    /// Sign with this command: it reads the bytes from standard input and prints the DER of the signature
    #[arg(long, value_name = "COMMAND", help_heading = "Signed updates")]
    pub sign_with: Option<String>,
    /// Replace a draft that already has signatures, which are lost
    #[arg(long, help_heading = "Signed updates")]
    pub force: bool,
}

/// The platforms that a publication is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This one.
    One(Platform),
    /// Every platform of the project.
    All,
}

impl Target {
    const ALL: &str = "all";
}

impl FromStr for Target {
    type Err = UnknownWordError;

    fn from_str(name: &str) -> Result<Self, UnknownWordError> {
        match name {
            Self::ALL => Ok(Target::All),
            name => name.parse().map(Target::One),
        }
    }
}

impl PublishArgs {
    /// The platforms to publish for. The parser makes sure that one of the two is given.
    pub fn target(&self) -> Target {
        self.platform.or(self.target).unwrap_or(Target::All)
    }
}

/// Parses the name of a platform or `all`, and lists the names in help and errors.
fn targets() -> impl TypedValueParser<Value = Target> {
    let names = Platform::ALL.map(Platform::as_str).into_iter().chain([Target::ALL]);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Target>())
}

/// Parses the name of a platform, and lists the three names in help and errors.
pub fn platforms() -> impl TypedValueParser<Value = Platform> {
    PossibleValuesParser::new(Platform::ALL.map(Platform::as_str)).try_map(|name| name.parse::<Platform>())
}

/// Parses a semantic version.
pub fn version(text: &str) -> Result<String, VersionError> {
    Version::parse(text).map(|_| text.to_owned())
}

/// Parses a build number, or `auto`.
pub fn build_number(text: &str) -> Result<String, String> {
    let known = text == "auto" || BuildNumber::parse(text).is_ok();
    known
        .then(|| text.to_owned())
        .ok_or_else(|| "must be 1 to 18 digits, or auto".to_owned())
}
