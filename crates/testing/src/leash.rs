//! Ends a process when the test process ends, however that ends, SIGKILL included.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Kills a process when the test process is gone; dropped, it lets go without harm.
///
/// A shell waits for the end of a pipe that only the test process holds. The kernel closes the pipe in every case, where
/// a destructor would not run.
#[derive(Debug)]
pub struct Leash {
    shell: Child,
}

impl Leash {
    /// Ties `process` to the life of the test process. Drop the leash right after `process` was waited for, or its id
    /// may be another's by then.
    ///
    /// # Panics
    /// When `sh` cannot be started.
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
            // Its own group: Ctrl-C at the terminal must end the test, not what cleans up after it.
            .process_group(0)
            .spawn()
            .expect("`sh` can be started");
        Self { shell }
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        // The shell goes before its pipe is closed: otherwise it would do what it is for.
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
        let mut leash = Leash::on(&process);
        // What the kernel does when the test process is gone.
        drop(leash.shell.stdin.take());
        assert_eq!(process.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn lets_go_without_harm() {
        let mut process = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        drop(Leash::on(&process));
        drop(process.stdin.take());
        assert!(process.wait().unwrap().success());
    }
}
