//! The arguments of `submit`, which submits an app unless a subcommand is named.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_domain::submission::SubmissionStatus;

use crate::args::publish::platforms;
use crate::args::resource::PageArgs;
use crate::args::start::duration;

/// The arguments of `submit`.
#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    subcommand_negates_reqs = true,
    subcommand_help_heading = "Commands on submissions",
    override_usage = "launchway submit <PLATFORM> (--latest | --id <BUILD> | --path <FILE>) [OPTIONS]\n       \
                      launchway submit <COMMAND>",
    after_help = "\
Where it goes, to whom and what is new comes from [submit.<profile>.<platform>] of launchway.toml; flags win.
It waits until the store has taken and processed the app; with --wait live until users have it.

Examples:
  launchway submit android --latest --destination internal
  launchway submit android --latest --destination production --rollout 20 --wait live
  launchway submit ios --path App.ipa --destination testflight --group Friends --release-notes @notes.txt
  launchway submit list --status in_review

Exit codes of what is waited for:
  11   the submission failed or was rejected
  12   it was canceled
  13   it was not so far within --timeout
  130  interrupted; the submission goes on"
)]
pub struct SubmitArgs {
    /// Platform of the app
    #[arg(value_name = "PLATFORM", required = true, value_parser = platforms())]
    pub platform: Option<Platform>,
    /// What to submit.
    #[command(flatten)]
    pub app: AppArgs,
    /// Where it goes.
    #[command(flatten)]
    pub target: TargetArgs,
    /// How to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// What to do with submissions.
    #[command(subcommand)]
    pub command: Option<SubmitCommand>,
}

/// What to submit. One of the first three.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What to submit")]
pub struct AppArgs {
    /// The latest successful build of the app that is made for a store
    #[arg(long, conflicts_with_all = ["id", "path"])]
    pub latest: bool,
    /// This build
    #[arg(long, value_name = "BUILD", conflicts_with = "path")]
    pub id: Option<String>,
    /// This file: an .ipa, .aab or .apk
    #[arg(long, value_name = "FILE")]
    pub path: Option<PathBuf>,
    /// With --latest: the app, such as com.example.app; the native project's unless told
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
    /// File that maps the names of an Android app's code back, for crash reports (ProGuard, R8)
    #[arg(long, value_name = "FILE")]
    pub mapping: Option<PathBuf>,
    /// ZIP with the symbols of an Android app's native code, for crash reports
    #[arg(long, value_name = "ZIP")]
    pub native_symbols: Option<PathBuf>,
}

/// Where it goes, to whom, and what is said about it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Where it goes")]
pub struct TargetArgs {
    /// Profile of launchway.toml; production, or the only one, unless told
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// testflight or app_store; internal, alpha, beta, production or another track of Google Play
    #[arg(long, value_name = "NAME")]
    pub destination: Option<String>,
    /// Percent of the users who get it at first; in the App Store anything below 100 is a phased release of seven days
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub rollout: Option<u8>,
    /// Group of TestFlight's testers that gets it; can be repeated
    #[arg(long = "group", value_name = "NAME")]
    pub groups: Vec<String>,
    /// What is new, or what to test; @FILE reads it from a file
    #[arg(long, value_name = "TEXT")]
    pub release_notes: Option<String>,
    /// Language of the release notes
    #[arg(long, value_name = "LOCALE", default_value = "en-US", requires = "release_notes")]
    pub locale: String,
    /// Credential that the store knows; the only one that fits unless told
    #[arg(long, value_name = "ID")]
    pub credential: Option<String>,
    /// Whether the app has cryptography that needs papers, where its Info.plist does not say
    #[arg(long, value_name = "BOOL")]
    pub uses_non_exempt_encryption: Option<bool>,
    /// App Store: hold the approved version back until `submit resume`
    #[arg(long)]
    pub manual_release: bool,
    /// Google Play: only draft the release
    #[arg(long)]
    pub draft: bool,
    /// Google Play: how urgently apps ask for the update, 0 to 5
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(0..=5))]
    pub priority: Option<u8>,
    /// Google Play: country of a staged release in production, as two letters; can be repeated
    #[arg(long = "country", value_name = "CODE")]
    pub countries: Vec<String>,
    /// Google Play: name of the release
    #[arg(long, value_name = "NAME")]
    pub release_name: Option<String>,
    /// Google Play: leave it in the Play Console until somebody sends it for review
    #[arg(long)]
    pub changes_not_sent_for_review: bool,
}

/// How to wait for a submission.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Waiting")]
pub struct WaitArgs {
    /// Until when to wait
    #[arg(long, value_name = "UNTIL", default_value = "processed")]
    pub wait: Until,
    /// Do not wait for the submission
    #[arg(long, conflicts_with_all = ["wait", "timeout"])]
    pub no_wait: bool,
    /// Wait no longer than this, such as 90s, 30m or 2h; the submission goes on
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
}

/// Until when to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Until {
    /// The store has taken and processed the app
    Processed,
    /// Users have it, or a share of them
    Live,
}

/// The commands on submissions.
#[derive(Debug, Subcommand)]
pub enum SubmitCommand {
    /// List submissions, newest first
    List(SubmissionListArgs),
    /// Show one submission
    Show(SubmissionIdArgs),
    /// Print what happened to a submission
    Logs {
        /// Which submission
        #[command(flatten)]
        submission: SubmissionIdArgs,
        /// Go on until the submission is over
        #[arg(short, long)]
        follow: bool,
    },
    /// Change the percent of the users who get a released version
    Rollout {
        /// Which submission
        #[command(flatten)]
        submission: SubmissionIdArgs,
        /// Percent of the users, 1 to 100; the App Store's phased release takes 100 only
        #[arg(value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
        percent: u8,
    },
    /// Stop a rollout for now: nobody else gets the version
    Halt(SubmissionIdArgs),
    /// Go on with a halted rollout, or release a version that was held back
    Resume(SubmissionIdArgs),
    /// Go on with a failed or rejected submission, and wait for it
    Retry {
        /// Which submission
        #[command(flatten)]
        submission: SubmissionIdArgs,
        /// How to wait
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// Stop a submission, where the store still allows it
    Cancel(SubmissionIdArgs),
    /// Stop a submission if it can be, and remove its record
    Delete {
        /// Which submission
        #[command(flatten)]
        submission: SubmissionIdArgs,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

/// One submission.
#[derive(Args, Debug)]
pub struct SubmissionIdArgs {
    /// Id of the submission, as `submit list` shows it
    #[arg(value_name = "ID")]
    pub id: String,
}

/// The arguments of `submit list`.
#[derive(Args, Debug)]
pub struct SubmissionListArgs {
    /// Only with this status
    #[arg(long, value_name = "STATUS", value_parser = statuses())]
    pub status: Option<String>,
    /// Only for this platform
    #[arg(long, value_name = "PLATFORM", value_parser = platforms())]
    pub platform: Option<Platform>,
    /// Only of this app
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<String>,
    /// Only of this build
    #[arg(long, value_name = "ID")]
    pub build: Option<String>,
    /// Which page.
    #[command(flatten)]
    pub page: PageArgs,
}

fn statuses() -> PossibleValuesParser {
    PossibleValuesParser::new(SubmissionStatus::ALL.iter().map(|word| word.as_str()))
}
