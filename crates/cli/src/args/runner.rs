//! The arguments of `runner`, which runs builds unless a subcommand is named.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use launchway_domain::build::plan::is_label;

use crate::args::resource::PageArgs;

/// The arguments of `runner`.
#[derive(Args, Debug)]
#[command(
    subcommand_help_heading = "Commands on runners",
    override_usage = "launchway runner [OPTIONS]\n       launchway runner <COMMAND>",
    after_help = "\
The first time, it enrolls with a one-time token: from LAUNCHWAY_RUNNER_TOKEN, standard input, or a prompt.
Admins create tokens with `launchway runner token`, operators with `launchway-server admin create-runner-token`.
After that, it needs neither the token nor --url.

The first SIGTERM or Ctrl-C lets running builds finish; the second stops them.

Examples:
  launchway runner --url https://launchway.example.com --slots 2 < token.txt
  launchway runner --label xcode=26 --readable ~/Android/Sdk"
)]
pub struct RunnerArgs {
    /// How to work; without effect when a command is given.
    #[command(flatten)]
    pub work: WorkArgs,
    /// What to do with runners.
    #[command(subcommand)]
    pub command: Option<RunnerCommand>,
}

/// How a runner works.
#[derive(Args, Debug)]
pub struct WorkArgs {
    /// Display name, used when the runner enrolls [default: the machine's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Label of the machine, besides those detected (os, arch, xcode, java, node); can be repeated
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label)]
    pub labels: Vec<String>,
    /// Number of builds at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub slots: u32,
    /// Directory of builds, caches and the runner's token [default: /var/lib/launchway-runner for root, below
    /// ~/.local/share for others]
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// PATH of build steps [default: the system's]
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Directory that steps may read, besides the system's, such as a toolchain; can be repeated
    #[arg(long, value_name = "DIR")]
    pub readable: Vec<PathBuf>,
    /// Directory that steps may change, besides their workspace; can be repeated
    #[arg(long, value_name = "DIR")]
    pub writable: Vec<PathBuf>,
    /// TCP port on this machine that steps may connect to; can be repeated
    #[arg(long = "open-port", value_name = "PORT")]
    pub open_ports: Vec<u16>,
}

/// The commands on runners.
#[derive(Debug, Subcommand)]
pub enum RunnerCommand {
    /// List runners, newest first
    List(PageArgs),
    /// Revoke a runner; its builds go to another runner
    Revoke {
        /// Id of the runner, as shown by `runner list`
        #[arg(value_name = "ID")]
        id: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Create a token that enrolls one runner of the organization
    Token,
}

fn label(text: &str) -> Result<String, String> {
    let known = is_label(text);
    known
        .then(|| text.to_owned())
        .ok_or_else(|| "must be name=value, such as xcode=26".to_owned())
}
