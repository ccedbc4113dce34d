//! The arguments of `build <platform>`, which starts a build and follows it.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;

use crate::args::publish::{build_number, version};

/// What to build, from what, and how to wait.
#[derive(Args, Debug)]
pub struct StartArgs {
    /// How to build it.
    #[command(flatten)]
    pub profile: ProfileArgs,
    /// Priority in the queue, -100 to 100; higher goes first
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true,
        value_parser = clap::value_parser!(i64).range(-100..=100), help_heading = "What to build")]
    pub priority: Option<i64>,
    /// Git repository to build, instead of the current folder
    #[arg(
        long,
        value_name = "URL",
        requires = "reference",
        help_heading = "Where the source comes from"
    )]
    pub git: Option<String>,
    /// Branch, tag or full commit id in the repository
    #[arg(
        long = "ref",
        id = "reference",
        value_name = "REF",
        requires = "git",
        help_heading = "Where the source comes from"
    )]
    pub reference: Option<String>,
    /// Directory of the project in the repository [default: that of the current folder in its clone, or the root]
    #[arg(
        long,
        value_name = "DIR",
        requires = "git",
        help_heading = "Where the source comes from"
    )]
    pub directory: Option<String>,
    /// Print the plan, and build nothing
    #[arg(long, conflicts_with_all = ["git", "local"], help_heading = "Where it is built")]
    pub plan_only: bool,
    /// Build on this machine, without a server
    #[arg(long, conflicts_with_all = ["git", "priority", "no_wait", "timeout", "cancel_on_interrupt", "download"], help_heading = "Where it is built")]
    pub local: bool,
    /// With --local: directory for the artifacts
    #[arg(
        long,
        value_name = "DIR",
        requires = "local",
        default_value = "launchway-out",
        help_heading = "Where it is built"
    )]
    pub out: PathBuf,
    /// With --local: file of NAME=VALUE lines, the environment variables of the steps
    #[arg(long, value_name = "FILE", requires = "local", help_heading = "Where it is built")]
    pub env_file: Option<PathBuf>,
    /// How to wait.
    #[command(flatten)]
    pub follow: FollowArgs,
}

/// How to build.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What to build")]
pub struct ProfileArgs {
    /// Profile of launchway.toml [default: production, or the only one]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// App to build, such as com.example.app [default: the native project's]
    #[arg(long, value_name = "ID")]
    pub bundle_id: Option<BundleId>,
    /// Configuration, which selects environment variables [default: the profile's]
    #[arg(long, value_name = "NAME")]
    pub configuration: Option<Configuration>,
    /// Type of build: debug for developers, release for users [default: the profile's, or release]
    #[arg(long, value_name = "TYPE", value_parser = build_types())]
    pub build_type: Option<BuildType>,
    /// How the app is distributed [default: the profile's, or store]
    #[arg(long, value_name = "WAY", value_parser = distributions())]
    pub distribution: Option<Distribution>,
    /// Version of the app [default: the native project's]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    pub version: Option<String>,
    /// Build number of the app, or auto for the next free number [default: the native project's]
    #[arg(long, value_name = "NUMBER|auto", value_parser = build_number)]
    pub build_number: Option<String>,
}

/// How to wait for a build.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Waiting")]
pub struct FollowArgs {
    /// Do not wait for the build
    #[arg(long, conflicts_with_all = ["timeout", "cancel_on_interrupt", "download"])]
    pub no_wait: bool,
    /// Maximum time to wait, such as 90s, 30m or 2h; the build continues
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Cancel the build if the wait is interrupted
    #[arg(long)]
    pub cancel_on_interrupt: bool,
    /// Download the artifacts, into this directory or the current one
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    pub download: Option<PathBuf>,
}

fn build_types() -> impl TypedValueParser<Value = BuildType> {
    let words = BuildType::ALL.iter().map(|word| word.as_str());
    PossibleValuesParser::new(words).try_map(|word| word.parse::<BuildType>())
}

fn distributions() -> impl TypedValueParser<Value = Distribution> {
    let words = Distribution::ALL.iter().map(|word| word.as_str());
    PossibleValuesParser::new(words).try_map(|word| word.parse::<Distribution>())
}

/// Parses `90s`, `30m`, `2h`; a bare number is in seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => 0,
    };
    let seconds = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match seconds {
        Some(seconds @ 1..=8_640_000) => Ok(Duration::from_secs(seconds)),
        _ => Err("must be a duration such as 90s, 30m or 2h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), ("2h", 7200), ("45", 45)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "0", "m", "1d", "-1s", "1.5h", "99999999999h", "1hm"] {
            duration(text).expect_err(text);
        }
    }
}
