//! What all builds of a runner share: settings, directories, executor and clock.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt;
use tracing::{debug, warn};

use crate::cache::Caches;
use crate::environment;
use crate::executor::{self, Executor, ExecutorError, StepCommand, StepEnd, StepOrder};
use crate::journal::Journal;
use crate::machine::Machine;
use crate::plan::PlanResolver;
use crate::sandbox::trial::{self, Targets};
use crate::sandbox::{self, Sandbox, SandboxReport, Users, metadata};
use crate::settings::Settings;
use crate::step_tool;
use crate::workspace::{self, Workspace};

/// The pause before remaining processes are searched again.
const SWEEP_INTERVAL: Duration = Duration::from_millis(20);
/// The maximum number of searches: SIGKILL does not end a process that hangs in the kernel.
const MAX_SWEEPS: u32 = 1500;

/// The key of the sandbox trial, which runs like a build.
pub const TRIAL_KEY: &str = "try";

/// What all builds of a runner share.
pub struct RunnerContext {
    /// The settings, already validated.
    pub settings: Settings,
    /// Runs the steps.
    pub executor: Arc<dyn Executor>,
    /// Finds the plan of a source.
    pub resolver: Arc<dyn PlanResolver>,
    /// Clock and randomness.
    pub machine: Arc<dyn Machine>,
    /// The state that survives a crash.
    pub journal: Journal,
    /// The caches that are kept between builds.
    pub caches: Caches,
    /// The users that the slots run builds as.
    pub users: Users,
    /// The result of the sandbox trial, once it has run.
    sandbox: OnceLock<SandboxReport>,
    /// The program that steps find as `launchway`, once known. Either all slots build as users without privileges, or
    /// all as the runner's own.
    program: OnceLock<PathBuf>,
    /// The lock on the work directory, held for the life of the runner.
    _lock: File,
}

impl RunnerContext {
    /// Opens and locks the work directory.
    ///
    /// # Errors
    /// An I/O error; another runner uses the directory.
    pub fn open(
        settings: Settings,
        executor: Arc<dyn Executor>,
        resolver: Arc<dyn PlanResolver>,
        machine: Arc<dyn Machine>,
    ) -> io::Result<RunnerContext> {
        let work = &settings.work_dir;
        DirBuilder::new().recursive(true).mode(0o711).create(work)?;
        // Users of builds may traverse the directory but not list it.
        fs::set_permissions(work, Permissions::from_mode(0o711))?;
        let mut options = OpenOptions::new();
        let lock = options
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(work.join("runner.lock"))?;
        lock.try_lock().map_err(|_| {
            let problem = format!("another runner uses {}: choose another work directory", work.display());
            io::Error::new(io::ErrorKind::AddrInUse, problem)
        })?;
        let builds = work.join("builds");
        DirBuilder::new().recursive(true).mode(0o711).create(&builds)?;
        fs::set_permissions(&builds, Permissions::from_mode(0o711))?;
        Ok(RunnerContext {
            journal: Journal::open(work.join("journal"))?,
            users: Users::claim(&settings.sandbox, settings.slots)?,
            caches: Caches::open(work.join("caches"), settings.limits.cache_bytes)?,
            settings,
            executor,
            resolver,
            machine,
            sandbox: OnceLock::new(),
            program: OnceLock::new(),
            _lock: lock,
        })
    }

    /// The path of an attempt's workspace.
    pub fn workspace_path(&self, key: &str) -> PathBuf {
        self.settings.work_dir.join("builds").join(key)
    }

    /// The mark of the processes of an attempt. It is unique among runners, even if two servers have builds with the
    /// same ids.
    pub fn mark(&self, key: &str) -> String {
        let place = Sha256::digest(self.settings.work_dir.as_os_str().as_bytes());
        format!("{key}-{}", hex::encode(&place[..8]))
    }

    /// Creates the workspace of an attempt in a slot.
    ///
    /// # Errors
    /// An I/O error.
    pub fn workspace(&self, key: &str, slot: u32) -> io::Result<Workspace> {
        Workspace::make(self.workspace_path(key), self.users.of(slot))
    }

    /// The sandbox of an attempt.
    pub fn sandbox(&self, workspace: &Workspace) -> Sandbox {
        let work_dir = &self.settings.work_dir;
        let mut sandbox = self.settings.sandbox.sandbox(workspace.user, work_dir, &workspace.root);
        if let (Some(places), Ok(program)) = (&mut sandbox.places, self.program(workspace.user)) {
            places.read.push(program);
        }
        sandbox.apart = self.sandbox.get().is_some_and(|sandbox| sandbox.apart);
        if let Some(ports) = &mut sandbox.ports
            && !closes_metadata(workspace.user)
        {
            ports.closed.push(sandbox::HTTP);
        }
        sandbox
    }

    /// The program that steps of this user find as `launchway`. It is located, or copied, only once.
    ///
    /// # Errors
    /// An I/O error.
    pub fn program(&self, user: Option<(u32, u32)>) -> io::Result<PathBuf> {
        if let Some(program) = self.program.get() {
            return Ok(program.clone());
        }
        let program = step_tool::reachable(&self.executor.program(), &self.settings.work_dir, user)?;
        Ok(self.program.get_or_init(|| program).clone())
    }

    /// Kills all processes of an attempt, then removes its workspace.
    pub async fn clear(&self, key: &str, slot: u32) {
        self.end(key, slot).await;
        self.remove_workspace(key).await;
    }

    /// Kills all processes of an attempt.
    pub async fn end(&self, key: &str, slot: u32) {
        self.end_processes(key, self.users.exclusive(slot)).await;
    }

    /// Removes the workspace of an attempt, whose processes must have ended.
    pub async fn remove_workspace(&self, key: &str) {
        let path = self.workspace_path(key);
        let removed = tokio::task::spawn_blocking(move || workspace::remove(&path)).await;
        if let Ok(Err(error)) = removed {
            warn!(build = key, %error, "cannot remove the workspace of a build");
        }
    }

    /// Kills the processes that an earlier run of the runner left of an attempt, whatever user they run as, and removes
    /// its workspace.
    pub async fn clear_left_over(&self, key: &str) {
        for slot in 0..self.settings.slots {
            self.end_processes(key, self.users.exclusive(slot)).await;
        }
        // No slot's user: no build runs yet.
        self.clear(key, u32::MAX).await;
    }

    async fn end_processes(&self, key: &str, user: Option<u32>) {
        for sweep in 0.. {
            if executor::end_marked(&self.mark(key), user) {
                break;
            }
            if sweep == MAX_SWEEPS {
                warn!(build = key, "cannot end the processes of a build");
                break;
            }
            self.machine.pause(SWEEP_INTERVAL).await;
        }
    }

    /// Runs a step that tries to escape, under the same conditions as a build. A machine on which no step can run is
    /// noticed at once, and the sandbox is trusted only for what the step observed. Runs once.
    ///
    /// # Errors
    /// Why no step can run, phrased as the end of a sentence.
    pub async fn try_sandbox(&self) -> Result<&SandboxReport, String> {
        if let Some(sandbox) = self.sandbox.get() {
            return Ok(sandbox);
        }
        // An earlier run may have left its own trial.
        self.clear_left_over(TRIAL_KEY).await;
        let mut found = None;
        if cfg!(target_os = "linux") {
            match self.try_step(true).await {
                Ok(sandbox) => found = Some(sandbox),
                Err(problem) => debug!(problem, "steps do not get their own view of the machine"),
            }
        }
        let found = match found {
            Some(sandbox) => sandbox,
            None => self.try_step(false).await?,
        };
        Ok(self.sandbox.get_or_init(|| found))
    }

    /// Runs the trial step, with or without its own view of the machine.
    async fn try_step(&self, apart: bool) -> Result<SandboxReport, String> {
        let text = |error: io::Error| error.to_string();
        let secret = self.settings.work_dir.join("trial");
        let mut options = OpenOptions::new();
        let written = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&secret);
        written.map_err(text)?;
        let tried = self.try_to_reach(&secret, apart).await;
        self.clear(TRIAL_KEY, 0).await;
        fs::remove_file(&secret).map_err(text)?;
        match tried? {
            (StepEnd::Exited(0), printed) => Ok(SandboxReport {
                available: self.settings.sandbox.available(),
                apart,
                reached: trial::parse_output(&printed)?,
                closes_metadata: closes_metadata(self.users.of(0)),
                open_ports: self.settings.sandbox.open_ports.clone(),
            }),
            (end, printed) => Err(format!("a step ended with {end:?}: {}", printed.trim())),
        }
    }

    async fn try_to_reach(&self, secret: &Path, apart: bool) -> Result<(StepEnd, String), String> {
        let workspace = self.workspace(TRIAL_KEY, 0).map_err(|error| error.to_string())?;
        let targets = Targets {
            secret,
            process: std::process::id(),
            user: rustix::process::geteuid().as_raw(),
            run: fs::metadata("/run").ok().map(|run| (run.dev(), run.ino())),
        };
        let order = StepOrder {
            command: StepCommand::Shell(trial::script(&targets)),
            directory: workspace.source(),
            env: environment::base(&self.settings.path, &workspace, &self.mark(TRIAL_KEY)),
            sandbox: Sandbox {
                apart,
                ..self.sandbox(&workspace)
            },
            grace: self.settings.limits.grace,
            file_bytes: self.settings.limits.file_bytes,
        };
        let tried = async {
            let mut step = self.executor.start(order).await?;
            let mut printed = Vec::new();
            let (_, end) = tokio::join!(step.output.read_to_end(&mut printed), step.end);
            Ok::<_, ExecutorError>((end?, String::from_utf8_lossy(&printed).into_owned()))
        };
        tried.await.map_err(|error| error.to_string())
    }

    /// Removes the workspaces that belong to no build in the journal.
    ///
    /// # Errors
    /// An I/O error.
    pub fn remove_workspaces(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.settings.work_dir.join("builds"))? {
            workspace::remove(&entry?.path())?;
        }
        Ok(())
    }
}

/// Whether the metadata services of clouds are closed to this user.
fn closes_metadata(user: Option<(u32, u32)>) -> bool {
    user.is_some_and(|(uid, _)| metadata::close(uid))
}
