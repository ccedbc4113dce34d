//! Measures starting: the time until the server listens with all bundles in memory, and the memory they occupy.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::args::StartArgs;
use crate::figures::{Goal, Spread, mebibytes};
use crate::server::Server;
use crate::{bundles, programs};

/// A start takes at most so many times as long as reading the updates from the database does, and [`BASE`].
const SCAN: f64 = 1.5;
/// What a start may take beside the updates.
const BASE: Duration = Duration::from_secs(1);
/// A server without bundles listens within this time, in seconds, and takes at most this memory, in MiB.
const EMPTY: (f64, f64) = (0.1, 20.0);

/// Measures and prints one line for a server without bundles, and one for each number of bundles.
///
/// # Errors
/// When the server does not start.
pub fn run(args: &StartArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "From the start of the process until it listens, in seconds, min – median – max of {}:",
        args.starts
    )?;
    let data = tempfile::tempdir()?;
    let (seconds, memory) = start(&program, data.path(), args.starts)?;
    writeln!(
        out,
        "   without bundles   {seconds:.3}   {memory:>8.1} MiB   seconds: {}, MiB: {}",
        Goal::AtMost(EMPTY.0).verdict(seconds.median),
        Goal::AtMost(EMPTY.1).verdict(memory)
    )?;
    for count in &args.bundles {
        let data = tempfile::tempdir()?;
        bundles::fill(data.path(), *count, None)?;
        let (seconds, memory) = start(&program, data.path(), args.starts)?;
        let scan = scan(data.path())?;
        let goal = scan.as_secs_f64() * SCAN + BASE.as_secs_f64();
        writeln!(
            out,
            "{count:>10} bundles   {seconds:.3}   {memory:>8.1} MiB   (a scan takes {:.3} s; goal: at most {goal:.3} s)",
            scan.as_secs_f64()
        )?;
    }
    Ok(())
}

/// The seconds until the server listens, and its memory then, in MiB.
fn start(program: &Path, data: &Path, starts: u32) -> anyhow::Result<(Spread, f64)> {
    let (mut seconds, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..starts {
        let server = Server::start(programs::serve(program, data))?;
        seconds.push(server.started_in.as_secs_f64());
        memory.push(mebibytes(server.memory()?));
    }
    Ok((Spread::of(seconds), Spread::of(memory).median))
}

/// How long it takes to read every update of a database and drop it.
fn scan(data: &Path) -> anyhow::Result<Duration> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let db = bundles::open(data).await?;
        let started = Instant::now();
        let mut tx = db.read().await?;
        tx.system("a scan of every tenant")
            .for_each_offered_update(drop)
            .await?;
        drop(tx);
        let took = started.elapsed();
        db.close().await;
        Ok(took)
    })
}
