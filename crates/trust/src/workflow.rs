//! The order in which metadata is fetched and taken (`docs/reference/trust.md#the-client`).
//! Nothing here fetches: a workflow names the file that it needs, and its caller passes the bytes, or reports the file as
//! missing.

use std::fmt;

use launchway_domain::time::EpochMs;

use crate::metadata::{Body, Root, Snapshot, Targets, Timestamp};
use crate::role_error::{Reason, RoleError};
use crate::trusted_metadata::TrustedMetadata;

/// At most this many roots are taken in one run; the next run continues from there.
pub const MAX_ROOTS: u32 = 256;

/// A file to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRequest {
    /// The next root. That there is none is the usual answer.
    Root {
        /// Its version.
        version: u64,
    },
    /// The timestamp.
    Timestamp,
    /// The snapshot.
    Snapshot {
        /// Its version.
        version: u64,
    },
    /// The targets.
    Targets {
        /// Its version.
        version: u64,
    },
    /// A delegated role.
    Role {
        /// Its name.
        name: String,
        /// Its version.
        version: u64,
    },
}

impl FileRequest {
    /// The name of the role.
    pub fn role(&self) -> &str {
        match self {
            FileRequest::Root { .. } => "root",
            FileRequest::Timestamp => "timestamp",
            FileRequest::Snapshot { .. } => "snapshot",
            FileRequest::Targets { .. } => "targets",
            FileRequest::Role { name, .. } => name,
        }
    }

    /// The most bytes to read: longer files are refused, so more need not be fetched.
    pub const fn limit(&self) -> usize {
        match self {
            FileRequest::Root { .. } => Root::LIMIT,
            FileRequest::Timestamp => Timestamp::LIMIT,
            FileRequest::Snapshot { .. } => Snapshot::LIMIT,
            FileRequest::Targets { .. } | FileRequest::Role { .. } => Targets::LIMIT,
        }
    }
}

/// The file's name in a repository with consistent snapshots, such as `3.root.json` or `timestamp.json`.
impl fmt::Display for FileRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileRequest::Timestamp => f.write_str("timestamp.json"),
            FileRequest::Root { version }
            | FileRequest::Snapshot { version }
            | FileRequest::Targets { version }
            | FileRequest::Role { version, .. } => write!(f, "{version}.{}.json", self.role()),
        }
    }
}

/// One run over the top-level roles.
#[derive(Clone, Debug)]
pub struct Workflow {
    now: EpochMs,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Roots { taken: u32 },
    Timestamp,
    Snapshot,
    Targets,
    Done,
}

impl Workflow {
    /// Begins a run. `now` decides what has expired, for the whole run.
    pub fn new(now: EpochMs) -> Self {
        Self {
            now,
            stage: Stage::Roots { taken: 0 },
        }
    }

    /// What to fetch next; `None` when the top-level roles are current.
    ///
    /// # Errors
    /// What is trusted does not list the file that comes next.
    pub fn next_request(&mut self, trusted: &TrustedMetadata) -> Result<Option<FileRequest>, RoleError> {
        if let Stage::Snapshot = self.stage {
            if let Some(version) = trusted.next_snapshot_version(self.now)? {
                return Ok(Some(FileRequest::Snapshot { version }));
            }
            self.stage = Stage::Targets;
        }
        if let Stage::Targets = self.stage {
            if let Some(version) = trusted.next_targets_version(self.now)? {
                return Ok(Some(FileRequest::Targets { version }));
            }
            self.stage = Stage::Done;
        }
        Ok(match self.stage {
            Stage::Roots { .. } => Some(FileRequest::Root {
                version: trusted.root().version() + 1,
            }),
            Stage::Timestamp => Some(FileRequest::Timestamp),
            Stage::Snapshot | Stage::Targets | Stage::Done => None,
        })
    }

    /// Takes the file that was asked for. Returns whether it replaced the trusted one; if so, store it before the next
    /// request. It stays trusted if a later file is refused.
    ///
    /// # Errors
    /// The file is refused, and the run is over.
    pub fn take(&mut self, trusted: &mut TrustedMetadata, bytes: &[u8]) -> Result<bool, RoleError> {
        match self.stage {
            Stage::Roots { taken } => {
                trusted.update_root(bytes)?;
                self.stage = Stage::Roots { taken: taken + 1 };
                if taken + 1 == MAX_ROOTS {
                    self.finish_roots(trusted)?;
                }
                Ok(true)
            }
            Stage::Timestamp => {
                let newer = trusted.update_timestamp(bytes, self.now)?;
                self.stage = Stage::Snapshot;
                Ok(newer)
            }
            Stage::Snapshot => {
                trusted.update_snapshot(bytes, self.now)?;
                self.stage = Stage::Targets;
                Ok(true)
            }
            Stage::Targets => {
                trusted.update_targets(bytes, self.now)?;
                self.stage = Stage::Done;
                Ok(true)
            }
            Stage::Done => Ok(false),
        }
    }

    /// The server does not have the file that was asked for.
    ///
    /// # Errors
    /// It must exist, or it was the next root and the last one has expired.
    pub fn report_missing(&mut self, trusted: &mut TrustedMetadata) -> Result<(), RoleError> {
        match self.stage {
            Stage::Roots { .. } => self.finish_roots(trusted),
            Stage::Timestamp => Err(RoleError::new("timestamp", Reason::Missing)),
            Stage::Snapshot => Err(RoleError::new("snapshot", Reason::Missing)),
            Stage::Targets => Err(RoleError::new("targets", Reason::Missing)),
            Stage::Done => Ok(()),
        }
    }

    fn finish_roots(&mut self, trusted: &mut TrustedMetadata) -> Result<(), RoleError> {
        trusted.finish_roots(self.now)?;
        self.stage = Stage::Timestamp;
        Ok(())
    }
}
