//! Which core the server under measurement gets, and which the load.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Two cores, or twice the only one.
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
    /// When the system does not tell.
    pub fn find() -> io::Result<Cores> {
        let allowed = sched_getaffinity(None)?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
        let server = cores.next().unwrap_or(0);
        Ok(Cores {
            server,
            load: cores.next().unwrap_or(server),
        })
    }

    /// Whether server and load do not stand in each other's way.
    pub fn are_two(&self) -> bool {
        self.server != self.load
    }

    /// Does something on the server's core, then goes on on the load's. A process started meanwhile, and every thread
    /// of it, stays on the server's core: a child inherits where its parent may run.
    ///
    /// # Errors
    /// When the system does not let us choose.
    pub fn on_server_core<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        pin(self.server)?;
        let done = work();
        pin(self.load)?;
        Ok(done)
    }
}

/// Lets the calling thread run on one core only.
fn pin(core: usize) -> io::Result<()> {
    let mut only = CpuSet::new();
    only.set(core);
    Ok(sched_setaffinity(None, &only)?)
}
