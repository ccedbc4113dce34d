//! The runner: leases builds into its slots until it is shut down.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::sync::Arc;
use std::time::Duration;

use launchway_api::runner::AskLease;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{error, info, warn};

use crate::build;
use crate::context::RunnerContext;
use crate::delivery;
use crate::executor::Executor;
use crate::machine::{Machine, SystemMachine};
use crate::plan::{PlanResolver, RequestOnly};
use crate::protocol::{CallError, Server};
use crate::sandbox::{self, SandboxReport};
use crate::settings::Settings;
use crate::side_tasks::Stage;
use crate::workspace::disk;

/// How long the server may hold a lease request open (`docs/reference/builds.md#pulling-work`).
const WAIT_SECONDS: u32 = 30;
/// How long a slot pauses when the disk is full.
const FULL_DISK_PAUSE: Duration = Duration::from_secs(30);

/// A runner that is ready to work.
pub struct Runner {
    context: Arc<RunnerContext>,
    server: Server,
    version: String,
}

/// Why a runner does not work.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A setting is invalid.
    #[error("{0}")]
    Settings(String),
    /// The work directory cannot be used.
    #[error("cannot work in the work directory: {0}")]
    WorkDirectory(#[from] io::Error),
    /// No step can run in the sandbox that the settings require.
    #[error("cannot run builds here: {0}")]
    Sandbox(String),
    /// The server does not know the runner, or refuses its requests.
    #[error("the server refuses this runner: {0}")]
    Refused(CallError),
}

/// A work directory in which the sandbox was tried: its strength is known before the runner connects to a server.
pub struct WorkDirectory(Arc<RunnerContext>);

impl WorkDirectory {
    /// Opens a work directory, which no other runner may use, and tries the sandbox there.
    ///
    /// # Errors
    /// A setting is invalid, the directory cannot be used, or no step can run.
    pub async fn open(
        settings: Settings,
        executor: Arc<dyn Executor>,
        resolver: Arc<dyn PlanResolver>,
        machine: Arc<dyn Machine>,
    ) -> Result<WorkDirectory, RunnerError> {
        settings.check().map_err(RunnerError::Settings)?;
        let context = RunnerContext::open(settings, executor, resolver, machine)?;
        context.try_sandbox().await.map_err(RunnerError::Sandbox)?;
        Ok(WorkDirectory(Arc::new(context)))
    }

    /// Tries the sandbox of this machine in a temporary directory, independent of other runners: for `doctor`.
    ///
    /// # Errors
    /// As [`WorkDirectory::open`].
    pub async fn inspect(mut settings: Settings, executor: Arc<dyn Executor>) -> Result<SandboxReport, RunnerError> {
        let name = format!("launchway-trial-{:016x}", SystemMachine.random());
        // Users of builds must be able to traverse the directory.
        let place = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&place)?;
        fs::set_permissions(&place, Permissions::from_mode(0o711))?;
        settings.work_dir = place.join("work");
        settings.slots = 1;
        let looked = async {
            let workplace =
                WorkDirectory::open(settings, executor, Arc::new(RequestOnly), Arc::new(SystemMachine)).await?;
            Ok::<_, RunnerError>(workplace.sandbox().await?.clone())
        };
        let looked = looked.await;
        let _ = fs::remove_dir_all(&place);
        looked
    }

    /// What isolates builds from the rest of the machine.
    ///
    /// # Errors
    /// No step can run.
    pub async fn sandbox(&self) -> Result<&SandboxReport, RunnerError> {
        self.0.try_sandbox().await.map_err(RunnerError::Sandbox)
    }

    /// A runner of release `version` in this work directory.
    pub fn runner(self, server: Server, version: String) -> Runner {
        Runner {
            context: self.0,
            server,
            version,
        }
    }
}

impl Runner {
    /// A runner of release `version` in its work directory, which no other runner may use. It does not work yet.
    ///
    /// # Errors
    /// A setting is invalid, or the directory cannot be used.
    pub fn new(
        settings: Settings,
        server: Server,
        executor: Arc<dyn Executor>,
        resolver: Arc<dyn PlanResolver>,
        version: String,
    ) -> Result<Runner, RunnerError> {
        settings.check().map_err(RunnerError::Settings)?;
        let machine = Arc::clone(server.machine());
        Ok(Runner {
            context: Arc::new(RunnerContext::open(settings, executor, resolver, machine)?),
            server,
            version,
        })
    }

    /// Works until `stage` requests a shutdown and the builds in progress are finished or stopped. It resumes the
    /// builds of the last run first. It also shuts down when the sender of `stage` is dropped.
    ///
    /// From then on other processes of the same user cannot inspect this process, and it leaves no core files.
    ///
    /// # Errors
    /// No step can run here; the server refuses the runner, after the builds in progress are finished.
    pub async fn run(&self, stage: watch::Receiver<Stage>) -> Result<(), RunnerError> {
        if let Err(error) = sandbox::hide_this_process() {
            warn!(%error, "builds of this user may inspect this process");
        }
        let mut work = JoinSet::new();
        let left_over = self.context.journal.left_over()?;
        for record in &left_over {
            self.context.clear_left_over(&record.key()).await;
        }
        self.context.remove_workspaces()?;
        let sandbox = self.context.try_sandbox().await.map_err(RunnerError::Sandbox)?;
        report(sandbox);
        for record in left_over {
            let (context, server, stage) = (Arc::clone(&self.context), self.server.clone(), stage.clone());
            work.spawn(async move {
                delivery::resume(context, server, record, stage).await;
                Ok(())
            });
        }
        for slot in 0..self.context.settings.slots {
            let (context, server, stage) = (Arc::clone(&self.context), self.server.clone(), stage.clone());
            work.spawn(work_in_slot(context, server, slot, self.version.clone(), stage));
        }
        let mut refused = None;
        while let Some(done) = work.join_next().await {
            match done {
                Ok(Ok(())) => {}
                Ok(Err(error)) => refused = Some(error),
                Err(error) => error!(%error, "a part of the runner failed"),
            }
        }
        refused.map_or(Ok(()), |error| Err(RunnerError::Refused(error)))
    }
}

/// Logs what isolates builds from the rest of the machine, and everything that is open to them.
fn report(sandbox: &SandboxReport) {
    match sandbox.is_enough() {
        true => info!("{}", sandbox.sentence()),
        false => warn!("{}", sandbox.sentence()),
    }
    for opening in sandbox.openings() {
        match opening.remedy {
            Some(_) => warn!("{opening}"),
            None => info!("{opening}"),
        }
    }
}

async fn work_in_slot(
    context: Arc<RunnerContext>,
    server: Server,
    slot: u32,
    version: String,
    mut stage: watch::Receiver<Stage>,
) -> Result<(), CallError> {
    let ask = AskLease {
        labels: context.settings.labels.clone(),
        version,
        wait_seconds: WAIT_SECONDS,
    };
    let mut ending = stage.clone();
    loop {
        // A lease that arrives together with the shutdown is not lost.
        let leased = tokio::select! {
            biased;
            _ = ending.wait_for(|stage| *stage > Stage::Working) => return Ok(()),
            leased = next_lease(&context, &server, &ask) => leased?,
        };
        if let Some(lease) = leased {
            // A separate task: a panic during a build must not end the slot.
            let run = build::run(Arc::clone(&context), server.clone(), slot, lease, stage.clone());
            if let Err(error) = tokio::spawn(run).await {
                error!(%error, "a build triggered a defect of the runner");
            }
        }
        if stage.has_changed().is_err() || *stage.borrow_and_update() > Stage::Working {
            info!(slot, "a slot takes no more builds");
            return Ok(());
        }
    }
}

async fn next_lease(
    context: &RunnerContext,
    server: &Server,
    ask: &AskLease,
) -> Result<Option<launchway_api::runner::Lease>, CallError> {
    let least = context.settings.limits.min_free_bytes;
    if let Some(problem) = disk::shortage(context.machine.as_ref(), &context.settings.work_dir, least) {
        warn!(problem, "not taking builds");
        context.machine.pause(FULL_DISK_PAUSE).await;
        return Ok(None);
    }
    server.lease(ask).await
}
