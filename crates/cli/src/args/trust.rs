//! The arguments of `trust`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;

use crate::developer_role::DeveloperRole;

/// What follows the help of `trust`.
pub const EXAMPLES: &str = "\
Private keys are files in the configuration directory of this machine, each encrypted with a
passphrase. LAUNCHWAY_SIGNING_KEY, a private key in PEM or the path of its file, signs where no
such file is, as in CI. LAUNCHWAY_KEY_PASSPHRASE is the passphrase, where nobody can type it.
Before anything is signed, the server's metadata is verified from launchway.trust.json, and the
change is shown.

Examples:
  launchway trust init
  launchway trust status
  launchway trust new-key > ada.pem
  launchway trust add-key c-production ada.pem --name Ada --threshold 2
  launchway trust sign c-production
  launchway trust rotate --online-key";

/// The commands on the trust of an app.
#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// Set up signed updates for an app: make its keys, and write launchway.trust.json
    Init(TrustInitArgs),
    /// Show the roles of an app, their keys, and when they expire
    Status(AppArgs),
    /// Verify the server's metadata as a phone does
    Verify(TrustVerifyArgs),
    /// Make a private key on this machine, and print its public key
    NewKey(NewKeyArgs),
    /// Let another key sign for a role
    AddKey(AddKeyArgs),
    /// Stop a key from signing for a role
    RemoveKey(RemoveKeyArgs),
    /// Replace a key in all roles, or the key of the server
    Rotate(RotateArgs),
    /// Sign the draft of a role, or renew the role
    Sign(TrustSignArgs),
    /// Give metadata back to a server that was restored from a backup
    Push(PushArgs),
    /// Begin again with new keys when all keys are lost
    Reset(ResetArgs),
}

/// The app.
#[derive(Args, Debug)]
pub struct AppArgs {
    /// App, such as com.example.app [default: that of launchway.trust.json, or the project's]
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
}

/// Whether to ask, and who signs.
#[derive(Args, Debug)]
pub struct SigningArgs {
    /// Sign with this command: it reads the bytes from standard input and prints the DER of the signature
    #[arg(long, value_name = "COMMAND")]
    pub sign_with: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// Where new keys go.
#[derive(Args, Debug)]
pub struct NewKeysArgs {
    /// Write the recovery key to this file instead of the terminal; move the file offline
    #[arg(long, value_name = "FILE")]
    pub recovery_key: Option<PathBuf>,
    /// Write the signing key, not encrypted, to this file, for the secrets of a CI system
    #[arg(long, value_name = "FILE")]
    pub ci_key: Option<PathBuf>,
}

/// The arguments of `trust init`.
#[derive(Args, Debug)]
#[command(after_help = "\
Makes a root key and a signing key on this machine, and a recovery key that is shown once. The root
key and the recovery key name all other keys; the signing key signs updates of the configuration.
Every step is saved before the next one: after an interruption, run the command again.")]
pub struct TrustInitArgs {
    /// Which app.
    #[command(flatten)]
    pub app: AppArgs,
    /// Configuration whose updates the signing key signs [default: that of launchway.toml]
    #[arg(long, value_name = "NAME")]
    pub configuration: Option<Configuration>,
    /// Where the keys go.
    #[command(flatten)]
    pub keys: NewKeysArgs,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// The arguments of `trust verify`.
#[derive(Args, Debug)]
pub struct TrustVerifyArgs {
    /// Which app.
    #[command(flatten)]
    pub app: AppArgs,
    /// Configuration of the phone [default: each one with a role]
    #[arg(long, value_name = "NAME")]
    pub configuration: Option<Configuration>,
}

/// The arguments of `trust new-key`.
#[derive(Args, Debug)]
pub struct NewKeyArgs {
    /// Write the private key, not encrypted, to this file only, for the secrets of a CI system
    #[arg(long, value_name = "FILE")]
    pub ci_key: Option<PathBuf>,
}

/// The arguments of `trust add-key`.
#[derive(Args, Debug)]
#[command(after_help = "\
The public key is PEM of an ECDSA P-256 key, as `launchway trust new-key` or a key service prints it.
A role that does not exist yet, such as c-staging, is created with the key.")]
pub struct AddKeyArgs {
    /// Role: root, targets, any, or c- and a configuration
    #[arg(value_name = "ROLE")]
    pub role: DeveloperRole,
    /// File with the public key
    #[arg(value_name = "FILE")]
    pub public_key: PathBuf,
    /// Name of the key's holder; it is public
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// How many keys must sign from now on [default: as before]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=16))]
    pub threshold: Option<u64>,
    /// Which app.
    #[command(flatten)]
    pub app: AppArgs,
    /// Who signs.
    #[command(flatten)]
    pub signing: SigningArgs,
}

/// The arguments of `trust remove-key`.
#[derive(Args, Debug)]
pub struct RemoveKeyArgs {
    /// Role: root, targets, any, or c- and a configuration
    #[arg(value_name = "ROLE")]
    pub role: DeveloperRole,
    /// Id of the key, or its first digits, as shown by `trust status`
    #[arg(value_name = "KEY_ID")]
    pub key_id: String,
    /// How many keys must sign from now on [default: as before]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=16))]
    pub threshold: Option<u64>,
    /// Which app.
    #[command(flatten)]
    pub app: AppArgs,
    /// Who signs.
    #[command(flatten)]
    pub signing: SigningArgs,
}

/// The arguments of `trust rotate`.
#[derive(Args, Debug)]
#[command(
    override_usage = "launchway trust rotate <KEY_ID> <FILE> [OPTIONS]\n       \
                      launchway trust rotate --online-key [OPTIONS]",
    after_help = "\
Replace a stolen key together with the key of the server if its thief may have published: a role
whose versions are used up begins again at version 1 only then."
)]
pub struct RotateArgs {
    /// Id of the key to replace, or its first digits, as shown by `trust status`
    #[arg(
        value_name = "KEY_ID",
        required_unless_present = "online_key",
        requires = "public_key"
    )]
    pub key_id: Option<String>,
    /// File with the public key that takes its place
    #[arg(value_name = "FILE", requires = "key_id")]
    pub public_key: Option<PathBuf>,
    /// Replace the key of the server, which signs snapshot and timestamp
    #[arg(long)]
    pub online_key: bool,
    /// Name of the new key's holder; it is public
    #[arg(long, value_name = "NAME", requires = "key_id")]
    pub name: Option<String>,
    /// Which app.
    #[command(flatten)]
    pub app: AppArgs,
    /// Who signs.
    #[command(flatten)]
    pub signing: SigningArgs,
}

/// The arguments of `trust sign`.
#[derive(Args, Debug)]
#[command(after_help = "\
Signs the draft of the role if there is one, and otherwise renews the role: the next version with a
new expiry. `launchway update sign` signs drafts that publish updates.")]
pub struct TrustSignArgs {
    /// Role: root, targets, any, or c- and a configuration
    #[arg(value_name = "ROLE")]
    pub role: DeveloperRole,
    /// Renew the role above this version, which the server lost and nobody can give back
    #[arg(long, value_name = "VERSION")]
    pub above: Option<u64>,
    /// Days until the renewed role expires, at most two years [default: a year, or 180 days for updates]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=731))]
    pub expires_in_days: Option<u32>,
    /// Which app.
    #[command(flatten)]
    pub app: AppArgs,
    /// Who signs.
    #[command(flatten)]
    pub signing: SigningArgs,
}

/// The arguments of `trust push`.
#[derive(Args, Debug)]
pub struct PushArgs {
    /// Which app.
    #[command(flatten)]
    pub app: AppArgs,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// The arguments of `trust reset`.
#[derive(Args, Debug)]
#[command(after_help = "\
Phones with an app from the store that carries the old root take no update until they have an app
from the store with the new one. Use it only if no key of the root is left; owners only.")]
pub struct ResetArgs {
    /// Which app.
    #[command(flatten)]
    pub app: AppArgs,
    /// Configuration whose updates the signing key signs [default: that of launchway.toml]
    #[arg(long, value_name = "NAME")]
    pub configuration: Option<Configuration>,
    /// Where the keys go.
    #[command(flatten)]
    pub keys: NewKeysArgs,
    /// The bundle id again, instead of the question
    #[arg(long, value_name = "ID")]
    pub confirm: Option<BundleId>,
}
