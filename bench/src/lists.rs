//! Measures lists over the API: what a page of a list costs when there are many rows, beside the same page when there are few.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::ensure;
use serde_json::Value;

use crate::args::ListsArgs;
use crate::figures::{Goal, Spread};
use crate::pages::history;
use crate::publisher::{Publisher, create_key_of};
use crate::server::Server;
use crate::{folded, programs};

/// A page of a long list costs at most so many times what it costs of a short one.
const RATIO: f64 = 1.5;
/// Rows of a page. The shortest list has as many.
const PAGE: usize = 100;
/// The lists, of which each has all builds.
const LISTS: [&str; 4] = [
    "/api/build?limit=100",
    "/api/build?limit=100&platform=android",
    "/api/build?limit=100&branch=main",
    "/api/build?limit=100&bundleId=com.example.history",
];

/// Milliseconds and processor milliseconds of a page of each list.
type Times = Vec<(f64, f64)>;

/// Measures each number of builds, and prints a line for each list of it; the ratios are to the first number.
///
/// # Errors
/// When the server does not start, or a list is not full.
pub fn run(args: &ListsArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "A page of {PAGE} builds, {} times, milliseconds as a median, CPU as a mean:",
        args.rounds
    )?;
    let mut first: Option<Times> = None;
    for builds in &args.builds {
        let times = measure(&program, *builds, args.rounds)?;
        let base = first.get_or_insert_with(|| times.clone());
        for ((list, (time, cpu)), (base_time, base_cpu)) in LISTS.iter().zip(&times).zip(base) {
            let goal = Goal::AtMost(RATIO).verdict(time / *base_time);
            writeln!(
                out,
                "{builds:>8} builds   {list:<52} {time:.2} ms, {cpu:.2} ms CPU   ratio of time {:.2}, of CPU {:.2}   {goal}",
                time / *base_time,
                cpu / *base_cpu
            )?;
        }
    }
    Ok(())
}

fn measure(program: &Path, builds: u32, rounds: u32) -> anyhow::Result<Times> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let data = tempfile::tempdir()?;
    let database = format!("sqlite:{}", data.path().join("launchway.db").display());
    let history = runtime.block_on(history::fill(&database, builds))?;
    let key = create_key_of(program, data.path(), &history.org.to_string())?;
    let mut command = programs::serve(program, data.path());
    command.args(["--no-runner", "--database-url", &database]);
    let server = Server::start(command)?;
    runtime.block_on(async {
        folded::wait(&database).await?;
        let mut client = Publisher::connect(server.address, &key).await?;
        let mut all = Vec::new();
        for list in LISTS {
            // The first page is read into the cache.
            let page: Value = serde_json::from_slice(&client.get(list).await?)?;
            let rows = page["items"].as_array().map_or(0, Vec::len);
            ensure!(rows == PAGE, "{list} has {rows} rows");
            let (mut times, before) = (Vec::new(), server.cpu()?);
            for _ in 0..rounds {
                let asked = Instant::now();
                client.get(list).await?;
                times.push(asked.elapsed().as_secs_f64() * 1e3);
            }
            let cpu = (server.cpu()? - before).as_secs_f64() * 1e3 / f64::from(rounds);
            all.push((Spread::of(times).median, cpu));
        }
        Ok(all)
    })
}
