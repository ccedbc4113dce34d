//! Programs that run to their end, and the processor time that they take.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::server::cpu_of;

/// Runs a program to its end and drops its output; returns the user and system time of its process and of those that it started
/// and waited for.
///
/// # Errors
/// When it cannot be started, or fails.
pub fn run(command: &mut Command) -> anyhow::Result<Duration> {
    let name = command.get_program().display().to_string();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{name} cannot be started"))?;
    let pid = Pid::from_child(&child);
    // The figures of a process are there until somebody takes its status.
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let cpu = cpu_of(&stat, 14..=17)?;
    let mut said = String::new();
    if let Some(mut errors) = child.stderr.take() {
        errors.read_to_string(&mut said)?;
    }
    ensure!(child.wait()?.success(), "{name} failed: {said}");
    Ok(cpu)
}
