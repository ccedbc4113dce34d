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
Destination, groups and release notes come from [submit.<profile>.<platform>] in launchway.toml; flags take precedence.
Waits until the store has accepted and processed the app; with --wait live, until users have it.

Examples:
  launchway submit android --latest --destination internal
  launchway submit android --latest --destination production --rollout 20 --wait live
  launchway submit ios --path App.ipa --destination testflight --group Friends --release-notes @notes.txt
  launchway submit list --status in_review

Exit codes of the submission:
  11   the submission failed or was rejected
  12   the submission was canceled
  13   the submission did not get that far within --timeout
  130  interrupted; the submission continues"
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
    /// Latest successful build of the app with distribution store
    #[arg(long, conflicts_with_all = ["id", "path"])]
    pub latest: bool,
    /// Build with this id
    #[arg(long, value_name = "BUILD", conflicts_with = "path")]
    pub id: Option<String>,
    /// App file: an .ipa, .aab or .apk
    #[arg(long, value_name = "FILE")]
    pub path: Option<PathBuf>,
    /// With --latest: the app, such as com.example.app [default: the native project's]
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
    /// Mapping file of an Android app's code, for crash reports (ProGuard, R8)
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
    /// Profile of launchway.toml [default: production, or the only one]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// App Store: testflight or app_store. Google Play: internal, alpha, beta, production or another track
    #[arg(long, value_name = "NAME")]
    pub destination: Option<String>,
    /// Percentage of users who get it first; below 100, the App Store does a phased release over seven days
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub rollout: Option<u8>,
    /// TestFlight group that gets it; can be repeated
    #[arg(long = "group", value_name = "NAME")]
    pub groups: Vec<String>,
    /// Release notes, or what to test; @FILE reads them from a file
    #[arg(long, value_name = "TEXT")]
    pub release_notes: Option<String>,
    /// Language of the release notes
    #[arg(long, value_name = "LOCALE", default_value = "en-US", requires = "release_notes")]
    pub locale: String,
    /// Credential for the app store [default: the only one that fits]
    #[arg(long, value_name = "ID")]
    pub credential: Option<String>,
    /// Whether the app uses non-exempt encryption, if its Info.plist does not say
    #[arg(long, value_name = "BOOL")]
    pub uses_non_exempt_encryption: Option<bool>,
    /// App Store: hold the approved version until `submit resume`
    #[arg(long)]
    pub manual_release: bool,
    /// Google Play: create the release as a draft
    #[arg(long)]
    pub draft: bool,
    /// Google Play: in-app update priority, 0 to 5
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(0..=5))]
    pub priority: Option<u8>,
    /// Google Play: country of a staged release in production, as a two-letter code; can be repeated
    #[arg(long = "country", value_name = "CODE")]
    pub countries: Vec<String>,
    /// Google Play: name of the release
    #[arg(long, value_name = "NAME")]
    pub release_name: Option<String>,
    /// Google Play: leave it in the Play Console to be sent for review manually
    #[arg(long)]
    pub changes_not_sent_for_review: bool,
}

/// How to wait for a submission.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Waiting")]
pub struct WaitArgs {
    /// State to wait for
    #[arg(long, value_name = "UNTIL", default_value = "processed")]
    pub wait: Until,
    /// Do not wait for the submission
    #[arg(long, conflicts_with_all = ["wait", "timeout"])]
    pub no_wait: bool,
    /// Maximum time to wait, such as 90s, 30m or 2h; the submission continues
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
}

/// State to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Until {
    /// The store has accepted and processed the app
    Processed,
    /// All or some users have it
    Live,
}

/// The commands on submissions.
#[derive(Debug, Subcommand)]
pub enum SubmitCommand {
    /// List submissions, newest first
    List(SubmissionListArgs),
    /// Show one submission
    Show(SubmissionIdArgs),
    /// Print the events of a submission
    Logs {
        /// Which submission
        #[command(flatten)]
        submission: SubmissionIdArgs,
        /// Continue until the submission ends
        #[arg(short, long)]
        follow: bool,
    },
    /// Change the percentage of users who get a released version
    Rollout {
        /// Which submission
        #[command(flatten)]
        submission: SubmissionIdArgs,
        /// Percentage of users, 1 to 100; a phased release in the App Store takes only 100
        #[arg(value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
        percent: u8,
    },
    /// Halt a rollout: no more users get the version
    Halt(SubmissionIdArgs),
    /// Resume a halted rollout, or release a version that was held
    Resume(SubmissionIdArgs),
    /// Retry a failed or rejected submission, and wait for it
    Retry {
        /// Which submission
        #[command(flatten)]
        submission: SubmissionIdArgs,
        /// How to wait
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// Cancel a submission, if the store still allows it
    Cancel(SubmissionIdArgs),
    /// Cancel a submission if possible, and delete its record
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
    /// Id of the submission, as shown by `submit list`
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
