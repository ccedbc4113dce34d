//! The arguments of `build`, which starts a build unless a subcommand is named.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use launchway_domain::build::BuildStatus;
use launchway_domain::platform::Platform;

use crate::args::publish::platforms;
use crate::args::resource::PageArgs;
use crate::args::start::{FollowArgs, ProfileArgs, StartArgs};

/// The arguments of `build`.
#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    subcommand_negates_reqs = true,
    subcommand_help_heading = "Commands on builds",
    override_usage = "launchway build <PLATFORM> [OPTIONS]\n       launchway build <COMMAND>",
    after_help = "\
Packs the project's folder, except for what .gitignore and .launchwayignore exclude, and follows the build to its end.

Examples:
  launchway build android --profile production --build-number auto --download
  launchway build ios --git https://git.example.com/app.git --ref v1.4.0 --no-wait
  launchway build android --local
  launchway build list --status running

Exit codes of the build:
  11   the build failed
  12   the build was canceled
  13   the build timed out, or did not end within --timeout
  130  interrupted; the build continues"
)]
pub struct BuildArgs {
    /// Platform to build for
    #[arg(value_name = "PLATFORM", required = true, value_parser = platforms())]
    pub platform: Option<Platform>,
    /// What to build; without effect when a command is given.
    #[command(flatten)]
    pub start: StartArgs,
    /// What to do with builds.
    #[command(subcommand)]
    pub command: Option<BuildCommand>,
}

/// The commands on builds.
#[derive(Debug, Subcommand)]
pub enum BuildCommand {
    /// List builds, newest first
    List(BuildListArgs),
    /// Show one build, its phases and artifacts
    Show(BuildIdArgs),
    /// Stop a build
    Cancel(BuildIdArgs),
    /// Repeat a build, and follow it
    Retry {
        /// Which build
        #[command(flatten)]
        build: BuildIdArgs,
        /// How to wait
        #[command(flatten)]
        follow: FollowArgs,
    },
    /// Delete a build with its log and artifacts; a running build is stopped
    Delete {
        /// Which build
        #[command(flatten)]
        build: BuildIdArgs,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Download the artifacts of a build
    Download(DownloadArgs),
    /// Print the log of a build
    Logs(LogsArgs),
    /// Print what a build does, step by step
    Plan(PlanArgs),
}

/// One build.
#[derive(Args, Debug)]
pub struct BuildIdArgs {
    /// Id of the build, as shown by `build list`
    #[arg(value_name = "ID")]
    pub id: String,
}

/// The arguments of `build list`.
#[derive(Args, Debug)]
pub struct BuildListArgs {
    /// Only with this status
    #[arg(long, value_name = "STATUS", value_parser = statuses())]
    pub status: Option<String>,
    /// Only for this platform
    #[arg(long, value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Option<Platform>,
    /// Only of this app
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<String>,
    /// Only of this configuration
    #[arg(long, value_name = "NAME")]
    pub configuration: Option<String>,
    /// Only of this branch
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Which page.
    #[command(flatten)]
    pub page: PageArgs,
}

/// The arguments of `build download`.
#[derive(Args, Debug)]
pub struct DownloadArgs {
    /// Which build
    #[command(flatten)]
    pub build: BuildIdArgs,
    /// Only artifacts with this name, kind or id; can be repeated
    #[arg(long = "artifact", value_name = "NAME")]
    pub artifacts: Vec<String>,
    /// Directory to save them in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: std::path::PathBuf,
}

/// The arguments of `build logs`.
#[derive(Args, Debug)]
#[command(after_help = "\
With --follow, the exit code is that of the build. With --json as well, each line is {\"event\": …, \"data\": …}:
`log`, `build` when the status or phase changes, and `end`.")]
pub struct LogsArgs {
    /// Which build
    #[command(flatten)]
    pub build: BuildIdArgs,
    /// Continue until the build ends
    #[arg(short, long)]
    pub follow: bool,
    /// Bytes of the log to skip
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub offset: u64,
}

/// The arguments of `build plan`.
#[derive(Args, Debug)]
#[command(override_usage = "launchway build plan <ID>\n       launchway build plan --local <PLATFORM> [OPTIONS]")]
pub struct PlanArgs {
    /// Id of the build
    #[arg(value_name = "ID", required_unless_present = "local", conflicts_with = "local")]
    pub id: Option<String>,
    /// Show the plan of the project here for this platform
    #[arg(long, value_name = "PLATFORM", value_parser = platforms())]
    pub local: Option<Platform>,
    /// How to build it
    #[command(flatten)]
    pub profile: ProfileArgs,
}

fn statuses() -> PossibleValuesParser {
    PossibleValuesParser::new(BuildStatus::ALL.iter().map(|word| word.as_str()))
}
