//! A build on this machine without any server: the same attempt as everywhere, from a packed source to files in a
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

use crate::attempt::{Attempt, Failure, SourceArchive};
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

/// Bytes of the log shown at a time.
const CHUNK: usize = 64 << 10;

/// What is to be built, from what, and where what it gives goes.
pub struct LocalBuild {
    /// What is to be built. It brings its plan; of its source only the file name of the archive counts.
    pub lease: Lease,
    /// The archive.
    pub archive: PathBuf,
    /// The directory for what it gives; it is made if need be.
    pub output: PathBuf,
}

/// What came of it.
#[derive(Debug)]
pub struct LocalEnd {
    /// `success`, `failed` or `canceled`.
    pub status: BuildResult,
    /// Why it failed.
    pub error: Option<BuildError>,
    /// Its phases.
    pub phases: Vec<Phase>,
    /// What it gave.
    pub artifacts: Vec<LocalArtifact>,
}

/// A file that a build gave.
#[derive(Debug)]
pub struct LocalArtifact {
    /// What it is, such as `apk`.
    pub kind: String,
    /// Where it is.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Lower-case hex SHA-256.
    pub sha256: String,
}

/// Builds, and gives `show` the log as it comes. When `interrupted` ends, the build is stopped.
///
/// # Errors
/// A setting is wrong, the work directory cannot be used, or another build is in it.
pub async fn run(
    settings: Settings,
    executor: Arc<dyn Executor>,
    build: LocalBuild,
    show: impl FnMut(&[u8]) + Send + 'static,
    interrupted: impl Future<Output = ()>,
) -> Result<LocalEnd, RunnerError> {
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
        Err(Failure::Stopped(StopReason::Canceled)) => (BuildResult::Canceled, None, Vec::new()),
        Err(failure) => (BuildResult::Failed, failure.error(phases.latest()), Vec::new()),
    };
    log.writer.say(status.as_str()).await;
    drop(log.writer);
    // The log ends with its last writer, and the showing with the log.
    let _ = shown.await;
    record.forget()?;
    Ok(LocalEnd {
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
) -> Result<Vec<Artifact>, Failure> {
    let workspace = context.workspace(&record.key(), 0).map_err(Failure::internal)?;
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

/// Ends and removes what a build that was killed has left: nobody waits for it.
async fn forget_earlier(context: &RunnerContext) -> io::Result<()> {
    for record in context.journal.left_over()? {
        context.clear_left_over(&record.key()).await;
        record.forget()?;
    }
    context.remove_workspaces()
}

/// Brings artifacts where they are wanted. A file that is there is replaced in one move.
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

/// Shows what comes into the log's file until it has ended.
async fn show_log(path: PathBuf, mut written: watch::Receiver<u64>, mut show: impl FnMut(&[u8])) {
    let Ok(mut file) = File::open(path) else { return };
    let (mut offset, mut buffer) = (0, vec![0; CHUNK]);
    loop {
        let open = written.has_changed().is_ok();
        let end = *written.borrow_and_update();
        if file.seek(SeekFrom::Start(offset)).is_err() {
            return;
        }
        // What is said to be written is in the file.
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
        // An error only says that the log has ended: the next round sees what is left.
        let _ = written.changed().await;
    }
}
