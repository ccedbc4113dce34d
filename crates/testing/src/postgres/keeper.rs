//! The shell process that starts and stops one PostgreSQL, and outlives the test process long enough to clean up.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::Programs;
use crate::settings::setting;

const SCRIPT: &str = include_str!("keeper.sh");

/// How much of the log a message shows, in bytes.
const SHOWN: usize = 4_000;

/// A data directory and the process that manages it.
#[derive(Debug)]
pub(super) struct Keeper {
    shell: Child,
    /// `None` once the keeper cleans up.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    root: PathBuf,
    /// The port of the last start.
    port: u16,
}

/// PostgreSQL did not execute the command; [`Keeper::log`] says why.
#[derive(Debug)]
pub(super) struct CommandError;

impl Keeper {
    /// Creates a new data directory, owned by an account that PostgreSQL can run as.
    pub(super) fn create(programs: &Programs) -> Self {
        let account = Account::to_run_as();
        // Not the user's own temporary directory: the path of a socket is limited to about 100 characters, and the
        // account that runs the server must have access.
        let root = tempfile::Builder::new()
            .prefix("lwpg")
            .tempdir_in("/tmp")
            .expect("a directory in /tmp can be made");
        if let Some(account) = &account {
            chown(root.path(), Some(account.user), Some(account.group)).expect("root can give a directory away");
        }
        let mut shell = keeper_command(account.as_ref(), &programs.server, root.path())
            .spawn()
            .unwrap_or_else(|error| panic!("`sh` or, for root, `setpriv` cannot be started: {error}"));
        let orders = shell.stdin.take();
        let answers = BufReader::new(shell.stdout.take().expect("the output was asked for"));
        // From here on the keeper removes the directory.
        let mut keeper = Self {
            shell,
            orders,
            answers,
            root: root.keep(),
            port: 0,
        };
        assert!(keeper.order("create").is_ok(), "`initdb` failed:\n{}", keeper.log());
        keeper
    }

    /// Starts the server on `port` and waits until it answers.
    pub(super) fn start(&mut self, port: u16) -> Result<(), CommandError> {
        self.port = port;
        self.order(&format!("start {port}"))
    }

    /// Starts the stopped server on its previous port.
    pub(super) fn restart(&mut self) -> Result<(), CommandError> {
        self.start(self.port)
    }

    /// Stops the server immediately and waits for its end.
    pub(super) fn stop(&mut self) -> Result<(), CommandError> {
        self.order("stop")
    }

    /// The directory with all files.
    pub(super) fn directory(&self) -> &Path {
        &self.root
    }

    /// The end of the output of PostgreSQL and its programs.
    pub(super) fn log(&self) -> String {
        let log = fs::read(self.root.join("log")).unwrap_or_else(|error| format!("(no log: {error})").into_bytes());
        String::from_utf8_lossy(&log[log.len().saturating_sub(SHOWN)..]).into_owned()
    }

    /// Sends one line and waits for its answer.
    fn order(&mut self, line: &str) -> Result<(), CommandError> {
        let orders = self.orders.as_mut().ok_or(CommandError)?;
        writeln!(orders, "{line}").map_err(|_| CommandError)?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(|_| CommandError)?;
        if answer == "ok\n" { Ok(()) } else { Err(CommandError) }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.shell.wait();
    }
}

/// The account to run PostgreSQL as, which refuses to run as root.
struct Account {
    user: u32,
    group: u32,
}

impl Account {
    /// `None` if the tests do not run as root: then it is their own account.
    fn to_run_as() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let account = ["postgres", "nobody"].iter().find_map(|name| {
            Some(Self {
                user: id_of("--user", name)?,
                group: id_of("--group", name)?,
            })
        });
        Some(account.expect("one of the accounts `postgres` and `nobody` must exist, to run PostgreSQL not as root"))
    }
}

/// An id of an account, according to `id`.
fn id_of(which: &str, name: &str) -> Option<u32> {
    let output = Command::new("id").args([which, name]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

fn keeper_command(account: Option<&Account>, programs: &Path, root: &Path) -> Command {
    let mut command = match account {
        None => Command::new("sh"),
        Some(Account { user, group }) => {
            let mut command = Command::new("setpriv");
            command
                .args([format!("--reuid={user}"), format!("--regid={group}")])
                .args(["--clear-groups", "sh"]);
            command
        }
    };
    command
        .args(["-c", SCRIPT, "sh"])
        .args([programs, root])
        .env_clear()
        .env("PATH", setting("PATH").unwrap_or_else(|| "/usr/bin:/bin".to_owned()))
        .env("LC_ALL", "C")
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A process group of its own: Ctrl-C in the terminal must end the test, not its cleanup.
        .process_group(0);
    command
}
