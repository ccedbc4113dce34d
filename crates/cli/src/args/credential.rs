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

A password is never an argument. It comes from LAUNCHWAY_CREDENTIAL_PASSWORD, else from standard
input when that is a pipe, else it is asked for. Where the key in a keystore has a password of its
own, that comes from LAUNCHWAY_CREDENTIAL_KEY_PASSWORD.";

/// The commands on credentials.
#[derive(Debug, Subcommand)]
pub enum CredentialCommand {
    /// List credentials, newest first
    List(PageArgs),
    /// Show what was read from one credential, never the credential itself
    Show(IdArgs),
    /// Hand over a keystore, certificate, profile or store key; it is checked and never shown again
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
    /// What it is; told from the file's name unless told
    #[arg(long, value_name = "KIND", value_parser = ["app_store_connect_key", "google_service_account", "android_keystore",
        "apple_certificate", "provisioning_profile"])]
    pub kind: Option<String>,
    /// What people call it; the file's own name for itself unless told
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// App it is for; every app unless told
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
    /// Key in a keystore that holds several
    #[arg(long, value_name = "ALIAS")]
    pub alias: Option<String>,
    /// Id of an App Store Connect key; told from a file called AuthKey_….p8 unless told
    #[arg(long, value_name = "ID")]
    pub key_id: Option<String>,
    /// Issuer of a team's App Store Connect key
    #[arg(long, value_name = "ID")]
    pub issuer_id: Option<String>,
}
