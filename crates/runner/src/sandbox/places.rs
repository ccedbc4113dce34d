//! The paths that a step may access: system directories and toolchains for reading, its workspace for writing, and no
//! hidden path.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Places, SandboxSettings};

/// What every program needs to read. Of other processes, `/proc` shows only what every user may see.
const SYSTEM: [&str; 19] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix",
    "/snap",
    "/etc",
    "/proc",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/current-system",
    "/var/lib/ca-certificates",
];

const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/kvm",
];

pub(super) fn of(settings: &SandboxSettings, work_dir: &Path, workspace: &Path) -> Places {
    let mut hidden: Vec<PathBuf> = settings.hidden.iter().map(|path| real(path)).collect();
    hidden.push(real(work_dir));
    let open = |paths: &mut dyn Iterator<Item = &Path>| {
        let mut opened = Vec::new();
        for path in paths {
            if path.exists() {
                open_around(&real(path), &hidden, &mut opened);
            }
        }
        opened
    };
    let toolchains = settings.readable.iter().map(PathBuf::as_path);
    let mut write = open(&mut settings.writable.iter().map(PathBuf::as_path));
    write.push(real(workspace));
    Places {
        read: open(&mut SYSTEM.iter().map(Path::new).chain(toolchains)),
        write,
        devices: DEVICES.iter().map(PathBuf::from).filter(|path| path.exists()).collect(),
    }
}

/// Opens a path. If it contains a hidden path, opens its other entries one by one.
fn open_around(path: &Path, hidden: &[PathBuf], opened: &mut Vec<PathBuf>) {
    if hidden.iter().any(|hidden| path.starts_with(hidden)) {
        return;
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
        opened.push(path.to_owned());
        return;
    }
    // A directory that cannot be listed stays closed.
    let mut entries: Vec<_> = fs::read_dir(path).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        // A link opens nothing by itself: its target must be open.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            open_around(&entry.path(), hidden, opened);
        }
    }
}

/// The path with links resolved, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let above = || Some(real(path.parent()?).join(path.file_name()?));
    fs::canonicalize(path)
        .ok()
        .or_else(above)
        .unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_in_advance_is_hidden_behind_links_too() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        fs::create_dir_all(root.join("etc/service")).unwrap();
        fs::write(root.join("etc/service/public"), "").unwrap();
        std::os::unix::fs::symlink("etc", root.join("link")).unwrap();
        let settings = SandboxSettings {
            hidden: vec![root.join("link/service/master.key.new")],
            readable: vec![root.join("etc")],
            ..SandboxSettings::default()
        };
        let places = of(&settings, &root.join("work"), &root.join("work/a"));
        let ours: Vec<_> = places.read.iter().filter(|path| path.starts_with(&root)).collect();
        // Not the parent folder, in which the file may be created later.
        assert_eq!(ours, [&root.join("etc/service/public")]);
    }

    #[test]
    fn what_is_hidden_is_left_out_and_its_neighbours_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        for folder in ["tools/data/keys", "tools/java", "work/a", "work/b", "more"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("tools/data/readme"), "").unwrap();
        std::os::unix::fs::symlink(root.join("tools/data/keys"), root.join("tools/short")).unwrap();
        let settings = SandboxSettings {
            hidden: vec![root.join("tools/data/keys"), root.join("gone")],
            readable: vec![
                root.join("tools"),
                root.join("work"),
                root.join("tools/short"),
                root.join("gone"),
            ],
            writable: vec![root.join("more")],
            ..SandboxSettings::default()
        };
        let places = of(&settings, &root.join("work"), &root.join("work/a"));
        let ours: Vec<_> = places.read.iter().filter(|path| path.starts_with(&root)).collect();
        assert_eq!(ours, [&root.join("tools/data/readme"), &root.join("tools/java")]);
        assert_eq!(places.write, [root.join("more"), root.join("work/a")]);
        assert!(places.read.contains(&PathBuf::from("/etc")), "{places:?}");
    }
}
