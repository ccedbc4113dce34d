//! Why metadata is refused: the role, and the reason that a phone logs and reports
//! (`docs/reference/trust.md#refusals`).

use launchway_domain::time::{self, EpochMs};

use crate::metadata::{FileMismatchError, MetadataError, SignatureCountError};

/// Metadata of one role is refused. What was trusted before stays trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{role}: {reason}")]
pub struct RoleError {
    /// The name of the role.
    pub role: String,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with metadata.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The bytes are not metadata of this type.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// Too few keys signed.
    #[error(transparent)]
    Signatures(#[from] SignatureCountError),
    /// It is not the file whose length and hashes were signed.
    #[error(transparent)]
    File(#[from] FileMismatchError),
    /// It is of another repository or app, or does not say of which.
    #[error("is for another repository or app")]
    Identity,
    /// Its version is not the one that was asked for.
    #[error("has version {found} instead of {expected}")]
    Version {
        /// The version that was asked for.
        expected: u64,
        /// The version of the file.
        found: u64,
    },
    /// Its version is lower than one that was trusted before.
    #[error("has version {found}, below {trusted}, which was trusted before")]
    Rollback {
        /// The version that was trusted.
        trusted: u64,
        /// The version of the file.
        found: u64,
    },
    /// A snapshot names a lower version of a role than the one before did, or a timestamp of the snapshot.
    #[error("names version {found} of `{name}`, below {trusted}, which was trusted before")]
    NamesRollback {
        /// The file that is named.
        name: String,
        /// The version that was trusted.
        trusted: u64,
        /// The version that is named.
        found: u64,
    },
    /// A snapshot no longer lists a file that the one before listed.
    #[error("no longer lists `{name}`")]
    NoLongerLists {
        /// The file.
        name: String,
    },
    /// The snapshot does not list the role.
    #[error("is not listed in the snapshot")]
    NotListed,
    /// Its version is below the floor that this phone, or the app, knows.
    #[error("has version {found}, below its floor {floor}")]
    Floor {
        /// The lowest version that is accepted.
        floor: u64,
        /// The version that is listed.
        found: u64,
    },
    /// It has expired.
    #[error("expired {}", time::iso(*.expires))]
    Expired {
        /// When it expired.
        expires: EpochMs,
    },
    /// The server does not have it.
    #[error("is missing")]
    Missing,
    /// The role is delegated to for other paths than its own.
    #[error("has a delegation for paths that are not its own")]
    Paths,
    /// It lists targets or delegations that the role must not have: the file belongs to another role.
    #[error("lists targets or roles that are not its own")]
    Content,
}

impl RoleError {
    pub(crate) fn new(role: &str, reason: impl Into<Reason>) -> Self {
        Self {
            role: role.to_owned(),
            reason: reason.into(),
        }
    }
}

impl Reason {
    /// The name of the reason in a client's log and report, the same in every language.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Metadata(_) => "malformed",
            Self::Signatures(_) => "too-few-signatures",
            Self::File(_) => "other-file",
            Self::Identity => "other-repository-or-app",
            Self::Version { .. } => "other-version",
            Self::Rollback { .. } => "rollback",
            Self::NamesRollback { .. } => "names-rollback",
            Self::NoLongerLists { .. } => "no-longer-lists",
            Self::NotListed => "not-listed",
            Self::Floor { .. } => "below-floor",
            Self::Expired { .. } => "expired",
            Self::Missing => "missing",
            Self::Paths => "other-paths",
            Self::Content => "other-content",
        }
    }
}
