//! The sandbox between a build and the rest of the machine: another user id if the runner is root, Landlock if the
//! kernel supports it, both if both are available (`docs/reference/builds.md#isolation-from-the-server`).
//!
//! In addition, Landlock closes the TCP ports on which servers of this machine listen (`ports`), and the system calls
//! that bypass it are refused (`calls`). A separate view of the machine hides processes and sockets (`apart`). Routing
//! rules close the metadata services of clouds (`metadata`). Before builds run, a step tries what of that the machine
//! lacks (`trial`), and the runner logs the result when it starts.
//!
//! With Landlock alone, without a separate user id, a step can change the permissions and times of the user's files
//! outside, though not read or write them.

#[cfg(target_os = "linux")]
mod apart;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod landlock;
pub mod metadata;
mod places;
mod ports;
mod report;
pub mod trial;
mod users;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use ports::{HTTP, Ports};
pub use report::{Opening, SandboxReport};
pub use users::{MAX_IDS, Users};

/// The first user id of builds, unless the settings have another.
pub const DEFAULT_FIRST_UID: u32 = 58_800;

/// How steps are isolated from the rest of the machine.
#[derive(Clone, Debug)]
pub struct SandboxSettings {
    /// The user that steps run as. Only root can change it.
    pub user: BuildUser,
    /// Whether Landlock is used if the kernel has it.
    pub landlock: bool,
    /// Paths that steps must never read, even inside a readable one: the server's data and settings.
    pub hidden: Vec<PathBuf>,
    /// Paths that steps may read and execute besides the system directories: toolchains.
    pub readable: Vec<PathBuf>,
    /// Paths that steps may change besides their workspace.
    pub writable: Vec<PathBuf>,
    /// Whether TCP ports are closed if the kernel can; it takes about 100 ms for each step.
    pub close_ports: bool,
    /// TCP ports that are always closed to steps: the server's own.
    pub closed_ports: Vec<u16>,
    /// TCP ports that stay open to steps even if a server listens on them.
    pub open_ports: Vec<u16>,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            user: BuildUser::Range {
                first: DEFAULT_FIRST_UID,
            },
            landlock: true,
            hidden: Vec::new(),
            readable: Vec::new(),
            writable: Vec::new(),
            close_ports: true,
            closed_ports: Vec::new(),
            open_ports: Vec::new(),
        }
    }
}

/// The user that steps run as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildUser {
    /// The runner's own user.
    Own,
    /// One user for all slots. Without Landlock, their builds can access each other. Ignored if the runner is not root.
    Fixed {
        /// The user id.
        uid: u32,
        /// The group id.
        gid: u32,
    },
    /// Each slot has its own user and group id, the first free ones from `first` on, so builds cannot access each other
    /// either. Ignored if the runner is not root.
    Range {
        /// The first id.
        first: u32,
    },
}

/// The isolation that this machine supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available {
    /// Whether builds have another user id.
    pub user: bool,
    /// Whether builds run as root, which no sandbox confines reliably.
    pub as_root: bool,
    /// The level of Landlock.
    pub landlock: Landlock,
    /// Whether TCP ports can be closed (Linux 6.7).
    pub ports: bool,
}

/// The level of Landlock on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Landlock {
    /// The kernel lacks it, or it is disabled.
    Missing,
    /// It closes files and tracing, but not signals (before Linux 6.12).
    Partial,
    /// It closes files, tracing, signals and abstract sockets.
    Full,
}

/// The sandbox of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// The user and group id of the step; `None` is the runner's own.
    pub user: Option<(u32, u32)>,
    /// The paths that Landlock leaves open; `None` is without Landlock.
    pub places: Option<Places>,
    /// The TCP ports that the step may connect to; `None` is all.
    #[serde(default)]
    pub ports: Option<Ports>,
    /// Whether the step has its own view of the machine.
    #[serde(default)]
    pub apart: bool,
}

/// The paths that a step may access. Everything else is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// Paths that it may read and execute.
    pub read: Vec<PathBuf>,
    /// Paths that it may also change.
    pub write: Vec<PathBuf>,
    /// Devices that it may use.
    pub devices: Vec<PathBuf>,
}

impl SandboxSettings {
    /// The isolation that these settings achieve on this machine.
    pub fn available(&self) -> Available {
        let root = rustix::process::geteuid().is_root();
        Available {
            user: self.user != BuildUser::Own && root,
            as_root: self.user == BuildUser::Own && root,
            landlock: if self.landlock {
                landlock_here()
            } else {
                Landlock::Missing
            },
            ports: self.landlock && self.close_ports && ports_here(),
        }
    }

    /// The sandbox of a step that runs as `user` and may change `workspace`. `work_dir`, which contains other builds,
    /// is closed.
    pub fn sandbox(&self, user: Option<(u32, u32)>, work_dir: &Path, workspace: &Path) -> Sandbox {
        let available = self.available();
        Sandbox {
            user,
            places: (available.landlock > Landlock::Missing).then(|| places::of(self, work_dir, workspace)),
            ports: available.ports.then(|| Ports {
                closed: self.closed_ports.clone(),
                open: self.open_ports.clone(),
            }),
            apart: false,
        }
    }
}

impl Sandbox {
    /// Applies the irreversible part of the sandbox to this process and its children: the view of the machine,
    /// Landlock, the refused system calls, and no new privileges. The following exec changes the user id.
    ///
    /// # Errors
    /// A message about what is unavailable; the step must not run then.
    pub fn enter(&self) -> Result<(), String> {
        #[cfg(target_os = "linux")]
        {
            let closed = rustix::thread::set_no_new_privs(true);
            closed.map_err(|error| format!("cannot set no_new_privs: {error}"))?;
            if self.apart {
                apart::enter(self.places.as_ref())?;
            }
            let closed = self.ports.as_ref().map(Ports::closed_now).transpose();
            let closed =
                closed.map_err(|error| format!("cannot list the listening sockets of this machine: {error}"))?;
            if let Some(places) = &self.places {
                landlock::restrict(places, closed.as_ref())?;
            }
            match closed {
                Some(_) => calls::refuse(),
                None => Ok(()),
            }
        }
        #[cfg(not(target_os = "linux"))]
        match self.places {
            Some(_) => Err("this system has no Landlock".to_owned()),
            None => Ok(()),
        }
    }
}

/// Makes this process untraceable for others of the same user, so builds cannot read its memory and environment even
/// without Landlock. Call it first in a server or runner. It also disables core dumps.
///
/// # Errors
/// An I/O error.
pub fn hide_this_process() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// The level of Landlock on this machine.
#[cfg(target_os = "linux")]
pub fn landlock_here() -> Landlock {
    landlock::level()
}

#[cfg(target_os = "linux")]
fn ports_here() -> bool {
    landlock::closes_ports() && calls::are_known()
}

/// The level of Landlock on this machine.
#[cfg(not(target_os = "linux"))]
pub fn landlock_here() -> Landlock {
    Landlock::Missing
}

#[cfg(not(target_os = "linux"))]
fn ports_here() -> bool {
    false
}
