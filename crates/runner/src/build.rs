//! A build from its lease until the server has confirmed its result: the attempt, with lease renewal and log upload
//! beside it.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use launchway_api::runner::{AttemptReply, Lease};
use launchway_domain::build::BuildResult;
use launchway_domain::masking::Masker;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::{error, info, warn};

use crate::attempt::{Attempt, AttemptError, OnPlan, Product, SourceArchive};
use crate::context::RunnerContext;
use crate::delivery::{Delivery, deliver};
use crate::environment;
use crate::journal::{BuildInHand, Outcome, Record};
use crate::log::Log;
use crate::phases::Phases;
use crate::protocol::{BuildCalls, Server};
use crate::side_tasks::{Stage, renew, send_log, watch_stage};
use crate::stop::{StopReason, Stopper};

/// Runs a leased build in a slot until its end. Problems end up in the result of the build or in the log of the runner.
pub async fn run(context: Arc<RunnerContext>, server: Server, slot: u32, lease: Lease, stage: watch::Receiver<Stage>) {
    let (build, attempt) = (lease.build_id.clone(), lease.attempt);
    info!(build, attempt, "starting a build");
    if let Err(problem) = begin(&context, server, slot, lease, stage).await {
        // The lease expires, and the server retries the build.
        error!(build, attempt, problem, "cannot run a build here");
    }
}

/// Whether an id is safe as part of a path.
fn is_plain(id: &str) -> bool {
    (1..=100).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

async fn begin(
    context: &Arc<RunnerContext>,
    server: Server,
    slot: u32,
    lease: Lease,
    stage: watch::Receiver<Stage>,
) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    if !is_plain(&lease.build_id) {
        return Err("its id is invalid".to_owned());
    }
    let in_hand = BuildInHand {
        build_id: lease.build_id.clone(),
        attempt: lease.attempt,
        log_offset: lease.log_offset,
    };
    let record = context.journal.begin(in_hand).map_err(text)?;
    let log = open_log(context, &record, &lease).map_err(text)?;
    let calls = server.build(&lease.build_id, lease.attempt);
    let (phases, stopper) = (Arc::new(Phases::default()), Stopper::default());
    let halting = watch_stage(stage, stopper.clone());
    let renewing = renew(calls.clone(), phases.clone(), stopper.clone(), lease.renew_seconds);
    let sending = send_log(&record, &log, calls.clone(), stopper.clone());
    let key = record.key();
    let result = match context.workspace(&key, slot) {
        Err(error) => Err(AttemptError::internal(format!(
            "The runner cannot create a workspace: {error}"
        ))),
        Ok(workspace) => {
            let attempt = Attempt {
                context: Arc::clone(context),
                archive: SourceArchive::Storage(server.storage().clone()),
                record: record.clone(),
                sandbox: context.sandbox(&workspace),
                workspace: Arc::new(workspace),
                log: log.writer.clone(),
                phases: Arc::clone(&phases),
                stopper: stopper.clone(),
                lease: Arc::new(lease),
            };
            attempt.run(tell_plan(&calls)).await
        }
    };
    context.end(&key, slot).await;
    phases.end(None, context.machine.now());
    let end = conclude(result, &phases, &record, &log).await;
    // A build may leave millions of files. Its result does not wait for their removal; only the next build in the slot
    // does.
    let ((), delivered) = tokio::join!(context.remove_workspace(&key), async {
        let Some(outcome) = end else {
            abandon(&record, &stopper, log, sending).await;
            return Ok(());
        };
        record.set_outcome(&outcome).map_err(text)?;
        let delivery = Delivery {
            calls,
            record: record.clone(),
            outcome,
            stopper: stopper.clone(),
        };
        deliver(delivery, log, sending).await;
        Ok(())
    });
    for task in [halting, renewing] {
        task.abort();
    }
    delivered
}

/// Opens the log of an attempt, which masks the secrets of the build.
fn open_log(context: &RunnerContext, record: &Record, lease: &Lease) -> std::io::Result<Log> {
    let secrets = environment::secrets(lease);
    let masker = Masker::new(secrets.iter().map(|secret| secret.as_slice()));
    Log::open(&record.log(), Arc::new(masker), context.settings.limits.log_bytes)
}

/// The outcome of an attempt; `None` if there is nobody to report it to.
async fn conclude(
    result: Result<Product, AttemptError>,
    phases: &Phases,
    record: &Record,
    log: &Log,
) -> Option<Outcome> {
    let (status, error, product) = match result {
        Ok(product) => (BuildResult::Success, None, Some(product)),
        Err(AttemptError::Stopped(StopReason::Canceled)) => (BuildResult::Canceled, None, None),
        Err(AttemptError::Stopped(StopReason::FencedOff(said))) => {
            info!(build = record.key(), said, "the build no longer belongs to this runner");
            return None;
        }
        Err(AttemptError::Stopped(StopReason::Halted)) => {
            log.writer
                .say("The runner was stopped. The build starts again when its lease expires.")
                .await;
            return None;
        }
        Err(failure) => (BuildResult::Failed, failure.error(phases.latest()), None),
    };
    match &error {
        Some(error) => log.writer.say(&format!("{status}: {}", error.message)).await,
        None => log.writer.say(status.as_str()).await,
    }
    let product = product.unwrap_or_default();
    let outcome = Outcome {
        status: status.into(),
        error,
        phases: phases.all(),
        artifacts: product.artifacts,
        fingerprint: product.fingerprint,
        lwfp2: product.lwfp2,
        warnings: product.warnings,
    };
    Some(outcome)
}

/// Discards a build that the runner no longer owns. A runner that is shutting down sends the rest of the log first.
async fn abandon(record: &Record, stopper: &Stopper, log: Log, sending: JoinHandle<Option<u64>>) {
    /// Shorter than people wait for a program to exit.
    const FINAL_LOG_TIMEOUT: Duration = Duration::from_secs(3);
    drop(log.writer);
    let mut sending = sending;
    if stopper.reason() == Some(StopReason::Halted) {
        let _ = tokio::time::timeout(FINAL_LOG_TIMEOUT, &mut sending).await;
    }
    sending.abort();
    if let Err(error) = record.forget() {
        warn!(build = record.key(), %error, "cannot forget a build");
    }
}

/// Sends the plan to the server.
fn tell_plan(calls: &BuildCalls) -> OnPlan<'_> {
    Box::new(move |resolved, commit| {
        async move {
            let reply = calls.tell_plan(resolved, commit).await;
            match reply {
                Ok(AttemptReply { cancel: true, .. }) => Err(StopReason::Canceled),
                Ok(_) => Ok(()),
                Err(error) => Err(StopReason::FencedOff(error.to_string())),
            }
        }
        .boxed()
    })
}
