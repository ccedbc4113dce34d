//! The process between the supervisor and the step: enters the sandbox, then becomes the step.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit};
use zeroize::Zeroizing;

use super::{StepCommand, StepOrder};

/// The hidden first argument.
pub(super) const COMMAND: &str = "__sandboxed";

/// Becomes the step described on standard input. Returns only on failure, after printing the error to standard error.
pub(super) fn run() -> ExitCode {
    // A duplicate that closes on exec: the step's own standard error replaces the original.
    if let Ok(report) = io::stderr().as_fd().try_clone_to_owned() {
        let problem = become_step();
        let _ = File::from(report).write_all(problem.as_bytes());
    }
    ExitCode::FAILURE
}

fn become_step() -> String {
    match prepare() {
        // `exec` returns only on failure.
        Ok(mut step) => step.exec().to_string(),
        Err(problem) => problem,
    }
}

fn prepare() -> Result<Command, String> {
    let text = |error: io::Error| error.to_string();
    let mut json = Zeroizing::new(Vec::new());
    io::stdin().read_to_end(&mut json).map_err(text)?;
    let order: StepOrder = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
    // A new session: no terminal to ask for passwords, and a process group for signals.
    rustix::process::setsid().map_err(|error| error.to_string())?;
    rustix::process::umask(Mode::WGRP | Mode::WOTH);
    limit_resources(order.file_bytes);
    let output = io::stdout().as_fd().try_clone_to_owned().map_err(text)?;
    let mut step = command(&order.command)?;
    step.env_clear().envs(&order.env).current_dir(&order.directory);
    step.stdin(Stdio::null()).stdout(Stdio::inherit());
    if let Some((uid, gid)) = order.sandbox.user {
        // Without this the step could not open `/dev/stdout`.
        let (user, group) = (rustix::fs::Uid::from_raw(uid), rustix::fs::Gid::from_raw(gid));
        rustix::fs::fchown(&output, Some(user), Some(group)).map_err(|error| error.to_string())?;
        // The standard library drops the supplementary groups before it changes the user.
        step.uid(uid).gid(gid);
    }
    step.stderr(Stdio::from(output));
    order.sandbox.enter()?;
    Ok(step)
}

fn command(wanted: &StepCommand) -> Result<Command, String> {
    match wanted {
        StepCommand::Shell(script) => {
            let bash = ["/bin/bash", "/usr/bin/bash"]
                .into_iter()
                .find(|path| Path::new(path).is_file());
            let mut shell = Command::new(bash.unwrap_or("/bin/sh"));
            match bash {
                Some(_) => shell.args(["--noprofile", "--norc", "-eo", "pipefail", "-c"]),
                None => shell.args(["-e", "-c"]),
            };
            shell.arg(script);
            Ok(shell)
        }
        StepCommand::Program(words) => {
            let (program, arguments) = words.split_first().ok_or("there is no program to run")?;
            let mut command = Command::new(program);
            command.args(arguments);
            Ok(command)
        }
    }
}

/// Disables core files, which would contain secrets; raises the limit of open files to the maximum, as builds open
/// many; limits the size of a file, because even a sparse one can take days to read.
fn limit_resources(file_bytes: u64) {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = rustix::process::setrlimit(Resource::Core, none);
    // A lower existing limit is kept.
    let allowed = rustix::process::getrlimit(Resource::Fsize).maximum.unwrap_or(u64::MAX);
    let sizes = Rlimit {
        current: Some(file_bytes.min(allowed)),
        maximum: Some(file_bytes.min(allowed)),
    };
    let _ = rustix::process::setrlimit(Resource::Fsize, sizes);
    let files = rustix::process::getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: files.maximum,
        maximum: files.maximum,
    };
    let _ = rustix::process::setrlimit(Resource::Nofile, all);
}
