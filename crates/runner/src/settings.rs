//! The settings of a runner: where it works, how many builds at a time, and how much of the machine they may use.

use std::path::PathBuf;
use std::time::Duration;

use launchway_domain::build::plan::is_label;

use crate::sandbox::SandboxSettings;

/// The settings of a runner. The caller reads them; nothing here comes from the environment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The directory of workspaces, logs, caches and the journal. One runner at a time uses it.
    pub work_dir: PathBuf,
    /// The labels of the machine: those of [`crate::labels::detect`] and those that its owner adds.
    pub labels: Vec<String>,
    /// Number of builds at a time, 1 to 64.
    pub slots: u32,
    /// The `PATH` of steps.
    pub path: String,
    /// How steps are isolated from the rest of the machine.
    pub sandbox: SandboxSettings,
    /// Whether a git source may be `http://`, `file://` or a local path. For tests and closed machines.
    pub allow_local_git: bool,
    /// How much builds may use.
    pub limits: Limits,
}

/// How much of a machine builds may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The maximum size of a build's log, in bytes; the rest is dropped, with a line that says so.
    pub log_bytes: u64,
    /// The minimum of free bytes on the disk of the work directory: with less, no build starts, and running builds are
    /// stopped.
    pub min_free_bytes: u64,
    /// The interval of the free space checks during a build.
    pub disk_interval: Duration,
    /// The maximum size of an unpacked source, in bytes.
    pub source_bytes: u64,
    /// The maximum number of entries of an unpacked source.
    pub source_entries: u64,
    /// The maximum size of an artifact, in bytes; no server accepts more.
    pub artifact_bytes: u64,
    /// The maximum size of a file that a step writes, in bytes; a step that exceeds it gets SIGXFSZ.
    pub file_bytes: u64,
    /// The maximum number of files and folders of a workspace that are searched for artifacts, cached, or given to a
    /// build's user.
    pub workspace_entries: u64,
    /// The maximum size of all caches together, in bytes; the least recently used ones are removed first.
    pub cache_bytes: u64,
    /// The time that a step has between SIGTERM and SIGKILL (`docs/reference/builds.md#stopping-a-build`).
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

/// The `PATH` of steps, unless the settings have another.
pub const DEFAULT_PATH: &str = if cfg!(target_os = "macos") {
    "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
} else {
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
};

impl Settings {
    /// The default settings for this work directory.
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

    /// Validates the settings.
    ///
    /// # Errors
    /// A message about the first invalid setting.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=64).contains(&self.slots) {
            return Err(format!("slots must be 1 to 64, not {}", self.slots));
        }
        if let Some(label) = self.labels.iter().find(|label| !is_label(label)) {
            return Err(format!("the label `{label}` must be name=value, such as os=macos"));
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
            "the label `fast` must be name=value, such as os=macos"
        );
        assert_eq!(
            with(|settings| settings.work_dir = PathBuf::from("work")),
            "the work directory must be an absolute path"
        );
    }
}
