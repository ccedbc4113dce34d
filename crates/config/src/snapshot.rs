//! The local snapshot of the index: where it is, and how old it may be.

use std::path::PathBuf;

use super::values::parse;
use super::{ConfigError, DatabaseUrl, RawSettings};

/// Where a node keeps the local snapshot of its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotSettings {
    /// The directory.
    pub dir: PathBuf,
    /// A start refuses an older one.
    pub hours: u32,
}

impl SnapshotSettings {
    /// Parses `--snapshot-dir` and `--snapshot-hours`.
    pub fn parse(raw: &RawSettings, database: &DatabaseUrl) -> Result<Option<SnapshotSettings>, ConfigError> {
        const WANTED: &str = "a whole number of hours, 1 to 720";
        let hours: u32 = parse(&raw.snapshot_hours, "--snapshot-hours", WANTED)?.unwrap_or(24);
        if !(1..=720).contains(&hours) {
            return Err(ConfigError::new(
                "--snapshot-hours",
                format!("`{hours}` is not {WANTED}"),
            ));
        }
        let Some(dir) = &raw.snapshot_dir else { return Ok(None) };
        if database.is_embedded() {
            let problem = "needs PostgreSQL; a SQLite database is on this machine already";
            return Err(ConfigError::new("--snapshot-dir", problem));
        }
        Ok(Some(SnapshotSettings {
            dir: PathBuf::from(dir),
            hours,
        }))
    }
}
