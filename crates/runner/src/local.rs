//! Builds on this machine without a server: the same attempt as on a runner, from a packed source to files in a
//! directory.

use std::fs::{self, File};
use std::future::Future;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt;
use launchway_api::runner::{BuildError, Lease, Phase};
use launchway_domain::build::BuildResult;
use launchway_domain::masking::Masker;
use tokio::sync::watch;

use crate::attempt::{Attempt, AttemptError, SourceArchive};
use crate::context::RunnerContext;
use crate::environment;
use crate::executor::Executor;
use crate::journal::{Artifact, BuildInHand, Record};
use crate::log::Log;
use crate::machine::SystemMachine;
use crate::phases::Phases;
use crate::plan::RequestOnly;
use crate::runner::RunnerError;
use crate::settings::Settings;
use crate::stop::{StopReason, Stopper};

/// How many bytes of the log are shown at a time.
const CHUNK: usize = 64 << 10;

/// What to build, from which source, and where to put the result.
pub struct LocalBuild {
    /// What to build. It includes the plan; of its source only the file name of the archive is used.
    pub lease: Lease,
    /// The source archive.
    pub archive: PathBuf,
    /// The directory for the artifacts, created if missing.
    pub output: PathBuf,
}

/// The result of a local build.
#[derive(Debug)]
pub struct LocalResult {
    /// `success`, `failed` or `canceled`.
    pub status: BuildResult,
    /// Why the build failed.
    pub error: Option<BuildError>,
    /// The phases of the build.
    pub phases: Vec<Phase>,
    /// The artifacts.
    pub artifacts: Vec<LocalArtifact>,
}

/// An artifact of a local build.
#[derive(Debug)]
pub struct LocalArtifact {
    /// The kind, such as `apk`.
    pub kind: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The size in bytes.
    pub size: u64,
    /// The SHA-256 in lower-case hex.
    pub sha256: String,
}

/// Runs the build and passes the log to `show` as it is written. The build is stopped when `interrupted` completes.
///
/// # Errors
/// A setting is invalid; the work directory cannot be used, or another build uses it.
pub async fn run(
    settings: Settings,
    executor: Arc<dyn Executor>,
    build: LocalBuild,
    show: impl FnMut(&[u8]) + Send + 'static,
    interrupted: impl Future<Output = ()>,
) -> Result<LocalResult, RunnerError> {
    settings.check().map_err(RunnerError::Settings)?;
    let context = Arc::new(RunnerContext::open(
        settings,
        executor,
        Arc::new(RequestOnly),
        Arc::new(SystemMachine),
    )?);
    forget_earlier(&context).await?;
    let record = context.journal.begin(BuildInHand {
        build_id: build.lease.build_id.clone(),
        attempt: build.lease.attempt,
        log_offset: 0,
    })?;
    let secrets = environment::secrets(&build.lease);
    let masker = Arc::new(Masker::new(secrets.iter().map(|secret| secret.as_slice())));
    let log = Log::open(&record.log(), masker, context.settings.limits.log_bytes)?;
    let shown = tokio::spawn(show_log(record.log(), log.written.clone(), show));
    let (phases, stopper) = (Arc::new(Phases::default()), Stopper::default());
    let key = record.key();
    let output = build.output.clone();
    let result = {
        let work = attempt(&context, build, &record, &log, &phases, &stopper);
        tokio::pin!(work, interrupted);
        tokio::select! {
            result = &mut work => result,
            () = &mut interrupted => {
                stopper.stop(StopReason::Canceled);
                work.await
            }
        }
    };
    context.clear(&key, 0).await;
    phases.end(None, context.machine.now());
    let (status, error, artifacts) = match result {
        Ok(artifacts) => (BuildResult::Success, None, keep(&record, artifacts, &output)?),
        Err(AttemptError::Stopped(StopReason::Canceled)) => (BuildResult::Canceled, None, Vec::new()),
        Err(failure) => (BuildResult::Failed, failure.error(phases.latest()), Vec::new()),
    };
    log.writer.say(status.as_str()).await;
    drop(log.writer);
    // The log ends with its last writer, and `show_log` ends with the log.
    let _ = shown.await;
    record.forget()?;
    Ok(LocalResult {
        status,
        error,
        phases: phases.all(),
        artifacts,
    })
}

async fn attempt(
    context: &Arc<RunnerContext>,
    build: LocalBuild,
    record: &Record,
    log: &Log,
    phases: &Arc<Phases>,
    stopper: &Stopper,
) -> Result<Vec<Artifact>, AttemptError> {
    let workspace = context.workspace(&record.key(), 0).map_err(AttemptError::internal)?;
    let attempt = Attempt {
        context: Arc::clone(context),
        archive: SourceArchive::Here(build.archive),
        record: record.clone(),
        sandbox: context.sandbox(&workspace),
        workspace: Arc::new(workspace),
        log: log.writer.clone(),
        phases: Arc::clone(phases),
        stopper: stopper.clone(),
        lease: Arc::new(build.lease),
    };
    let product = attempt.run(Box::new(|_, _| async { Ok(()) }.boxed())).await?;
    Ok(product.artifacts)
}

/// Kills and removes what a crashed build left: nobody waits for its result.
async fn forget_earlier(context: &RunnerContext) -> io::Result<()> {
    for record in context.journal.left_over()? {
        context.clear_left_over(&record.key()).await;
        record.forget()?;
    }
    context.remove_workspaces()
}

/// Moves artifacts to the output directory, atomically replacing existing files.
fn keep(record: &Record, artifacts: Vec<Artifact>, output: &Path) -> io::Result<Vec<LocalArtifact>> {
    fs::create_dir_all(output)?;
    let mut kept = Vec::new();
    for (index, artifact) in artifacts.into_iter().enumerate() {
        let path = output.join(&artifact.name);
        let beside = output.join(format!(".{}.part", artifact.name));
        io::copy(&mut File::open(record.artifact(index))?, &mut File::create(&beside)?)?;
        fs::rename(&beside, &path)?;
        kept.push(LocalArtifact {
            kind: artifact.kind,
            path,
            size: artifact.size,
            sha256: artifact.sha256,
        });
    }
    Ok(kept)
}

/// Shows the content of the log file until the log has ended.
async fn show_log(path: PathBuf, mut written: watch::Receiver<u64>, mut show: impl FnMut(&[u8])) {
    let Ok(mut file) = File::open(path) else { return };
    let (mut offset, mut buffer) = (0, vec![0; CHUNK]);
    loop {
        let open = written.has_changed().is_ok();
        let end = *written.borrow_and_update();
        if file.seek(SeekFrom::Start(offset)).is_err() {
            return;
        }
        // `written` counts only bytes that are in the file.
        while offset < end {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    show(&buffer[..count]);
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
        if !open {
            return;
        }
        // An error only means that the log has ended: the next iteration reads the rest.
        let _ = written.changed().await;
    }
}
