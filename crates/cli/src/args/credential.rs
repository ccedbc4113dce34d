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
    /// Delete a credential
    Delete(DeleteArgs),
}

/// The arguments of `credential add`.
#[derive(Args, Debug)]
pub struct AddCredentialArgs {
    /// The file: .jks, .keystore, .p12, .mobileprovision, .p8, or the .json of a service account
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Kind of credential [default: detected from the file's name]
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
