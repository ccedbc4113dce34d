//! Directories and steps for the tests.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use launchway_runner::executor::{Executor, ProcessExecutor, RunningStep, StepCommand, StepEnd, StepOrder};
use launchway_runner::sandbox::Sandbox;
use tokio::io::AsyncReadExt;

/// A condition that does not hold after this time never will.
pub const LIMIT: Duration = Duration::from_secs(60);
/// The program that tests start.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_runner-under-test");
/// An unprivileged user that exists on every system.
pub const NOBODY: u32 = 65_534;

/// Whether the tests run as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A directory that every user can traverse.
pub fn open_directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o711)).unwrap();
    directory
}

/// Creates a directory that belongs to a user.
pub fn directory_of(path: PathBuf, user: Option<u32>) -> PathBuf {
    fs::create_dir(&path).unwrap();
    if let Some(user) = user {
        chown(&path, Some(user), Some(user)).unwrap();
    }
    path
}

/// A step without a sandbox.
pub fn order(script: &str, directory: &Path) -> StepOrder {
    let path = ("PATH".to_owned(), launchway_runner::settings::DEFAULT_PATH.to_owned());
    StepOrder {
        command: StepCommand::Shell(script.to_owned()),
        directory: directory.to_owned(),
        env: BTreeMap::from([path]),
        sandbox: Sandbox::default(),
        grace: Duration::from_secs(10),
        file_bytes: 1 << 40,
    }
}

/// Starts a step through the program.
pub async fn start(order: StepOrder) -> RunningStep {
    let executor = ProcessExecutor::through(PathBuf::from(PROGRAM));
    executor.start(order).await.expect("a step that starts")
}

/// Runs a step to its end. Returns its output.
pub async fn run(order: StepOrder) -> (String, StepEnd) {
    let RunningStep { mut output, stop, end } = start(order).await;
    let mut printed = Vec::new();
    let (read, end) = tokio::join!(output.read_to_end(&mut printed), end);
    read.unwrap();
    drop(stop);
    (String::from_utf8_lossy(&printed).into_owned(), end.expect("an end"))
}

/// Waits until a condition holds.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    launchway_testing::wait::until(LIMIT, what, async || holds().then_some(())).await;
}

/// The ids that a step wrote to a file of its directory, one per line, once there are `count`.
pub async fn written_ids(file: &Path, count: usize) -> Vec<u32> {
    let read = || -> Vec<u32> {
        let text = fs::read_to_string(file).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| line.parse().unwrap()).collect()
    };
    until("the step writes its process ids", || read().len() >= count).await;
    read()
}

/// Whether a process exists and is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.trim().is_empty() && !rest.starts_with(" Z"))
}
