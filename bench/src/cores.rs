//! The cores for the server under measurement and for the load.

use std::{fs, io};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Two cores, or the only one twice.
#[derive(Clone, Copy, Debug)]
pub struct Cores {
    /// The core of the servers.
    pub server: usize,
    /// The core of the load generator.
    pub load: usize,
}

impl Cores {
    /// The first two cores that this process may use.
    ///
    /// # Errors
    /// When the system does not report them.
    pub fn find() -> io::Result<Cores> {
        let allowed = sched_getaffinity(None)?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
        let server = cores.next().unwrap_or(0);
        Ok(Cores {
            server,
            load: cores.next().unwrap_or(server),
        })
    }

    /// Whether server and load run on different cores.
    pub fn are_two(&self) -> bool {
        self.server != self.load
    }

    /// Runs a function on the server's core, then continues on the load's. A process started in the function, with all
    /// its threads, stays on the server's core: a child inherits its parent's affinity.
    ///
    /// # Errors
    /// When the system does not allow the choice.
    pub fn on_server_core<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        pin(self.server)?;
        let done = work();
        pin(self.load)?;
        Ok(done)
    }

    /// Moves a process that runs already to the server's core.
    ///
    /// # Errors
    /// When there is none, or the system does not allow the choice.
    pub fn move_to_server_core(&self, process: u32) -> io::Result<()> {
        pin_process(process, self.server)
    }
}

/// The cores that the calling thread may use.
#[derive(Debug)]
pub struct AllowedCores(CpuSet);

impl AllowedCores {
    /// Those of now.
    ///
    /// # Errors
    /// When the system does not report them.
    pub fn find() -> io::Result<AllowedCores> {
        Ok(AllowedCores(sched_getaffinity(None)?))
    }

    /// Lets the calling thread use them again.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn restore(&self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.0)?)
    }
}

/// Restricts all threads of a running process to one core.
fn pin_process(process: u32, core: usize) -> io::Result<()> {
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        let name = thread?.file_name();
        let id = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        sched_setaffinity(id, &only(core))?;
    }
    Ok(())
}

/// Restricts the calling thread to one core.
fn pin(core: usize) -> io::Result<()> {
    Ok(sched_setaffinity(None, &only(core))?)
}

fn only(core: usize) -> CpuSet {
    let mut only = CpuSet::new();
    only.set(core);
    only
}
