//! What an inspecting process gives up before it looks at a file: new rights, the file system, more open files, and with
//! these the network, other processes, and memory and time without end. It fails closed: what cannot be given up ends it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use launchway_runner::sandbox::{Landlock, Places, Sandbox, hide_this_process, landlock_here};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Bytes of memory. The largest table that is read of an app has 128 MiB, and may lie in memory twice while it grows.
const MEMORY: u64 = 512 << 20;
/// Bytes of the stack. Nothing that is read here recurses deeper than some ten calls.
const STACK: u64 = 8 << 20;
/// Seconds on a processor. The most that is unpacked of one file, 4 GiB, takes some twenty.
const SECONDS: u64 = 120;
/// A process whose server is gone, or hangs, ends itself.
const WALL: Duration = Duration::from_secs(600);

/// How much a process may use.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Seconds on a processor.
    pub(super) seconds: u64,
    /// Bytes that it may write into one file.
    pub(super) file_size: u64,
    /// How long it may live.
    pub(super) life: Duration,
}

impl Bounds {
    /// Those of one inspection.
    pub(super) const ONE: Bounds = Bounds {
        seconds: SECONDS,
        file_size: 0,
        life: WALL,
    };

    /// So many seconds more, for a server that takes larger packages than usual.
    pub(super) fn longer(self, more: u64) -> Bounds {
        Bounds {
            seconds: self.seconds.saturating_add(more),
            life: self.life.saturating_add(Duration::from_secs(more)),
            ..self
        }
    }
}

/// Gives everything up but what is open already, of which `last` was opened last.
///
/// # Errors
/// A sentence; nothing may be read then.
pub(super) fn give_up_everything(last: &OwnedFd, bounds: Bounds) -> Result<(), String> {
    hide_this_process().map_err(text)?;
    let nothing = Sandbox {
        places: (landlock_here() > Landlock::Missing).then(Places::default),
        ..Sandbox::default()
    };
    nothing.put_on()?;
    limit(Resource::Core, 0)?;
    limit(Resource::Cpu, bounds.seconds)?;
    limit(Resource::Stack, STACK)?;
    limit(Resource::Data, MEMORY)?;
    limit(Resource::Fsize, bounds.file_size)?;
    end_with_the_server(bounds.life)?;
    limit(Resource::Nproc, 0)?;
    // No more files, and so no sockets: all numbers below are in use.
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

/// Ends this process when nobody reads its answer any more, and when it lived long enough.
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
