//! What the tests of the runner start as a process of its own: it runs a step as another user would.

use std::io::Write;
use std::process::ExitCode;

use launchway_runner::executor::{Executor, ProcessExecutor, RunningStep, StepOrder, step_entry};
use tokio::io::AsyncReadExt;

fn main() -> ExitCode {
    if let Some(end) = step_entry(std::env::args_os()) {
        return end;
    }
    let mut arguments = std::env::args().skip(1);
    let done = match (arguments.next().as_deref(), arguments.next()) {
        (Some("step"), Some(order)) => run_step(&order),
        _ => Err("usage: step FILE".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the order in a file; prints what the step prints, then how it ended.
#[tokio::main(flavor = "current_thread")]
async fn run_step(order: &str) -> Result<(), Box<dyn std::error::Error>> {
    launchway_runner::wall::hide_this_process()?;
    let order: StepOrder = serde_json::from_slice(&std::fs::read(order)?)?;
    let RunningStep { mut output, stop, end } = ProcessExecutor::new()?.start(order).await?;
    let read = async {
        let mut printed = Vec::new();
        output.read_to_end(&mut printed).await.map(|_| printed)
    };
    let (printed, ended) = tokio::join!(read, end);
    drop(stop);
    let mut out = std::io::stdout().lock();
    out.write_all(&printed?)?;
    writeln!(out, "\n{:?}", ended?)?;
    Ok(())
}
