//! `launchway-bench`: measures the service on this machine (see bench/README.md). Never part of a test run.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod all;
mod args;
mod bare;
mod browser;
mod builds;
mod bundles;
mod check;
mod child;
mod contestant;
mod cores;
mod figures;
mod folded;
mod foreign;
mod http_client;
mod lists;
mod load;
mod logs;
mod owner;
mod pack;
mod package;
mod pages;
mod peer;
mod programs;
mod project;
mod publish;
mod publisher;
mod questions;
mod queue;
mod releases;
mod roots;
mod runner;
mod server;
mod shares;
mod start;
mod steady;
mod submissions;
mod trust;
mod twin;
mod webhooks;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};

/// The twin uses the same allocator as the service.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Check(args) => check::run(&args),
        Command::Start(args) => start::run(&args),
        Command::Queue(args) => queue::run(&args),
        Command::Shares(args) => shares::run(&args),
        Command::Pages(args) => pages::run(&args),
        Command::Lists(args) => lists::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Publish(args) => publish::run(&args),
        Command::Pack(args) => pack::run(&args),
        Command::Logs(args) => logs::run(&args),
        Command::Webhooks(args) => webhooks::run(&args),
        Command::Submissions(args) => submissions::run(&args),
        Command::Steady(args) => steady::run(&args),
        Command::Foreign(args) => foreign::run(&args),
        Command::All(args) => all::run(args),
        Command::Copy(args) => publish::copy_file(&args.from, &args.to),
        Command::Compress(args) => pack::compress(&args),
        Command::Twin(args) => twin::run(&args),
        Command::Bare(args) => bare::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is gone too, the error cannot be reported.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
