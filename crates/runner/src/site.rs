//! What all builds of a runner share: its settings, directories, executor and clock.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt;
use tracing::{debug, warn};

use crate::cache::Caches;
use crate::environment;
use crate::executor::{self, Executor, ExecutorError, StepCommand, StepEnd, StepOrder};
use crate::journal::Journal;
use crate::plan::PlanResolver;
use crate::settings::Settings;
use crate::step_tool;
use crate::wall::{self, Users, Wall, metadata};
use crate::workspace::{self, Workspace};
use crate::world::World;

/// Left-over processes are looked for again after this.
const AGAIN: Duration = Duration::from_millis(20);
/// And given up after so many times: even SIGKILL does not end one that hangs in the kernel.
const MOST_SWEEPS: u32 = 1500;

/// The key of what is no build, but runs like one.
pub const TRY: &str = "try";

/// What all builds of a runner share.
pub struct Site {
    /// The settings, which have been checked.
    pub settings: Settings,
    /// Runs steps.
    pub executor: Arc<dyn Executor>,
    /// Knows plans.
    pub resolver: Arc<dyn PlanResolver>,
    /// The clock and randomness.
    pub world: Arc<dyn World>,
    /// What survives a crash.
    pub journal: Journal,
    /// What is kept between builds.
    pub caches: Caches,
    /// Who builds in which slot.
    pub users: Users,
    /// Whether steps have a view of the machine of their own: known once it was tried.
    apart: AtomicBool,
    /// What steps find as `launchway`, once it is known. All slots build as users without rights, or as the runner's own.
    program: OnceLock<PathBuf>,
    /// Held while the runner lives.
    _lock: File,
}

impl Site {
    /// Opens the work directory, in which no other runner may be.
    ///
    /// # Errors
    /// What the operating system says, or that another runner is there.
    pub fn open(
        settings: Settings,
        executor: Arc<dyn Executor>,
        resolver: Arc<dyn PlanResolver>,
        world: Arc<dyn World>,
    ) -> io::Result<Site> {
        let work = &settings.work_dir;
        DirBuilder::new().recursive(true).mode(0o711).create(work)?;
        // Builds of other users pass through, and see nothing.
        fs::set_permissions(work, Permissions::from_mode(0o711))?;
        let mut options = OpenOptions::new();
        let lock = options
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(work.join("runner.lock"))?;
        lock.try_lock().map_err(|_| {
            let problem = format!(
                "another runner works in {}: name another work directory",
                work.display()
            );
            io::Error::new(io::ErrorKind::AddrInUse, problem)
        })?;
        let builds = work.join("builds");
        DirBuilder::new().recursive(true).mode(0o711).create(&builds)?;
        fs::set_permissions(&builds, Permissions::from_mode(0o711))?;
        Ok(Site {
            journal: Journal::open(work.join("journal"))?,
            users: Users::claim(&settings.wall, settings.slots)?,
            caches: Caches::open(work.join("caches"), settings.limits.cache_bytes)?,
            settings,
            executor,
            resolver,
            world,
            apart: AtomicBool::new(false),
            program: OnceLock::new(),
            _lock: lock,
        })
    }

    /// Where the workspace of an attempt is.
    pub fn workspace_path(&self, key: &str) -> PathBuf {
        self.settings.work_dir.join("builds").join(key)
    }

    /// What the processes of an attempt carry. No other runner's do, even of a server that has builds with the same ids.
    pub fn mark(&self, key: &str) -> String {
        let place = Sha256::digest(self.settings.work_dir.as_os_str().as_bytes());
        format!("{key}-{}", hex::encode(&place[..8]))
    }

    /// Makes the workspace of an attempt in a slot.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn workspace(&self, key: &str, slot: u32) -> io::Result<Workspace> {
        Workspace::make(self.workspace_path(key), self.users.of(slot))
    }

    /// The wall around an attempt.
    pub fn wall(&self, workspace: &Workspace) -> Wall {
        let work_dir = &self.settings.work_dir;
        let mut wall = self.settings.wall.wall(workspace.user, work_dir, &workspace.root);
        if let (Some(places), Ok(program)) = (&mut wall.places, self.program(workspace.user)) {
            places.read.push(program);
        }
        wall.apart = self.apart.load(Ordering::Relaxed);
        if let Some(ports) = &mut wall.ports
            && !closes_metadata(workspace.user)
        {
            ports.closed.push(wall::HTTP);
        }
        wall
    }

    /// What is not closed to builds on this machine, or closed at a price, a sentence each. To be asked once it was tried.
    pub fn openings(&self) -> Vec<&'static str> {
        let mut openings = Vec::new();
        let available = self.settings.wall.available();
        let metadata = closes_metadata(self.users.of(0));
        let http = self.settings.wall.open_ports.contains(&wall::HTTP);
        if !available.ports {
            openings.push("builds can connect to servers of this machine: it takes Linux 6.7 or newer, with Landlock");
        }
        match (metadata, available.ports && !http) {
            (true, _) => {}
            (false, true) => openings.push(
                "port 80 is closed to builds, or they could ask the metadata service of a cloud: the runner closes that alone \
                 when it is root, with `ip` at hand; --open-port 80 opens both",
            ),
            (false, false) => openings.push("builds can ask the metadata service of a cloud, if this machine is in one"),
        }
        match self.apart.load(Ordering::Relaxed) {
            true if rustix::process::geteuid().is_root() => {}
            true => openings.push("builds can read the command lines of other processes: keep secrets out of them"),
            false => openings.push(
                "builds can read the command lines of other processes, and speak to sockets in /run that are open to their \
                 user: it takes root, or user namespaces",
            ),
        }
        openings
    }

    /// The program that steps of this user find as `launchway`. It is looked for, or copied, once.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn program(&self, user: Option<(u32, u32)>) -> io::Result<PathBuf> {
        if let Some(program) = self.program.get() {
            return Ok(program.clone());
        }
        let program = step_tool::reachable(&self.executor.program(), &self.settings.work_dir, user)?;
        Ok(self.program.get_or_init(|| program).clone())
    }

    /// Ends every process of an attempt, then removes its workspace.
    pub async fn clear(&self, key: &str, slot: u32) {
        self.end(key, slot).await;
        self.remove_workspace(key).await;
    }

    /// Ends every process of an attempt.
    pub async fn end(&self, key: &str, slot: u32) {
        self.end_processes(key, self.users.exclusive(slot)).await;
    }

    /// Removes the workspace of an attempt, of which no process is left.
    pub async fn remove_workspace(&self, key: &str) {
        let path = self.workspace_path(key);
        let removed = tokio::task::spawn_blocking(move || workspace::remove(&path)).await;
        if let Ok(Err(error)) = removed {
            warn!(build = key, %error, "cannot remove the workspace of a build");
        }
    }

    /// Ends whatever an earlier runner left of an attempt, whoever it ran as, and removes its workspace.
    pub async fn clear_left_over(&self, key: &str) {
        for slot in 0..self.settings.slots {
            self.end_processes(key, self.users.exclusive(slot)).await;
        }
        // No slot's: nothing runs yet.
        self.clear(key, u32::MAX).await;
    }

    async fn end_processes(&self, key: &str, user: Option<u32>) {
        for sweep in 0.. {
            if executor::end_marked(&self.mark(key), user) {
                break;
            }
            if sweep == MOST_SWEEPS {
                warn!(build = key, "processes of a build do not end");
                break;
            }
            self.world.pause(AGAIN).await;
        }
    }

    /// Runs a step that does nothing, as builds will run, so that a machine on which none can is noticed at once.
    ///
    /// # Errors
    /// Why none can, as the end of a sentence.
    pub async fn try_wall(&self) -> Result<(), String> {
        if cfg!(target_os = "linux") {
            self.apart.store(true, Ordering::Relaxed);
            match self.try_step().await {
                Ok(()) => return Ok(()),
                Err(problem) => debug!(problem, "steps have no view of the machine of their own"),
            }
            self.apart.store(false, Ordering::Relaxed);
        }
        self.try_step().await
    }

    async fn try_step(&self) -> Result<(), String> {
        let workspace = self.workspace(TRY, 0).map_err(|error| error.to_string())?;
        let order = StepOrder {
            command: StepCommand::Shell("touch \"$TMPDIR/file\"".to_owned()),
            directory: workspace.source(),
            env: environment::base(&self.settings.path, &workspace, &self.mark(TRY)),
            wall: self.wall(&workspace),
            grace: self.settings.limits.grace,
            file_bytes: self.settings.limits.file_bytes,
        };
        let tried = async {
            let mut step = self.executor.start(order).await?;
            let mut printed = Vec::new();
            let (_, end) = tokio::join!(step.output.read_to_end(&mut printed), step.end);
            Ok::<_, ExecutorError>((end?, printed))
        };
        let tried = tried.await;
        self.clear(TRY, 0).await;
        match tried {
            Ok((StepEnd::Exited(0), _)) => Ok(()),
            Ok((end, printed)) => Err(format!(
                "a step ended with {end:?}: {}",
                String::from_utf8_lossy(&printed).trim()
            )),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Removes the workspaces of builds that nobody remembers.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn remove_workspaces(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.settings.work_dir.join("builds"))? {
            workspace::remove(&entry?.path())?;
        }
        Ok(())
    }
}

/// Whether the metadata services of clouds are closed to this user of builds.
fn closes_metadata(user: Option<(u32, u32)>) -> bool {
    user.is_some_and(|(uid, _)| metadata::close(uid))
}
