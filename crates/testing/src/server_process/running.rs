//! One started process: waits until it is ready, collects its output, and ends it.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::kill_guard::KillGuard;
use crate::wait::until_blocking;

/// The prefix of the line with the address that reports readiness.
const READY: &str = "Listening on http://";

/// How long a server may take to start. Far more than it needs, for slow machines.
const START_LIMIT: Duration = Duration::from_secs(30);

/// How long a server may take to stop: what `docs/reference/operation.md#stopping` promises, and a margin.
const END_LIMIT: Duration = Duration::from_secs(40);

/// The pause between two looks at a process that stops.
const GLANCE: Duration = Duration::from_millis(5);

/// A process that is ready. Killed on drop.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    stdout: Arc<Mutex<String>>,
    _kill_guard: KillGuard,
}

impl Running {
    /// Starts `command` and waits for its ready line. Returns the process and the address in the line; if it ends
    /// before or takes too long, returns its standard output.
    pub(super) fn start(mut command: Command) -> Result<(Self, String), String> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        let stdout = Arc::new(Mutex::new(String::new()));
        let lines = collect(
            child.stdout.take().expect("the output was asked for"),
            Arc::clone(&stdout),
        );
        let running = Self {
            _kill_guard: KillGuard::on(&child),
            child,
            stdout,
        };
        match wait_until_ready(&lines) {
            Some(address) => Ok((running, address)),
            None => Err(running.stdout()),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn stdout(&self) -> String {
        self.stdout.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends SIGTERM and waits for the end; `None` if it does not end in time.
    pub(super) fn terminate(mut self) -> Option<ExitStatus> {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        // The standard library has no wait with a timeout.
        until_blocking(GLANCE, END_LIMIT, || self.child.try_wait().ok().flatten())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads `output` to its end in a separate thread, so that the process never blocks on a full pipe. Each line goes to
/// `all` and to the receiver.
fn collect(output: ChildStdout, all: Arc<Mutex<String>>) -> Receiver<String> {
    let (sender, receiver): (Sender<String>, _) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.push_str(&line);
            all.push('\n');
            // The receiver is dropped once the process is ready.
            let _ = sender.send(line);
        }
    });
    receiver
}

/// The address in the ready line; `None` when the output ends or the time is up.
fn wait_until_ready(lines: &Receiver<String>) -> Option<String> {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match lines.recv_timeout(left) {
            Ok(line) => {
                if let Some(address) = line.strip_prefix(READY) {
                    return Some(address.trim_end_matches('/').to_owned());
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        }
    }
}
