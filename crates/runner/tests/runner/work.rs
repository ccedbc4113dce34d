//! A running runner in the test's own process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use launchway_api::secret::SecretText;
use launchway_client::Timeouts;
use launchway_domain::time::EpochMs;
use launchway_runner::executor::ProcessExecutor;
use launchway_runner::machine::{Machine, SystemMachine};
use launchway_runner::plan::{PlanResolver, RequestOnly};
use launchway_runner::protocol::Server;
use launchway_runner::settings::Settings;
use launchway_runner::{Runner, RunnerError, Stage};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::fake_server::FakeServer;
use crate::stage::{LIMIT, PROGRAM, open_directory};

/// The real machine, except that pauses are short, and the test sets the free space.
#[derive(Clone)]
pub struct FakeMachine {
    pub free: Arc<AtomicU64>,
}

impl Machine for FakeMachine {
    fn now(&self) -> EpochMs {
        SystemMachine.now()
    }

    fn pause(&self, delay: Duration) -> BoxFuture<'_, ()> {
        tokio::time::sleep(delay.min(Duration::from_millis(10))).boxed()
    }

    fn random(&self) -> u64 {
        7
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        Ok(self.free.load(Ordering::SeqCst))
    }
}

/// A running runner.
pub struct Working {
    pub directory: tempfile::TempDir,
    pub stage: watch::Sender<Stage>,
    /// The free bytes of the disk.
    pub free: Arc<AtomicU64>,
    task: JoinHandle<Result<(), RunnerError>>,
}

impl Working {
    /// Starts with default settings.
    pub fn start(server: &FakeServer) -> Working {
        Working::with(server, |_| {}, Arc::new(RequestOnly))
    }

    /// Starts with changed settings.
    pub fn with(server: &FakeServer, change: impl FnOnce(&mut Settings), resolver: Arc<dyn PlanResolver>) -> Working {
        Working::through(server, PathBuf::from(PROGRAM), change, resolver)
    }

    /// Starts with changed settings, and steps through another program.
    pub fn through(
        server: &FakeServer,
        program: PathBuf,
        change: impl FnOnce(&mut Settings),
        resolver: Arc<dyn PlanResolver>,
    ) -> Working {
        let directory = open_directory();
        let mut settings = settings(&directory);
        change(&mut settings);
        let (stage, stages) = watch::channel(Stage::Working);
        let free = Arc::new(AtomicU64::new(u64::MAX));
        let runner = runner_through(server, program, settings, resolver, Arc::clone(&free)).unwrap();
        let task = tokio::spawn(async move { runner.run(stages).await });
        Working {
            directory,
            stage,
            free,
            task,
        }
    }

    /// The work directory.
    pub fn work_dir(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// Shuts down gracefully.
    pub async fn end(self) -> Result<(), RunnerError> {
        self.stage.send_replace(Stage::Draining);
        self.over().await
    }

    /// Shuts down gracefully and keeps the directory.
    pub async fn end_keeping(self) -> tempfile::TempDir {
        self.stage.send_replace(Stage::Draining);
        tokio::time::timeout(LIMIT, self.task)
            .await
            .expect("it ends")
            .expect("no panic")
            .expect("a good end");
        self.directory
    }

    /// Halts at once.
    pub async fn end_halting(self) {
        self.stage.send_replace(Stage::Halting);
        self.over().await.expect("a good end");
    }

    /// Waits for its end.
    pub async fn over(self) -> Result<(), RunnerError> {
        tokio::time::timeout(LIMIT, self.task)
            .await
            .expect("it ends")
            .expect("no panic")
    }
}

/// Settings for tests.
pub fn settings(directory: &tempfile::TempDir) -> Settings {
    let mut settings = Settings::new(directory.path().join("work"));
    settings.labels = vec!["os=linux".to_owned()];
    settings.limits.min_free_bytes = 1 << 30;
    // The tests of the sandbox close them; here it would only slow down every step.
    settings.sandbox.close_ports = false;
    settings
}

/// A runner for a server.
pub fn runner(
    server: &FakeServer,
    settings: Settings,
    resolver: Arc<dyn PlanResolver>,
    free: Arc<AtomicU64>,
) -> Result<Runner, RunnerError> {
    runner_through(server, PathBuf::from(PROGRAM), settings, resolver, free)
}

fn runner_through(
    server: &FakeServer,
    program: PathBuf,
    settings: Settings,
    resolver: Arc<dyn PlanResolver>,
    free: Arc<AtomicU64>,
) -> Result<Runner, RunnerError> {
    let machine = Arc::new(FakeMachine { free });
    let token = SecretText::new("token".to_owned());
    let timeouts = Timeouts::default();
    let server = Server::new(server.url().parse().unwrap(), token, &timeouts, machine).unwrap();
    let executor = Arc::new(ProcessExecutor::through(program));
    Runner::new(settings, server, executor, resolver, "1.0.0".to_owned())
}
