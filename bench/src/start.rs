//! Measures starting: the time until the server listens with all bundles in memory, and the memory they occupy.

use std::io::Write;

use crate::args::StartArgs;
use crate::figures::{Spread, mebibytes};
use crate::server::Server;
use crate::{bundles, programs};

/// Measures and prints one line for each number of bundles.
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
    for count in &args.bundles {
        let data = tempfile::tempdir()?;
        bundles::fill(data.path(), *count, None)?;
        let (mut seconds, mut memory) = (Vec::new(), Vec::new());
        for _ in 0..args.starts {
            let server = Server::start(programs::serve(&program, data.path()))?;
            seconds.push(server.started_in.as_secs_f64());
            memory.push(mebibytes(server.memory()?));
        }
        let (seconds, memory) = (Spread::of(seconds), Spread::of(memory).median);
        writeln!(out, "{count:>10} bundles   {seconds:.3}   {memory:>8.1} MiB")?;
    }
    Ok(())
}
