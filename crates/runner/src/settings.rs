//! What a runner is told: where it works, how many builds at a time, how much of the machine they may take.

use std::path::PathBuf;
use std::time::Duration;

use launchway_domain::build::plan::is_label;

use crate::sandbox::SandboxSettings;

/// The settings of a runner. The caller has read them; nothing here comes from the environment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where workspaces, logs, caches and the journal are. One runner at a time works in it.
    pub work_dir: PathBuf,
    /// What the machine is and has: [`crate::labels::detect`] and those that its owner gives.
    pub labels: Vec<String>,
    /// Builds at a time, 1 to 64.
    pub slots: u32,
    /// The `PATH` of steps.
    pub path: String,
    /// How steps are kept from the rest of the machine.
    pub sandbox: SandboxSettings,
    /// Whether a git source may be `http://`, `file://` or a local path. For tests and closed machines.
    pub allow_local_git: bool,
    /// How much builds may take.
    pub limits: Limits,
}

/// How much builds may take of a machine.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a build's log; what comes after is dropped, with a line that says so.
    pub log_bytes: u64,
    /// Bytes that must stay free on the disk of the work directory: less, and no build begins, and a running one is
    /// stopped.
    pub min_free_bytes: u64,
    /// How often the free space is looked at while a build runs.
    pub disk_interval: Duration,
    /// Bytes of an unpacked source.
    pub source_bytes: u64,
    /// Entries of an unpacked source.
    pub source_entries: u64,
    /// Bytes of one file that a build gives; no server takes more.
    pub artifact_bytes: u64,
    /// Bytes of any file that a step writes; a step that writes more gets SIGXFSZ.
    pub file_bytes: u64,
    /// Files and folders of a workspace that are looked at for artifacts, kept as a cache, or handed to a build's user.
    pub workspace_entries: u64,
    /// Bytes of all caches together; the least recently used ones go first.
    pub cache_bytes: u64,
    /// How long a step has after SIGTERM until SIGKILL (`docs/reference/builds.md#stopping-a-build`).
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            log_bytes: 2 << 30,
            min_free_bytes: 1 << 30,
            disk_interval: Duration::from_secs(2),
            source_bytes: 16 << 30,
            source_entries: 1_000_000,
            artifact_bytes: 4 << 30,
            file_bytes: 32 << 30,
            workspace_entries: 4_000_000,
            cache_bytes: 20 << 30,
            grace: Duration::from_secs(10),
        }
    }
}

/// The `PATH` of steps unless the settings name one.
pub const DEFAULT_PATH: &str = if cfg!(target_os = "macos") {
    "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
} else {
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
};

impl Settings {
    /// The usual settings for this work directory.
    pub fn new(work_dir: PathBuf) -> Self {
        Self {
            work_dir,
            labels: Vec::new(),
            slots: 1,
            path: DEFAULT_PATH.to_owned(),
            sandbox: SandboxSettings::default(),
            allow_local_git: false,
            limits: Limits::default(),
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// A sentence about the first that is wrong.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=64).contains(&self.slots) {
            return Err(format!("slots must be 1 to 64, not {}", self.slots));
        }
        if let Some(label) = self.labels.iter().find(|label| !is_label(label)) {
            return Err(format!("the label '{label}' must be name=value, such as os=macos"));
        }
        if !self.work_dir.is_absolute() {
            return Err("the work directory must be an absolute path".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_wrong() {
        let good = Settings::new(PathBuf::from("/work"));
        assert_eq!(good.check(), Ok(()));
        let with = |change: fn(&mut Settings)| {
            let mut settings = good.clone();
            change(&mut settings);
            settings.check().expect_err("something wrong")
        };
        assert_eq!(with(|settings| settings.slots = 0), "slots must be 1 to 64, not 0");
        assert_eq!(with(|settings| settings.slots = 65), "slots must be 1 to 64, not 65");
        assert_eq!(
            with(|settings| settings.labels = vec!["os=linux".to_owned(), "fast".to_owned()]),
            "the label 'fast' must be name=value, such as os=macos"
        );
        assert_eq!(
            with(|settings| settings.work_dir = PathBuf::from("work")),
            "the work directory must be an absolute path"
        );
    }
}
