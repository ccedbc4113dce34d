//! A separate view of the machine for a step: a `/proc` with only the processes that it may inspect, a `/run` without
//! listening sockets, and no shared memory. It requires root, or a kernel with unprivileged user namespaces.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change};
use rustix::thread::UnshareFlags;

use super::Places;

/// Services of the machine put their sockets there: containers, databases, the message bus.
const SOCKETS: &str = "/run";
/// What programs need of it: the resolver's settings, and on NixOS the system's programs.
const KEPT: [&str; 4] = [
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/nscd",
    "/run/current-system",
];
const QUIET: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

/// Enters the separate view. `places` are the paths that the step may access.
///
/// # Errors
/// A message; no part of the step may run then.
pub(super) fn enter(places: Option<&Places>) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot isolate the step: {error}");
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let is_root = rustix::process::geteuid().is_root();
    let mut flags = UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    if !is_root {
        flags |= UnshareFlags::NEWUSER;
    }
    #[expect(
        deprecated,
        reason = "it is unsafe for open files that threads share only, which stay shared"
    )]
    rustix::thread::unshare(flags).map_err(|error| failed(&error))?;
    if !is_root {
        let written = fs::write("/proc/self/setgroups", "deny")
            .and_then(|()| fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")))
            .and_then(|()| fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")));
        written.map_err(|error| failed(&error))?;
    }
    let alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", alone).map_err(|error| failed(&error))?;
    // Hides processes of other users, or outside of the step's Landlock domain, from the list. Only root can set this
    // option.
    if is_root {
        mount("proc", "/proc", "proc", QUIET, c"hidepid=ptraceable").map_err(|error| failed(&error))?;
    }
    let within = |path: &Path| path.starts_with(SOCKETS);
    let in_use = places.is_some_and(|places| places.write.iter().any(|path| within(path)));
    if Path::new(SOCKETS).is_dir() && !in_use {
        cover().map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Mounts an empty directory over `/run`, and into it the paths that are kept.
fn cover() -> std::io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |path: PathBuf| -> Option<(PathBuf, OwnedFd)> {
        let directory = openat(CWD, &path, flags, Mode::empty()).ok()?;
        Some((path, directory))
    };
    let resolver = fs::canonicalize("/etc/resolv.conf").ok();
    let resolver = resolver.and_then(|file| Some(file.parent()?.to_owned()));
    let resolver = resolver.filter(|place| place.starts_with(SOCKETS) && place != Path::new(SOCKETS));
    let kept = KEPT.iter().map(PathBuf::from).chain(resolver);
    let kept: Vec<_> = kept.filter_map(open).collect();
    mount("tmpfs", SOCKETS, "tmpfs", QUIET, c"mode=0755,size=64k")?;
    for (path, directory) in kept {
        fs::create_dir_all(&path)?;
        mount_bind(format!("/proc/self/fd/{}", directory.as_raw_fd()), path)?;
    }
    Ok(())
}
