//! Kills a process when the test process ends, even by SIGKILL.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Kills a process when the test process has ended. Dropping it releases the process unharmed.
///
/// A shell waits for the end of a pipe that only the test process holds. The kernel always closes the pipe, even when
/// no destructor runs.
#[derive(Debug)]
pub struct KillGuard {
    shell: Child,
}

impl KillGuard {
    /// Ties `process` to the life of the test process. Drop the guard right after waiting for `process`, as its id may
    /// be reused later.
    ///
    /// # Panics
    /// If `sh` cannot be started.
    #[must_use]
    pub fn on(process: &Child) -> Self {
        let shell = Command::new("sh")
            .args([
                "-c",
                "read -r nothing; kill -KILL \"$1\"",
                "sh",
                &process.id().to_string(),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A process group of its own: Ctrl-C in the terminal must end the test, not its cleanup.
            .process_group(0)
            .spawn()
            .expect("`sh` can be started");
        Self { shell }
    }
}

impl Drop for KillGuard {
    fn drop(&mut self) {
        // Kill the shell before its pipe is closed: otherwise it would kill the process.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn kills_when_the_pipe_ends() {
        let mut process = Command::new("sleep").arg("60").spawn().unwrap();
        let mut kill_guard = KillGuard::on(&process);
        // The kernel does the same when the test process ends.
        drop(kill_guard.shell.stdin.take());
        assert_eq!(process.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn lets_go_without_harm() {
        let mut process = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        drop(KillGuard::on(&process));
        drop(process.stdin.take());
        assert!(process.wait().unwrap().success());
    }
}
