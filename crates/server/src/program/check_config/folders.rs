//! The directories that the settings name: what this user may do there, to whom they belong, and the free space.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use launchway_config::{Config, Storage};
use launchway_os::folders::folder_of;
use launchway_os::free_space::Floor;
use rustix::process::geteuid;

use super::findings::Finding;

/// What the server keeps directly in its data directory.
const ENTRIES: [&str; 7] = [
    "launchway.db",
    "launchway.db-wal",
    "launchway.db-shm",
    "master.key",
    "objects",
    "server.lock",
    "tmp",
];

/// The data directory, the directory of builds, and the disk of the data.
pub(super) fn look(config: &Config) -> Vec<Finding> {
    let mut findings = vec![folder("data", "--data-dir", &config.data_dir)];
    findings.extend(owners(&config.data_dir));
    let runs_builds = !config.no_runner && config.roles.api && config.roles.worker;
    if runs_builds {
        findings.push(folder("builds", "--runner-dir", &config.runner_dir));
    }
    if let Some(snapshot) = &config.snapshot {
        findings.push(folder("snapshot", "--snapshot-dir", &snapshot.dir));
    }
    let mut data = vec![config.data_dir.as_path()];
    if let Storage::Directory(objects) = &config.storage {
        data.push(objects);
    }
    let floor = Floor::new(config.min_free_space);
    let full = data.into_iter().find(|folder| !floor.leaves_room(&existing(folder), 0));
    findings.extend(full.map(|folder| {
        Finding::warning(
            "disk",
            format!(
                "{} has less free space than --min-free-space; uploads would be refused",
                folder.display()
            ),
            "free some space, or use a larger disk",
        )
    }));
    findings
}

/// Whether files can be created in a directory, or it can be created itself.
pub(super) fn folder(subject: &'static str, setting: &str, folder: &Path) -> Finding {
    let shown = folder.display();
    match attempt(folder) {
        Ok(true) => Finding::ok(subject, format!("{shown} is writable")),
        Ok(false) => Finding::ok(subject, format!("{shown} is missing; the start creates it")),
        Err(error) => {
            let remedy = format!("give the directory to the user of the server, or set {setting} to another one");
            Finding::error(subject, format!("{setting} {shown}: {error}"), remedy)
        }
    }
}

/// Whether a missing file can be created.
pub(super) fn new_file(subject: &'static str, setting: &str, file: &Path) -> Finding {
    let shown = file.display();
    match attempt(folder_of(file)) {
        Ok(_) => Finding::ok(subject, format!("{shown} is missing; the start creates it")),
        Err(error) => {
            let remedy = format!("give its directory to the user of the server, or set {setting} to another file");
            Finding::error(subject, format!("{setting} {shown}: {error}"), remedy)
        }
    }
}

/// Creates an unnamed file in the directory or, if it is missing, in the nearest parent. Returns whether it exists.
fn attempt(folder: &Path) -> io::Result<bool> {
    let nearest = existing(folder);
    if !fs::metadata(&nearest)?.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    tempfile::tempfile_in(&nearest)?;
    Ok(nearest == folder)
}

/// The directory, or the nearest parent that is not missing.
fn existing(folder: &Path) -> PathBuf {
    let mut nearest = folder;
    while let Err(error) = fs::symlink_metadata(nearest) {
        if error.kind() != ErrorKind::NotFound || nearest == Path::new(".") {
            break;
        }
        nearest = folder_of(nearest);
    }
    nearest.to_owned()
}

/// Root may do everything, so its attempts say nothing about the user of the server. What root made in the directory of
/// another user, that user cannot write.
fn owners(data_dir: &Path) -> Vec<Finding> {
    let Ok(owner) = fs::metadata(data_dir).map(|data| data.uid()) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    if geteuid().is_root() && owner != 0 {
        findings.push(Finding::warning(
            "data",
            format!(
                "root can write everywhere, but {} belongs to user {owner}",
                data_dir.display()
            ),
            "run this command as the user of the server",
        ));
    }
    for entry in ENTRIES {
        let path = data_dir.join(entry);
        let other = fs::symlink_metadata(&path).map(|entry| entry.uid());
        if let Ok(other) = other
            && other != owner
        {
            findings.push(Finding::error(
                "data",
                format!(
                    "{} belongs to user {other}, but its directory to user {owner}",
                    path.display()
                ),
                format!("run chown -R --reference={0} {0}", data_dir.display()),
            ));
        }
    }
    findings
}
