//! The tasks beside a build: they renew its lease, upload its log, and stop it when the runner halts.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::journal::Record;
use crate::log::{Log, Sending, send};
use crate::phases::Phases;
use crate::protocol::{BuildCalls, CallError};
use crate::stop::{StopReason, Stopper};

/// The shutdown stage of the runner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The runner accepts builds.
    #[default]
    Working,
    /// The runner accepts no more builds and finishes those in progress.
    Draining,
    /// The runner stops its builds. The server gives them to another runner when their leases expire.
    Halting,
}

/// Renews the lease until the task is aborted, and at once when a new phase begins.
pub(crate) fn renew(calls: BuildCalls, phases: Arc<Phases>, stopper: Stopper, seconds: u32) -> JoinHandle<()> {
    let interval = Duration::from_secs(seconds.max(1).into());
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = calls.server().machine().pause(interval) => {}
                () = phases.changed() => {}
            }
            match calls.renew(phases.all()).await {
                Ok(going) if going.cancel => stopper.stop(StopReason::Canceled),
                Ok(_) => {}
                Err(error) => {
                    stopper.stop(fenced_off(&error));
                    return;
                }
            }
        }
    })
}

/// Uploads the log until it ends. Returns the size of the build's whole log, or `None` if the runner is fenced off.
pub(crate) fn send_log(record: &Record, log: &Log, calls: BuildCalls, stopper: Stopper) -> JoinHandle<Option<u64>> {
    let sending = Sending {
        calls,
        path: record.log(),
        base: record.build.log_offset,
        written: log.written.clone(),
    };
    tokio::spawn(async move {
        let canceled = || stopper.stop(StopReason::Canceled);
        match send(sending, canceled).await {
            Ok(size) => Some(size),
            Err(error) => {
                stopper.stop(StopReason::FencedOff(error.to_string()));
                None
            }
        }
    })
}

/// A server that refuses a call about a build has reassigned or deleted the build.
pub(crate) fn fenced_off(error: &CallError) -> StopReason {
    StopReason::FencedOff(error.to_string())
}

/// Stops a build when the runner halts.
pub(crate) fn watch_stage(mut stage: watch::Receiver<Stage>, stopper: Stopper) -> JoinHandle<()> {
    tokio::spawn(async move {
        if stage.wait_for(|stage| *stage == Stage::Halting).await.is_ok() {
            stopper.stop(StopReason::Halted);
        }
    })
}
