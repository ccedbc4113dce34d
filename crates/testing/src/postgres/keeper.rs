//! The shell process that starts and stops one PostgreSQL, and outlives the test process just long enough to clean up.

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

/// A data directory and the process that looks after it.
#[derive(Debug)]
pub(super) struct Keeper {
    shell: Child,
    /// None once the keeper was told to clean up.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    root: PathBuf,
    /// The port of the last start.
    port: u16,
}

/// PostgreSQL did not do as ordered; [`Keeper::log`] says why.
#[derive(Debug)]
pub(super) struct Failed;

impl Keeper {
    /// Makes a new data directory, owned by an account that PostgreSQL agrees to run as.
    pub(super) fn create(programs: &Programs) -> Self {
        let account = Account::to_run_as();
        // Not the user's own temporary directory: the path of a socket holds about 100 characters, and the account that
        // runs the server must be able to get there.
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
    pub(super) fn start(&mut self, port: u16) -> Result<(), Failed> {
        self.port = port;
        self.order(&format!("start {port}"))
    }

    /// Starts the stopped server on the port that it had.
    pub(super) fn start_again(&mut self) -> Result<(), Failed> {
        self.start(self.port)
    }

    /// Ends the server at once and waits for its end.
    pub(super) fn stop(&mut self) -> Result<(), Failed> {
        self.order("stop")
    }

    /// Where everything lies.
    pub(super) fn directory(&self) -> &Path {
        &self.root
    }

    /// The end of what PostgreSQL and its programs wrote.
    pub(super) fn log(&self) -> String {
        let log = fs::read(self.root.join("log")).unwrap_or_else(|error| format!("(no log: {error})").into_bytes());
        String::from_utf8_lossy(&log[log.len().saturating_sub(SHOWN)..]).into_owned()
    }

    /// Sends one line and waits for its answer.
    fn order(&mut self, line: &str) -> Result<(), Failed> {
        let orders = self.orders.as_mut().ok_or(Failed)?;
        writeln!(orders, "{line}").map_err(|_| Failed)?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(|_| Failed)?;
        if answer == "ok\n" { Ok(()) } else { Err(Failed) }
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
    /// None when the tests do not run as root: then it is their own account.
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

/// What `id` says of an account.
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
        // Its own group: Ctrl-C at the terminal must end the test, not what cleans up after it.
        .process_group(0);
    command
}
