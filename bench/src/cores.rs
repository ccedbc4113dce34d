//! The cores for the server under measurement and for the load.

use std::io;

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
}

/// Restricts the calling thread to one core.
fn pin(core: usize) -> io::Result<()> {
    let mut only = CpuSet::new();
    only.set(core);
    Ok(sched_setaffinity(None, &only)?)
}
