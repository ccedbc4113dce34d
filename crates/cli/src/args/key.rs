//! The arguments of `key`.

use clap::{Args, Subcommand};
use launchway_domain::scope::Scope;

use crate::args::resource::{DeleteArgs, PageArgs};

/// What follows the help of `key`.
pub const EXAMPLES: &str = "\
Examples:
  launchway key create CI --scopes build,update --expires-in-days 90
  launchway key create laptop --scopes update --quiet > key.txt

A new key is printed once and cannot be shown again. Managing keys is for owners and
admins: `launchway login --admin`.";

/// The commands on API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// List API keys, newest first, revoked ones included
    List(PageArgs),
    /// Create an API key and print it once
    Create(CreateKeyArgs),
    /// Revoke an API key; it stays in the list
    Revoke(DeleteArgs),
}

/// The arguments of `key create`.
#[derive(Args, Debug)]
pub struct CreateKeyArgs {
    /// Display name of the key
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Scopes of the key: build, submit, update; comma-separated
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', required = true, value_parser = Scope::GRANTABLE.map(Scope::as_str))]
    pub scopes: Vec<String>,
    /// Days after which the key expires [default: never]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(1..=3650))]
    pub expires_in_days: Option<i64>,
}
