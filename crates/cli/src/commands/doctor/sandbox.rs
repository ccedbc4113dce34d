//! Checks the sandbox that isolates builds from this machine, by running a step in it. Relevant to users who run a
//! runner here.

use std::sync::Arc;

use launchway_runner::WorkDirectory;
use launchway_runner::executor::ProcessExecutor;
use launchway_runner::sandbox::{Opening, SandboxReport};
use launchway_runner::settings::Settings;

use super::Finding;

const CHECK: &str = "sandbox";

/// Tests the sandbox as `launchway runner` would use it without flags.
pub async fn look() -> Vec<Finding> {
    let look = async {
        let executor = ProcessExecutor::new().map_err(|error| error.to_string())?;
        // Replaced by a work directory for this test alone.
        let settings = Settings::new(std::env::temp_dir());
        let looked = WorkDirectory::inspect(settings, Arc::new(executor)).await;
        looked.map_err(|error| error.to_string())
    };
    match look.await {
        Ok(sandbox) => findings(&sandbox),
        Err(problem) => vec![Finding::problem(
            CHECK,
            problem,
            "no runner can work here until this is fixed",
        )],
    }
}

fn findings(sandbox: &SandboxReport) -> Vec<Finding> {
    let whole = match sandbox.is_enough() {
        true => Finding::ok(CHECK, sandbox.sentence()),
        false => Finding::warning(
            CHECK,
            sandbox.sentence(),
            "run only builds that you trust here, or fix the problems in the following lines",
        ),
    };
    let opening = |Opening { what, remedy }| match remedy {
        Some(remedy) => Finding::warning(CHECK, what, remedy),
        None => Finding::ok(CHECK, what),
    };
    std::iter::once(whole)
        .chain(sandbox.openings().into_iter().map(opening))
        .collect()
}
