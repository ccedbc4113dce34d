//! The command line of `launchway-bench`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::peer::Peer;

/// Measures launchway-server on this machine and prints tables. Writes nothing but temporary files, and talks only to
/// processes on 127.0.0.1, which it starts itself unless you name one.
#[derive(Debug, Parser)]
#[command(name = "launchway-bench", version)]
pub struct Args {
    /// What to measure.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be measured.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The public check against a static twin: CPU per request, throughput, p50, p99, memory
    Check(CheckArgs),
    /// Starting with many bundles: time until the server listens, and memory per bundle
    Start(StartArgs),
    /// The queue of builds: what a claim and a renewal cost as it grows, with many runners at once
    Queue(QueueArgs),
    /// The queries of the queue when many builds of many organizations wait
    Shares(SharesArgs),
    /// The pages of the dashboard: time until the first byte, and bytes of the first load
    Pages(PagesArgs),
    /// Lists over the API: time and CPU of a page as the list grows
    Lists(ListsArgs),
    /// Signed updates: checks and metadata in bytes and CPU, memory of apps with a root, verification on a phone
    Trust(TrustArgs),
    /// Publishing: CPU, memory and time of an upload and its publication, beside reading, hashing and writing the same bytes
    Publish(PublishArgs),
    /// The command line on projects of many files: CPU and time beside `tar` and `sha256sum`
    Pack(PackArgs),
    /// The log of a build: appending to it, and searching in it beside `grep`
    Logs(LogsArgs),
    /// Webhooks: deliveries a second, and the lag of an event, with one receiver and with many
    Webhooks(WebhooksArgs),
    /// Submissions to a simulated Google Play: transitions a second, and their CPU as more submissions wait
    Submissions(SubmissionsArgs),
    /// Checks at half of the highest rate, for minutes, and while updates are published: latency, memory
    Steady(SteadyArgs),
    /// The checks of other services' clients beside our own: CPU per request
    Foreign(ForeignArgs),
    /// Everything, with fewer rounds where one takes long
    All(AllArgs),
    /// Read, hash and write a file (started by `publish`)
    #[command(hide = true)]
    Copy(CopyArgs),
    /// Compress standard input (started by `pack`)
    #[command(hide = true)]
    Compress(CompressArgs),
    /// Serve the static twin (started by `check`)
    #[command(hide = true)]
    Twin(TwinArgs),
    /// Serve the same body from a loop of system calls (started by `check`)
    #[command(hide = true)]
    Bare(TwinArgs),
}

/// How the check is measured.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// How many bundles the database holds, each with three updates; one table for each number
    #[arg(long, value_delimiter = ',', default_values_t = [10, 1_000_000], value_name = "N,…",
          value_parser = clap::value_parser!(u32).range(1..=1_400_000_000))]
    pub bundles: Vec<u32>,
    /// Rounds; in each one every server has a turn
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// Requests of a turn
    #[arg(long, default_value_t = 150_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub requests: u32,
    /// Keep-alive connections, each with one request in flight
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub connections: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
    /// The nginx beside it [default: that of the system, if there is one]
    #[arg(long, value_name = "PROGRAM")]
    pub nginx: Option<PathBuf>,
}

/// How starting is measured.
#[derive(Debug, clap::Args)]
pub struct StartArgs {
    /// How many bundles the database holds, each with three updates; one line for each number
    #[arg(long, value_delimiter = ',', default_values_t = [10, 100_000], value_name = "N,…",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub bundles: Vec<u32>,
    /// Starts per number of bundles
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub starts: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
}

/// How the queue is measured.
#[derive(Debug, clap::Args)]
pub struct QueueArgs {
    /// How many builds wait beside those that are claimed; one line for each number, ratios to the first
    #[arg(long, value_delimiter = ',', default_values_t = [100, 100_000, 200_000], value_name = "N,…",
          value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub queued: Vec<u32>,
    /// Runners, each with a connection of its own
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub runners: u32,
    /// Builds that all runners together claim, and renew once each
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub claims: u32,
    /// An empty PostgreSQL database to measure on, with one number in `--queued` [default: SQLite]
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
}

/// How the queries of the queue are measured.
#[derive(Debug, clap::Args)]
pub struct SharesArgs {
    /// Builds that wait
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub builds: u32,
    /// Organizations that share half of the builds; the other half belongs to one more
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub orgs: u32,
    /// How often each query runs
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// An empty PostgreSQL database to measure on [default: SQLite]
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
}

/// How the pages are measured.
#[derive(Debug, clap::Args)]
pub struct PagesArgs {
    /// Builds in the database
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub builds: u32,
    /// How often each page is loaded
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
}

/// How lists are measured.
#[derive(Debug, clap::Args)]
pub struct ListsArgs {
    /// How many builds the list has; ratios to the first number
    #[arg(long, value_delimiter = ',', default_values_t = [100, 100_000], value_name = "N,…",
          value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub builds: Vec<u32>,
    /// How often each page is read
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
}

/// How signed updates are measured.
#[derive(Debug, clap::Args)]
pub struct TrustArgs {
    /// Apps in the database, each with three updates
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub apps: u32,
    /// Rounds of each kind of request and of each computation
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// Requests of a round
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub requests: u32,
    /// Keep-alive connections, each with one request in flight
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub connections: u32,
    /// The size of the package that is verified, in MiB
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub package_mebibytes: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
}

/// How publishing is measured.
#[derive(Debug, clap::Args)]
pub struct PublishArgs {
    /// The size of the package, in MiB
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub package_mebibytes: u32,
    /// Publications
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
}

/// How packing is measured.
#[derive(Debug, clap::Args)]
pub struct PackArgs {
    /// Files of the project that is fingerprinted and built
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=400_000))]
    pub files: u32,
    /// Files of the update; a server accepts up to 20,000
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub update_files: u32,
    /// Rounds; in each one every program has a turn
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// The launchway-server that receives it [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
    /// The launchway to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub cli: Option<PathBuf>,
}

/// How the log of a build is measured.
#[derive(Debug, clap::Args)]
pub struct LogsArgs {
    /// Lines of the log
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(30..=10_000_000))]
    pub lines: u32,
    /// Rounds of each search
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
}

/// How webhooks are measured.
#[derive(Debug, clap::Args)]
pub struct WebhooksArgs {
    /// Receivers; one line for each number. An organization has up to 50
    #[arg(long, value_delimiter = ',', default_values_t = [1, 50], value_name = "N,…",
          value_parser = clap::value_parser!(u32).range(1..=50))]
    pub receivers: Vec<u32>,
    /// Deliveries of the backlog
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(50..=1_000_000))]
    pub deliveries: u32,
    /// Events a second, of which the lag is measured
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rate: u32,
    /// For how many seconds
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub seconds: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
}

/// How submissions are measured.
#[derive(Debug, clap::Args)]
pub struct SubmissionsArgs {
    /// Submissions that wait; one line for each number
    #[arg(long, value_delimiter = ',', default_values_t = [100, 10_000], value_name = "N,…",
          value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub waiting: Vec<u32>,
    /// Submissions that are taken to their end
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub ended: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
}

/// How a steady load is measured.
#[derive(Debug, clap::Args)]
pub struct SteadyArgs {
    /// How many bundles the database holds, each with three updates
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub bundles: u32,
    /// Minutes of load without a pause, after the comparison
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub minutes: u32,
    /// Updates that are published each second during the comparison
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub published: u32,
    /// Rounds of the comparison, each ten seconds without publications and ten with them
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
}

/// How the checks of other services' clients are measured.
#[derive(Debug, clap::Args)]
pub struct ForeignArgs {
    /// Apps of each protocol, each with 20 releases
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub apps: u32,
    /// Rounds; in each one every client has a turn
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// Requests of a turn
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub requests: u32,
    /// Keep-alive connections, each with one request in flight
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub connections: u32,
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
    /// Another service's server that runs on this machine, and a check that it answers with JSON; repeat it for more
    #[arg(long, value_name = "NAME=PID,URL")]
    pub peer: Vec<Peer>,
}

/// What is measured of everything.
#[derive(Debug, clap::Args)]
pub struct AllArgs {
    /// The launchway-server to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub server: Option<PathBuf>,
    /// The launchway to measure [default: built now, beside this program]
    #[arg(long, value_name = "PROGRAM")]
    pub cli: Option<PathBuf>,
}

/// The files of a copy.
#[derive(Debug, clap::Args)]
pub struct CopyArgs {
    /// What is read
    pub from: PathBuf,
    /// What is written
    pub to: PathBuf,
}

/// The form of compressed bytes.
#[derive(Debug, clap::Args)]
pub struct CompressArgs {
    /// As builds or as updates are compressed
    #[arg(value_parser = ["zstandard", "deflate"])]
    pub form: String,
}

/// The response of the twin.
#[derive(Debug, clap::Args)]
pub struct TwinArgs {
    /// Bytes of the only response body
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub body_bytes: u32,
}
