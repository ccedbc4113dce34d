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
The first time it enrols with a token that works once: from LAUNCHWAY_RUNNER_TOKEN, from standard input, or asked for.
Admins make such tokens with `launchway runner token`, operators with `launchway-server admin create-runner-token`.
Later it needs neither token nor --url.

SIGTERM or Ctrl-C lets the builds that run come to their end; the second stops them.

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
    /// What people call it; the machine's name unless told. It counts when the runner enrols
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// What the machine has, besides what is found by itself (os, arch, xcode, java, node); can be repeated
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label)]
    pub labels: Vec<String>,
    /// Builds at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub slots: u32,
    /// Where builds, caches and the runner's own token are; /var/lib/launchway-runner for root, below ~/.local/share for
    /// others unless told
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// PATH of the steps of builds; the system's own unless told
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Directory that steps may read besides the system's own, such as a toolchain; can be repeated
    #[arg(long, value_name = "DIR")]
    pub readable: Vec<PathBuf>,
    /// Directory that steps may change besides their workspace; can be repeated
    #[arg(long, value_name = "DIR")]
    pub writable: Vec<PathBuf>,
    /// TCP port that steps may connect to though a server of this machine listens there; can be repeated
    #[arg(long = "open-port", value_name = "PORT")]
    pub open_ports: Vec<u16>,
}

/// The commands on runners.
#[derive(Debug, Subcommand)]
pub enum RunnerCommand {
    /// List runners, newest first
    List(PageArgs),
    /// Refuse a runner from now on; what it builds goes to another
    Revoke {
        /// Id of the runner, as `runner list` shows it
        #[arg(value_name = "ID")]
        id: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Make a token that enrols one runner of the organization
    Token,
}

fn label(text: &str) -> Result<String, String> {
    let known = is_label(text);
    known
        .then(|| text.to_owned())
        .ok_or_else(|| "it must be name=value, such as xcode=26".to_owned())
}
