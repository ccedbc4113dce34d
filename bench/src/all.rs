//! Runs every benchmark in turn, within half an hour.

use std::io::Write;

use clap::Parser;

use crate::args::{AllArgs, Args, Command};
use crate::cores::AllowedCores;
use crate::{
    check, foreign, lists, logs, pack, pages, programs, publish, queue, shares, start, steady, submissions, trust,
    webhooks,
};

/// The benchmarks, each with its arguments.
const RUNS: [&[&str]; 14] = [
    &["check", "--rounds", "5"],
    &["start", "--starts", "3", "--bundles", "100000,1000000"],
    &["steady", "--rounds", "3"],
    &["publish"],
    &["pack"],
    &["queue"],
    &["shares"],
    &["lists"],
    &["logs"],
    &["webhooks"],
    &["submissions"],
    &["pages"],
    &["trust"],
    &["foreign"],
];

/// Runs them all on the same server and prints a heading for each.
///
/// # Errors
/// The first error of any.
pub fn run(all: AllArgs) -> anyhow::Result<()> {
    // Both are built before anything is measured.
    let server = programs::server(all.server.as_deref())?;
    let cli = programs::cli(all.cli.as_deref())?;
    let cores = AllowedCores::find()?;
    for run in RUNS {
        // Some benchmarks keep to one core.
        cores.restore()?;
        writeln!(std::io::stdout(), "\n== {}", run.join(" "))?;
        let words = std::iter::once("launchway-bench").chain(run.iter().copied());
        let args = Args::try_parse_from(words)?;
        let server = Some(server.clone());
        match args.command {
            Command::Check(args) => check::run(&crate::args::CheckArgs { server, ..args }),
            Command::Start(args) => start::run(&crate::args::StartArgs { server, ..args }),
            Command::Steady(args) => steady::run(&crate::args::SteadyArgs { server, ..args }),
            Command::Publish(args) => publish::run(&crate::args::PublishArgs { server, ..args }),
            Command::Pack(args) => pack::run(&crate::args::PackArgs {
                server,
                cli: Some(cli.clone()),
                ..args
            }),
            Command::Queue(args) => queue::run(&crate::args::QueueArgs { server, ..args }),
            Command::Shares(args) => shares::run(&args),
            Command::Logs(args) => logs::run(&crate::args::LogsArgs { server, ..args }),
            Command::Webhooks(args) => webhooks::run(&crate::args::WebhooksArgs { server, ..args }),
            Command::Submissions(args) => submissions::run(&crate::args::SubmissionsArgs { server, ..args }),
            Command::Lists(args) => lists::run(&crate::args::ListsArgs { server, ..args }),
            Command::Pages(args) => pages::run(&crate::args::PagesArgs { server, ..args }),
            Command::Trust(args) => trust::run(&crate::args::TrustArgs { server, ..args }),
            Command::Foreign(args) => foreign::run(&crate::args::ForeignArgs { server, ..args }),
            Command::All(_) | Command::Twin(_) | Command::Bare(_) | Command::Copy(_) | Command::Compress(_) => Ok(()),
        }?;
    }
    Ok(())
}
