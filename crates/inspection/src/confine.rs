//! The privileges that an inspection process gives up before it reads a file: new rights, the file system, further open
//! files, and with them the network, other processes, and unbounded memory and time. It fails closed: if a restriction
//! cannot be applied, the process exits.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use launchway_runner::sandbox::{Landlock, Places, Sandbox, hide_this_process, landlock_here};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Memory limit in bytes. The largest table that is read from an app has 128 MiB, and may be in memory twice while it
/// grows.
const MEMORY: u64 = 512 << 20;
/// Stack limit in bytes. No parser recurses more than about ten calls deep.
const STACK: u64 = 8 << 20;
/// Limit on CPU time in seconds. The most that is unpacked from one file, 4 GiB, takes about twenty.
const SECONDS: u64 = 120;
/// How long a process lives at most, in case its server is gone or hangs.
const WALL: Duration = Duration::from_secs(600);

/// The resource limits of a process.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Seconds of CPU time.
    pub(super) seconds: u64,
    /// The maximum size in bytes of a file that it writes.
    pub(super) file_size: u64,
    /// Its maximum lifetime.
    pub(super) life: Duration,
}

impl Bounds {
    /// The limits of one inspection.
    pub(super) const ONE: Bounds = Bounds {
        seconds: SECONDS,
        file_size: 0,
        life: WALL,
    };

    /// The limits with `more` seconds of CPU time, for a server that accepts larger packages than the default.
    pub(super) fn with_seconds(self, more: u64) -> Bounds {
        Bounds {
            seconds: self.seconds.saturating_add(more),
            life: self.life.saturating_add(Duration::from_secs(more)),
            ..self
        }
    }
}

/// Gives up everything but the files that are open, of which `last` was opened last.
///
/// # Errors
/// A sentence; nothing may be read after that.
pub(super) fn give_up_everything(last: &OwnedFd, bounds: Bounds) -> Result<(), String> {
    hide_this_process().map_err(text)?;
    let nothing = Sandbox {
        places: (landlock_here() > Landlock::Missing).then(Places::default),
        ..Sandbox::default()
    };
    nothing.enter()?;
    limit(Resource::Core, 0)?;
    limit(Resource::Cpu, bounds.seconds)?;
    limit(Resource::Stack, STACK)?;
    limit(Resource::Data, MEMORY)?;
    limit(Resource::Fsize, bounds.file_size)?;
    end_with_the_server(bounds.life)?;
    limit(Resource::Nproc, 0)?;
    // No more files, and so no sockets: all descriptors below the limit are in use.
    let open = u64::try_from(last.as_raw_fd()).map_err(|error| error.to_string())? + 1;
    limit(Resource::Nofile, open)
}

fn limit(resource: Resource, most: u64) -> Result<(), String> {
    let hard = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
    let limit = Rlimit {
        current: Some(hard),
        maximum: Some(hard),
    };
    setrlimit(resource, limit).map_err(|error| format!("cannot limit {resource:?}: {error}"))
}

/// Exits when nobody reads the answer any more, or at the end of the maximum lifetime.
fn end_with_the_server(life: Duration) -> Result<(), String> {
    let answer = io::stdout().as_fd().try_clone_to_owned().map_err(text)?;
    let watch = move || {
        let mut gone = [PollFd::new(&answer, PollFlags::empty())];
        let life = Timespec {
            tv_sec: i64::try_from(life.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: 0,
        };
        while poll(&mut gone, Some(&life)) == Err(rustix::io::Errno::INTR) {}
        std::process::exit(1);
    };
    let stack = 64 << 10;
    thread::Builder::new()
        .stack_size(stack)
        .spawn(watch)
        .map(|_| ())
        .map_err(text)
}

fn text(error: io::Error) -> String {
    error.to_string()
}
