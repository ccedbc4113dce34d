//! The supervisor of one step: runs outside the sandbox, starts the step inside it, and does not exit before all
//! processes of the step have ended, including those that left its process group or became orphans.

use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::descendants::signal_descendants;
use super::process::this_program;
use super::{StepEnd, StepOrder, sandboxed};

/// The hidden first argument.
pub(super) const COMMAND: &str = "__step";
/// The maximum size of an order: 200 variables of 64 KiB each, and the script.
const MAX_ORDER: u64 = 64 << 20;
/// The time that the remaining processes of a finished step have between SIGTERM and SIGKILL.
const LEFT_OVER_GRACE: Duration = Duration::from_secs(2);
/// The interval between SIGKILLs to processes that do not end.
const SWEEP_INTERVAL: Duration = Duration::from_millis(20);
/// A process that survives SIGKILL hangs in the kernel; the supervisor gives up after this.
const KILL_TIMEOUT: Duration = Duration::from_secs(60);

/// What a supervisor reports when it exits.
#[derive(Serialize, Deserialize)]
pub(super) enum Report {
    Ended(StepEnd),
    NotStarted(String),
}

enum Event {
    /// The runner wants the step stopped, or has died.
    Stop,
    /// A process ended.
    Gone(Pid, WaitStatus),
    /// No process is left.
    AllGone,
}

/// Runs the step described on standard input. Its output goes to standard output, the report to standard error.
pub(super) fn run() -> ExitCode {
    let report = match supervise() {
        Ok(end) => Report::Ended(end),
        Err(problem) => Report::NotStarted(problem),
    };
    let json = serde_json::to_vec(&report).unwrap_or_default();
    match io::stderr().write_all(&json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn supervise() -> Result<StepEnd, String> {
    let order = read_order().map_err(|error| format!("cannot read the command: {error}"))?;
    // The step may run as the same user and must not inspect this process.
    crate::sandbox::hide_this_process().map_err(|error| error.to_string())?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|error| error.to_string())?;
    let mut child = start(&order)?;
    let step = Pid::from_child(&child);
    let (sender, events) = channel();
    watch_runner(sender.clone());
    watch_processes(sender);
    // Empty once the sandboxed process has become the step.
    let mut problem = String::new();
    if let Some(said) = child.stderr.take() {
        let _ = said.take(4096).read_to_string(&mut problem);
    }
    let end = see_to_end(&events, step, order.grace);
    // Without a subreaper, orphans of the step are not adopted, and only the process group is known.
    #[cfg(not(target_os = "linux"))]
    signal_descendants(step, Signal::KILL);
    match problem.as_str() {
        "" => end.ok_or_else(|| "cannot wait for its processes".to_owned()),
        problem => Err(problem.to_owned()),
    }
}

fn read_order() -> io::Result<StepOrder> {
    let mut input = io::stdin().lock();
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    let length = u64::from_be_bytes(length);
    if length > MAX_ORDER {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut json = Zeroizing::new(Vec::new());
    input.take(length).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

/// Starts the process that enters the sandbox and becomes the step.
fn start(order: &StepOrder) -> Result<Child, String> {
    let program = this_program().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.arg(sandboxed::COMMAND).env_clear();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::inherit())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let json = Zeroizing::new(serde_json::to_vec(order).map_err(|error| error.to_string())?);
    if let Some(mut orders) = child.stdin.take() {
        // If it ended early, it has reported why.
        let _ = orders.write_all(&json);
    }
    Ok(child)
}

fn watch_runner(sender: Sender<Event>) {
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = sender.send(Event::Stop);
    });
}

fn watch_processes(sender: Sender<Event>) {
    thread::spawn(move || {
        loop {
            match rustix::process::wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) => {
                    let _ = sender.send(Event::Gone(pid, status));
                }
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
        let _ = sender.send(Event::AllGone);
    });
}

/// Waits until the step and all its processes have ended, and kills them when needed. `None` if the exit status is
/// unknown.
fn see_to_end(events: &Receiver<Event>, step: Pid, grace: Duration) -> Option<StepEnd> {
    let mut end = None;
    let mut deadline: Option<Instant> = None;
    let mut gave_up: Option<Instant> = None;
    loop {
        let event = match deadline {
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(deadline) => {
                events.recv_timeout(deadline.saturating_duration_since(Instant::now()).max(SWEEP_INTERVAL))
            }
        };
        match event {
            Ok(Event::AllGone) | Err(RecvTimeoutError::Disconnected) => return end,
            Ok(Event::Gone(pid, status)) if pid == step => {
                end = end_of(status);
                if deadline.is_none() {
                    signal_descendants(step, Signal::TERM);
                    deadline = Some(Instant::now() + grace.min(LEFT_OVER_GRACE));
                }
            }
            Ok(Event::Stop) => {
                signal_descendants(step, Signal::TERM);
                deadline = Some(Instant::now() + grace);
            }
            Ok(Event::Gone(..)) | Err(RecvTimeoutError::Timeout) => {}
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            signal_descendants(step, Signal::KILL);
            if Instant::now() >= *gave_up.get_or_insert(Instant::now() + KILL_TIMEOUT) {
                return end;
            }
        }
    }
}

fn end_of(status: WaitStatus) -> Option<StepEnd> {
    let status = ExitStatus::from_raw(status.as_raw());
    let exited = status.code().map(StepEnd::Exited);
    exited.or_else(|| status.signal().map(StepEnd::Killed))
}
