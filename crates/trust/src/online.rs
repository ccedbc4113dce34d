//! What the server signs: snapshot and timestamp (`docs/reference/trust.md#online-roles`).

use std::collections::BTreeMap;

use launchway_domain::time::{EpochMs, SECOND};
use ring::rand::SystemRandom;

use crate::draft::{Draft, FileSizeError, SignError};
use crate::identity::Identity;
use crate::json::MAX_INTEGER;
use crate::metadata::{Body, Header, MetaFile, Root, Snapshot, Timestamp};
use crate::role::TopLevel;
use crate::signing_key::SigningKey;

/// What is signed from.
#[derive(Clone, Debug)]
pub struct OnlineRequest<'a> {
    /// The current root, which names the key.
    pub root: &'a Root,
    /// The repository and app.
    pub identity: &'a Identity,
    /// The snapshot before, with its version. `None` at the beginning, and to recover under a new key.
    pub previous_snapshot: Option<(u64, &'a Snapshot)>,
    /// The version of the timestamp before.
    pub previous_timestamp: Option<u64>,
    /// The version of `targets` and of each delegated role that there is now.
    pub roles: &'a BTreeMap<String, u64>,
    /// The time.
    pub now: EpochMs,
    /// When both files expire.
    pub expires: EpochMs,
}

/// Both files, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnlineFiles {
    /// The version of the snapshot.
    pub snapshot_version: u64,
    /// The snapshot.
    pub snapshot: String,
    /// The version of the timestamp.
    pub timestamp_version: u64,
    /// The timestamp.
    pub timestamp: String,
}

/// Why the server cannot sign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OnlineError {
    /// Clients would refuse the snapshot: a role has a lower version than the snapshot before listed.
    #[error("`{role}` has version {found}, below {listed}, which the snapshot before lists")]
    RoleFalls {
        /// The role.
        role: String,
        /// The version that was listed.
        listed: u64,
        /// The version that there is.
        found: u64,
    },
    /// There is no higher version.
    #[error("no version is left")]
    VersionsUsedUp,
    /// The root does not name the key.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// Too many roles.
    #[error(transparent)]
    Size(#[from] FileSizeError),
}

/// The version of the next snapshot or timestamp: one above the last, and at least the seconds since 1970, so that a
/// database that was restored from a backup continues above what phones have seen.
///
/// # Errors
/// There is none.
pub fn online_version(last: Option<u64>, now: EpochMs) -> Result<u64, OnlineError> {
    let seconds = u64::try_from(now / SECOND).unwrap_or(0);
    let version = last.map_or(1, |last| last.saturating_add(1)).max(seconds);
    if version <= MAX_INTEGER.unsigned_abs() {
        Ok(version)
    } else {
        Err(OnlineError::VersionsUsedUp)
    }
}

/// Signs a snapshot of the roles, and the timestamp that names it. Removed roles stay listed at their last
/// version, because clients refuse a snapshot that lists fewer roles.
///
/// # Errors
/// See [`OnlineError`].
pub fn sign_online(
    request: &OnlineRequest<'_>,
    key: &SigningKey,
    random: &SystemRandom,
) -> Result<OnlineFiles, OnlineError> {
    let snapshot_version = online_version(request.previous_snapshot.map(|(version, _)| version), request.now)?;
    let timestamp_version = online_version(request.previous_timestamp, request.now)?;
    let snapshot = next_snapshot(request)?;
    let timestamp = Timestamp {
        snapshot: MetaFile::of_version(snapshot_version),
    };
    Ok(OnlineFiles {
        snapshot_version,
        snapshot: sign_role(request, TopLevel::Snapshot, snapshot_version, &snapshot, key, random)?,
        timestamp_version,
        timestamp: sign_role(request, TopLevel::Timestamp, timestamp_version, &timestamp, key, random)?,
    })
}

fn next_snapshot(request: &OnlineRequest<'_>) -> Result<Snapshot, OnlineError> {
    let mut next = request
        .previous_snapshot
        .map(|(_, snapshot)| snapshot.clone())
        .unwrap_or_default();
    for (role, version) in request.roles {
        let before = next.meta.insert(format!("{role}.json"), MetaFile::of_version(*version));
        if let Some(before) = before.filter(|before| before.version > *version) {
            return Err(OnlineError::RoleFalls {
                role: role.clone(),
                listed: before.version,
                found: *version,
            });
        }
    }
    Ok(next)
}

fn sign_role<T: Body>(
    request: &OnlineRequest<'_>,
    role: TopLevel,
    version: u64,
    body: &T,
    key: &SigningKey,
    random: &SystemRandom,
) -> Result<String, OnlineError> {
    let header = Header {
        version,
        expires: request.expires,
        identity: Some(request.identity.clone()),
    };
    let mut draft = Draft::new(&header, body);
    draft.sign(request.root.authority(role), key, random)?;
    Ok(draft.to_text()?)
}
