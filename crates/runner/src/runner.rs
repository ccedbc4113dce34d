//! The runner: leases builds into its slots until it is told to end.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::sync::Arc;
use std::time::Duration;

use launchway_api::runner::AskLease;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{error, info, warn};

use crate::build::{self, Stage};
use crate::context::RunnerContext;
use crate::delivery;
use crate::executor::Executor;
use crate::machine::{Machine, SystemMachine};
use crate::plan::{PlanResolver, RequestOnly};
use crate::protocol::{CallError, Server};
use crate::sandbox::{self, SandboxReport};
use crate::settings::Settings;
use crate::workspace::disk;

/// How long a server lets the runner wait for a build (`docs/reference/builds.md#pulling-work`).
const WAIT_SECONDS: u32 = 30;
/// How long a slot rests when there is no room on the disk.
const REST: Duration = Duration::from_secs(30);

/// A runner that is ready to work.
pub struct Runner {
    context: Arc<RunnerContext>,
    server: Server,
    version: String,
}

/// Why a runner does not work.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A setting is wrong.
    #[error("{0}")]
    Settings(String),
    /// The work directory cannot be used.
    #[error("cannot work in the work directory: {0}")]
    WorkDirectory(#[from] io::Error),
    /// No step can run in the sandbox that the settings want.
    #[error("builds cannot run here: {0}")]
    Sandbox(String),
    /// The server does not know the runner, or refuses its way of asking.
    #[error("the server refuses this runner: {0}")]
    Refused(CallError),
}

/// A work directory in which a step has tried the sandbox: what may be built there is known before there is a server to
/// build for.
pub struct Workplace(Arc<RunnerContext>);

impl Workplace {
    /// Takes a work directory, which no other runner may use, and tries the sandbox there.
    ///
    /// # Errors
    /// A setting is wrong, the directory cannot be used, or no step can run.
    pub async fn open(
        settings: Settings,
        executor: Arc<dyn Executor>,
        resolver: Arc<dyn PlanResolver>,
        machine: Arc<dyn Machine>,
    ) -> Result<Workplace, RunnerError> {
        settings.check().map_err(RunnerError::Settings)?;
        let context = RunnerContext::open(settings, executor, resolver, machine)?;
        context.try_sandbox().await.map_err(RunnerError::Sandbox)?;
        Ok(Workplace(Arc::new(context)))
    }

    /// Tries the sandbox of this machine in a directory of its own, whatever runners work here: for `doctor`.
    ///
    /// # Errors
    /// As [`Workplace::open`].
    pub async fn look(mut settings: Settings, executor: Arc<dyn Executor>) -> Result<SandboxReport, RunnerError> {
        let name = format!("launchway-trial-{:016x}", SystemMachine.random());
        // Builds may have users of their own, who pass through here.
        let place = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&place)?;
        fs::set_permissions(&place, Permissions::from_mode(0o711))?;
        settings.work_dir = place.join("work");
        settings.slots = 1;
        let looked = async {
            let workplace = Workplace::open(settings, executor, Arc::new(RequestOnly), Arc::new(SystemMachine)).await?;
            Ok::<_, RunnerError>(workplace.sandbox().await?.clone())
        };
        let looked = looked.await;
        let _ = fs::remove_dir_all(&place);
        looked
    }

    /// What keeps builds from the rest of the machine.
    ///
    /// # Errors
    /// No step can run.
    pub async fn sandbox(&self) -> Result<&SandboxReport, RunnerError> {
        self.0.try_sandbox().await.map_err(RunnerError::Sandbox)
    }

    /// The runner of `version` that works here.
    pub fn runner(self, server: Server, version: String) -> Runner {
        Runner {
            context: self.0,
            server,
            version,
        }
    }
}

impl Runner {
    /// A runner of `version` in its work directory, which no other may use. Nothing is done yet.
    ///
    /// # Errors
    /// A setting is wrong, or the directory cannot be used.
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

    /// Works until `stage` says to end and what was begun is finished or stopped: first what was left by the last run, then
    /// builds. It also ends when nobody holds the other end of `stage` any more.
    ///
    /// From then on this process cannot be looked into by others of its user, and leaves no core files.
    ///
    /// # Errors
    /// No step can run here. The server refuses the runner; what runs is finished first.
    pub async fn run(&self, stage: watch::Receiver<Stage>) -> Result<(), RunnerError> {
        if let Err(error) = sandbox::hide_this_process() {
            warn!(%error, "builds of this user may look into this process");
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

/// Says in the log what keeps builds from the rest of the machine, and all that is open to them.
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
        // What was in hand is not dropped when the answer and the end come together.
        let leased = tokio::select! {
            biased;
            _ = ending.wait_for(|stage| *stage > Stage::Working) => return Ok(()),
            leased = next_lease(&context, &server, &ask) => leased?,
        };
        if let Some(lease) = leased {
            // A task of its own: a defect that a build brings to light must not end the slot.
            let run = build::run(Arc::clone(&context), server.clone(), slot, lease, stage.clone());
            if let Err(error) = tokio::spawn(run).await {
                error!(%error, "a build brought a defect of the runner to light");
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
        warn!(problem, "no build is taken");
        context.machine.pause(REST).await;
        return Ok(None);
    }
    server.lease(ask).await
}
