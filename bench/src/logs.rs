//! Measures the log of a build: what appending to it costs, and a search in it for several texts, beside `grep` over the same bytes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::ensure;
use bytes::Bytes;
use launchway_domain::id::OrgId;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::args::LogsArgs;
use crate::browser::Browser;
use crate::builds::{self, Queue};
use crate::figures::{Goal, Spread, mebibytes};
use crate::runner::Runner;
use crate::server::Server;
use crate::{child, owner, programs};

/// Bytes that a runner sends at a time.
const CHUNK: usize = 256 << 10;
/// A line of so many contains the frequent text.
const FREQUENT: u32 = 10;
/// The processor time of a search is at most so many times that of `grep`.
const CPU: f64 = 1.5;
/// Searches of a round: the system counts processor time in hundredths of a second.
const SEARCHES: u32 = 10;
/// The most lines that a search finds.
const MOST: u64 = 1_000;

/// A text to search for.
struct Wanted {
    what: &'static str,
    text: String,
    /// The lines that contain it.
    lines: u64,
}

/// What is searched.
struct Log {
    server: Server,
    /// The path of the page of the build.
    page: String,
    /// The same bytes.
    file: PathBuf,
}

/// Appends the log of a build, then searches in it and with `grep` in turn, and prints a line for each text.
///
/// # Errors
/// When the server does not start, or finds something else than there is.
pub fn run(args: &LogsArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let data = tempfile::tempdir()?;
    let database = format!("sqlite:{}", data.path().join("launchway.db").display());
    let queue = Queue {
        waiting: 0,
        claimed: 1,
        runners: 1,
    };
    let org = runtime.block_on(builds::fill(&database, &queue))?;
    let mut command = programs::serve(&program, data.path());
    command.args(["--no-runner", "--database-url", &database]);
    let server = Server::start(command)?;
    let log = append(&runtime, server, data.path(), org, args.lines)?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "Searches, {} rounds of {SEARCHES}, beside `grep`; milliseconds and ratios as min – median – max:",
        args.rounds
    )?;
    for wanted in wanted(args.lines) {
        search(&runtime, &log, &wanted, args.rounds)?;
    }
    Ok(())
}

/// A line of the log; its number is in it.
fn line(number: u32, lines: u32) -> String {
    let what = match number {
        number if number == lines / 2 => "Linker failed: undefined symbol",
        number if number.is_multiple_of(FREQUENT) => "Warning: deprecated call in",
        _ => "Compiling module",
    };
    let module = number % 997;
    format!("\u{1b}[32m[{number:>8}]\u{1b}[0m {what} app.module{module}.Component of com.example.app\n")
}

fn wanted(lines: u32) -> [Wanted; 5] {
    let wanted = |what, text: &str, lines| Wanted {
        what,
        text: text.to_owned(),
        lines,
    };
    // The groups of letters of a line's number are in several parts.
    let number = format!("[{:>8}]", lines / 3);
    let frequent = u64::from(lines.div_ceil(FREQUENT)) - u64::from((lines / 2).is_multiple_of(FREQUENT));
    [
        wanted("in one line", "undefined symbol", 1),
        wanted("in no line", "NullPointerException", 0),
        wanted("in every tenth line", "deprecated call", frequent),
        wanted("a number of a line", &number, 1),
        // There is no such module, but its groups of letters are in every part, so that all of them are read.
        wanted("almost in every line", "module999.component", 0),
    ]
}

/// Sends the log as a runner does, and prints what it costs.
fn append(runtime: &Runtime, server: Server, data: &Path, org: OrgId, lines: u32) -> anyhow::Result<Log> {
    let text: String = (0..lines).map(|number| line(number, lines)).collect();
    let file = data.join("build.log");
    fs::write(&file, &text)?;
    let bytes = Bytes::from(text);
    let started = Instant::now();
    let before = server.cpu()?;
    let build = runtime.block_on(async {
        let mut runner = Runner::connect(server.address, builds::token(0)).await?;
        let build = runner.claim().await?;
        for offset in (0..bytes.len()).step_by(CHUNK) {
            let chunk = bytes.slice(offset..bytes.len().min(offset + CHUNK));
            runner.append(&build, offset as u64, chunk).await?;
        }
        anyhow::Ok(build.id)
    })?;
    let (seconds, size) = (started.elapsed().as_secs_f64(), mebibytes(bytes.len() as u64));
    let cpu = (server.cpu()? - before).as_secs_f64();
    writeln!(
        std::io::stdout(),
        "A log of {lines} lines, {size:.0} MiB, appended in {seconds:.2} s: {:.0} MiB/s, {:.1} ms CPU of the server per MiB",
        size / seconds,
        cpu * 1e3 / size
    )?;
    let page = format!("/o/{org}/builds/{build}");
    Ok(Log { server, page, file })
}

/// Searches for a text in turn, and prints a line.
fn search(runtime: &Runtime, log: &Log, wanted: &Wanted, rounds: u32) -> anyhow::Result<()> {
    let (mut times, mut cpu, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let path = format!("{}/log/search?text={}", log.page, escaped(&wanted.text));
    runtime.block_on(async {
        let mut browser = Browser::open(log.server.address, &owner::cookie()).await?;
        for _ in 0..rounds {
            let (before, started) = (log.server.cpu()?, Instant::now());
            for _ in 0..SEARCHES {
                check(&browser.load(&path).await?.1, wanted)?;
            }
            let searches = f64::from(SEARCHES);
            times.push(started.elapsed().as_secs_f64() * 1e3 / searches);
            let ours = (log.server.cpu()? - before).as_secs_f64() / searches;
            let theirs = grep(&log.file, wanted)? / searches;
            cpu.push(ours * 1e3);
            ratios.push(ours / theirs);
        }
        anyhow::Ok(())
    })?;
    let ratio = match ratios.iter().all(|ratio| ratio.is_finite()) {
        true => {
            let ratios = Spread::of(ratios);
            let goal = Goal::AtMost(CPU).verdict(ratios.median);
            format!("CPU / grep {ratios:.2}   {goal}")
        }
        // Then the time of the search says more than a ratio.
        false => "grep takes no measurable time".to_owned(),
    };
    writeln!(
        std::io::stdout(),
        "{:<22} {:.1} ms, {:.1} ms CPU   {ratio}",
        wanted.what,
        Spread::of(times),
        Spread::of(cpu)
    )?;
    Ok(())
}

/// Checks that the answer of a search has the lines that there are.
fn check(answer: &[u8], wanted: &Wanted) -> anyhow::Result<()> {
    let found: Value = serde_json::from_slice(answer)?;
    let lines = found["lines"].as_array().map_or(0, Vec::len) as u64;
    let expected = wanted.lines.min(MOST);
    ensure!(lines == expected, "{}: found {lines} lines of {expected}", wanted.what);
    Ok(())
}

/// The processor seconds of as many searches with `grep`, which stop after as many lines.
fn grep(file: &Path, wanted: &Wanted) -> anyhow::Result<f64> {
    let most = (MOST + 1).to_string();
    let mut seconds = 0.0;
    for _ in 0..SEARCHES {
        let mut command = Command::new("sh");
        // It exits with 1 when there is no such line.
        let script = r#"grep --ignore-case --fixed-strings --line-number --max-count="$1" -e "$2" "$3" || test $? = 1"#;
        command
            .env_clear()
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin");
        command.args(["-c", script, "sh", &most, &wanted.text]).arg(file);
        seconds += child::run(&mut command)?.as_secs_f64();
    }
    Ok(seconds)
}

fn escaped(text: &str) -> String {
    text.replace(' ', "%20").replace('[', "%5B").replace(']', "%5D")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_contain_the_texts_as_often_as_expected() {
        for lines in [30, 1_000, 1_005] {
            let log: Vec<String> = (0..lines).map(|number| line(number, lines)).collect();
            for wanted in wanted(lines) {
                let found = log.iter().filter(|line| line.contains(&wanted.text)).count();
                assert_eq!(found as u64, wanted.lines, "{} in {lines}", wanted.what);
            }
        }
    }
}
