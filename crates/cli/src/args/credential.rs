//! The arguments of `credential`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use launchway_domain::bundle_id::BundleId;

use crate::args::resource::{DeleteArgs, IdArgs, PageArgs};

/// What follows the help of `credential`.
pub const EXAMPLES: &str = "\
Examples:
  launchway credential add release.jks --name 'Upload key'
  launchway credential add AuthKey_2X9R4HXF34.p8 --issuer-id 57246542-96fe-1a63-e053-0824d011072a
  LAUNCHWAY_CREDENTIAL_PASSWORD=… launchway credential add distribution.p12
  launchway credential create android-keystore --add

A password is never an argument. It comes from LAUNCHWAY_CREDENTIAL_PASSWORD, or from standard
input if that is a pipe, or from a prompt. If the key in a keystore has its own password, that
comes from LAUNCHWAY_CREDENTIAL_KEY_PASSWORD.";

/// The commands on credentials.
#[derive(Debug, Subcommand)]
pub enum CredentialCommand {
    /// List credentials, newest first
    List(PageArgs),
    /// Show the facts read from a credential, never the credential itself
    Show(IdArgs),
    /// Add a keystore, certificate, profile or app store key; it is checked and never shown again
    Add(AddCredentialArgs),
    /// Make a credential on this machine: an Android keystore with a new key
    #[command(after_help = CREATE_NOTES)]
    Create(CreateCredentialArgs),
    /// Replace the secret that signs App Store Connect's events; the old one stays valid for 24 hours
    RotateEventsSecret(IdArgs),
    /// Delete a credential
    Delete(DeleteArgs),
}

/// What follows the help of `credential create`.
const CREATE_NOTES: &str = "\
Examples:
  launchway credential create android-keystore
  launchway credential create android-keystore upload.p12 --years 40 --add

The file holds a new RSA key of 4096 bits. Keep it and its password in a safe place: Google Play
takes new versions of an app only with its upload key. The password comes from
LAUNCHWAY_CREDENTIAL_PASSWORD, or from standard input if that is a pipe, or from a prompt.";

/// The arguments of `credential create`.
#[derive(Args, Debug)]
pub struct CreateCredentialArgs {
    /// What to make
    #[arg(value_name = "KIND", value_parser = ["android-keystore"])]
    pub kind: String,
    /// File to write; it must not exist
    #[arg(value_name = "FILE", default_value = "upload-keystore.p12")]
    pub file: PathBuf,
    /// Alias of the key
    #[arg(long, value_name = "ALIAS", default_value = "upload")]
    pub alias: String,
    /// Name in the certificate, which anybody can read in the app
    #[arg(long, value_name = "NAME", default_value = "Upload key")]
    pub common_name: String,
    /// Years until the certificate expires
    #[arg(long, value_name = "YEARS", default_value_t = 30, value_parser = clap::value_parser!(u8).range(10..=100))]
    pub years: u8,
    /// Add it to the server, too
    #[arg(long)]
    pub add: bool,
    /// App that it is for, with --add [default: every app]
    #[arg(long, value_name = "ID", requires = "add")]
    pub bundle_id: Option<BundleId>,
}

/// The arguments of `credential add`.
#[derive(Args, Debug)]
pub struct AddCredentialArgs {
    /// The file: .jks, .keystore, .p12, .mobileprovision, .p8, or the .json of a service account
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Kind of credential [default: what is in the file, or else what its name says]
    #[arg(long, value_name = "KIND", value_parser = ["app_store_connect_key", "google_service_account", "android_keystore",
        "apple_certificate", "provisioning_profile"])]
    pub kind: Option<String>,
    /// Display name [default: the name in the file]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// App that it is for [default: every app]
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
    /// Alias of the key, if a keystore holds several
    #[arg(long, value_name = "ALIAS")]
    pub alias: Option<String>,
    /// Id of an App Store Connect key [default: from a file named AuthKey_….p8]
    #[arg(long, value_name = "ID")]
    pub key_id: Option<String>,
    /// Issuer id of a team's App Store Connect key
    #[arg(long, value_name = "ID")]
    pub issuer_id: Option<String>,
}
