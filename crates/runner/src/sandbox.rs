//! The sandbox between a build and the rest of the machine: another user id where the runner is root, Landlock where the
//! kernel supports it, both where both are available (`docs/reference/builds.md#isolation-from-the-server`).
//!
//! Besides these: TCP ports on which this machine's servers listen are closed by Landlock (`ports`) and by refusing the system
//! calls that lead around it (`calls`); a view of the machine of its own hides processes and sockets (`apart`); rules of
//! routing close the metadata services of clouds (`metadata`). What of that a machine lacks, a step tries before builds run
//! (`trial`), and the runner says at its start.
//!
//! What Landlock alone leaves open, and a user id of its own closes: a step of the same user may change rights and times
//! of the user's files outside, though not read or write them.

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
pub use users::{MOST_IDS, Users};

/// The first user id of builds unless the settings name one.
pub const DEFAULT_FIRST_UID: u32 = 58_800;

/// How steps are kept from the rest of the machine.
#[derive(Clone, Debug)]
pub struct SandboxSettings {
    /// Who steps run as. Only root can change it.
    pub user: BuildUser,
    /// Whether Landlock is put on where the kernel has it.
    pub landlock: bool,
    /// What steps must never read, even below a place that they may: the server's data and settings.
    pub hidden: Vec<PathBuf>,
    /// What steps may read and run besides the system's own directories: toolchains.
    pub readable: Vec<PathBuf>,
    /// What steps may change besides their workspace.
    pub writable: Vec<PathBuf>,
    /// Whether TCP ports are closed where the kernel can; it takes a tenth of a second for each step.
    pub close_ports: bool,
    /// TCP ports that are closed to steps, whoever listens there: the server's own.
    pub closed_ports: Vec<u16>,
    /// TCP ports that are open to steps, though they would be closed.
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

/// Who steps run as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildUser {
    /// The runner's own user.
    Own,
    /// This user, for all slots: their builds can reach each other where Landlock is missing. Ignored when the runner is
    /// not root.
    Fixed {
        /// Its id.
        uid: u32,
        /// Its group's id.
        gid: u32,
    },
    /// Each slot has a user and group id of its own, the first that are free from `first` on: builds cannot reach each
    /// other either. Ignored when the runner is not root.
    Range {
        /// The first id.
        first: u32,
    },
}

/// What this machine can put between a build and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available {
    /// Whether builds have another user id.
    pub user: bool,
    /// Whether builds run as root, whom no sandbox holds for sure.
    pub as_root: bool,
    /// What Landlock can do.
    pub landlock: Landlock,
    /// Whether ports of TCP can be closed (Linux 6.7).
    pub ports: bool,
}

/// What Landlock can do on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Landlock {
    /// The kernel lacks it, or it is off.
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
    /// What the step may reach by Landlock; `None` is without.
    pub places: Option<Places>,
    /// What ports it may connect to; `None` is all.
    #[serde(default)]
    pub ports: Option<Ports>,
    /// Whether it has a view of the machine of its own.
    #[serde(default)]
    pub apart: bool,
}

/// What a step may reach of the file system. All else is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// What it may read and run.
    pub read: Vec<PathBuf>,
    /// What it may change, besides.
    pub write: Vec<PathBuf>,
    /// Devices that it may use.
    pub devices: Vec<PathBuf>,
}

impl SandboxSettings {
    /// What these settings come to on this machine.
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

    /// The sandbox of a step that runs as `user` and may change `workspace`. `work_dir`, in which other builds are, is closed.
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
    /// Puts the part of the sandbox on this process that it and its children keep for ever: its view of the machine, Landlock,
    /// the calls that are refused, and that no program gives more rights. The user id is left to the exec that follows.
    ///
    /// # Errors
    /// A sentence about what cannot be had; the step must not run then.
    pub fn put_on(&self) -> Result<(), String> {
        #[cfg(target_os = "linux")]
        {
            let closed = rustix::thread::set_no_new_privs(true);
            closed.map_err(|error| format!("cannot give up new rights: {error}"))?;
            if self.apart {
                apart::enter(self.places.as_ref())?;
            }
            let closed = self.ports.as_ref().map(Ports::closed_now).transpose();
            let closed = closed.map_err(|error| format!("cannot tell who listens on this machine: {error}"))?;
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
            Some(_) => Err("there is no Landlock on this system".to_owned()),
            None => Ok(()),
        }
    }
}

/// Makes this process untraceable by others of the same user: its memory and environment are closed to builds also where
/// Landlock is missing. Call it first thing in a server or runner; core dumps end with it.
///
/// # Errors
/// What the operating system says.
pub fn hide_this_process() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// What Landlock can do on this machine.
#[cfg(target_os = "linux")]
pub fn landlock_here() -> Landlock {
    landlock::level()
}

#[cfg(target_os = "linux")]
fn ports_here() -> bool {
    landlock::closes_ports() && calls::are_known()
}

/// What Landlock can do on this machine.
#[cfg(not(target_os = "linux"))]
pub fn landlock_here() -> Landlock {
    Landlock::Missing
}

#[cfg(not(target_os = "linux"))]
fn ports_here() -> bool {
    false
}
