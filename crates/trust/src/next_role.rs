//! The next version of a role that signs updates: what is added, revoked, and pruned
//! (`docs/reference/trust.md#pruning`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use launchway_domain::platform::Platform;
use launchway_domain::time::{DAY, EpochMs};

use crate::digest::Sha256;
use crate::json;
use crate::metadata::{Body, MAX_REVOKED, Metadata, Targets};
use crate::role::UpdateRole;
use crate::update::{Update, platform_of};

/// A role lists the newest targets of each platform, this many …
pub const NEWEST_OF_PLATFORM: usize = 8;
/// … and the newest of each fingerprint that was published within this time.
pub const FINGERPRINT_PERIOD: EpochMs = 365 * DAY;

/// The most bytes of what all files have in common, and of each signature: an id, 72 bytes of DER, and names.
const ENVELOPE_BYTES: usize = 512;
const SIGNATURE_BYTES: usize = 256;

/// The role revokes as many packages as it can: revocations that every app in use carries can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the role already revokes {MAX_REVOKED} packages: remove those that every app in use contains")]
pub struct RevocationLimitError;

/// What pruning goes by.
#[derive(Clone, Copy)]
pub struct Pruning<'a> {
    /// The role.
    pub role: &'a UpdateRole,
    /// When the update of a path was published; `None`: not known, which counts as lately.
    pub published_at: &'a dyn Fn(&str) -> Option<EpochMs>,
    /// The time.
    pub now: EpochMs,
    /// How many keys may sign the file.
    pub signers: usize,
}

/// How a new version of a role is more than the publication of one update.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublicationError {
    /// Its version is not the next one.
    #[error("has version {found}, but the next version is {expected}")]
    Version {
        /// The next version.
        expected: u64,
        /// The version of the file.
        found: u64,
    },
    /// It does not list the update that is published.
    #[error("does not list `{path}`")]
    Lacks {
        /// The path of the update.
        path: String,
    },
    /// It adds or changes another target.
    #[error("adds or changes `{path}`, which is not the update that is published")]
    Changes {
        /// The path of the target.
        path: String,
    },
    /// It no longer revokes a package.
    #[error("no longer revokes {sha256}")]
    Unrevokes {
        /// The hash of the package.
        sha256: Sha256,
    },
}

/// Checks that `next` is `present` with the update at `path` and without what was pruned. Signatures and content are
/// checked elsewhere.
///
/// # Errors
/// See [`PublicationError`].
pub fn check_publication(
    present: Option<&Metadata<Targets>>,
    next: &Metadata<Targets>,
    path: &str,
) -> Result<(), PublicationError> {
    let expected = present.map_or(1, |present| present.version() + 1);
    let found = next.version();
    if found != expected {
        return Err(PublicationError::Version { expected, found });
    }
    if !next.body().targets.contains_key(path) {
        return Err(PublicationError::Lacks { path: path.to_owned() });
    }
    let nothing = Targets::default();
    let before = present.map_or(&nothing, Metadata::body);
    for (other, target) in &next.body().targets {
        if other != path && before.targets.get(other) != Some(target) {
            return Err(PublicationError::Changes { path: other.clone() });
        }
    }
    match before.revoked.iter().find(|hash| !next.body().revoked.contains(hash)) {
        Some(sha256) => Err(PublicationError::Unrevokes { sha256: *sha256 }),
        None => Ok(()),
    }
}

impl Targets {
    /// Lists an update whose package has this hash and length; its path.
    pub fn publish(
        &mut self,
        role: &UpdateRole,
        platform: Platform,
        update: &Update,
        sha256: Sha256,
        length: u64,
    ) -> String {
        let path = update.path(role, platform);
        self.targets.insert(path.clone(), update.target(sha256, length));
        path
    }

    /// Revokes a package, and lists it no longer.
    ///
    /// # Errors
    /// There is no room for another one.
    pub fn revoke(&mut self, sha256: Sha256) -> Result<(), RevocationLimitError> {
        if !self.revoked.contains(&sha256) {
            if self.revoked.len() >= MAX_REVOKED {
                return Err(RevocationLimitError);
            }
            self.revoked.push(sha256);
        }
        self.targets.retain(|_, target| target.sha256() != Some(sha256));
        Ok(())
    }

    /// Removes the targets that the role does not keep and those that are not updates of it, and returns their paths.
    pub fn prune(&mut self, pruning: &Pruning<'_>) -> Vec<String> {
        let ranked = rank_paths(self, pruning);
        let empty = Targets::default().size();
        let mut all = std::mem::take(&mut self.targets);
        let mut room = Targets::LIMIT.saturating_sub(self.size() + ENVELOPE_BYTES);
        room = room.saturating_sub(SIGNATURE_BYTES * pruning.signers);
        for path in ranked {
            let Some((path, target)) = all.remove_entry(&path) else {
                continue;
            };
            let alone = Targets {
                targets: BTreeMap::from([(path.clone(), target.clone())]),
                ..Targets::default()
            };
            // The first that does not fit ends the list: what is less wanted takes no place from it.
            let Some(left) = room.checked_sub(alone.size() - empty + 1) else {
                all.insert(path, target);
                break;
            };
            room = left;
            self.targets.insert(path, target);
        }
        all.into_keys().collect()
    }

    /// The bytes of its own members.
    fn size(&self) -> usize {
        let mut members = json::Object::new();
        self.write(&mut members);
        json::to_text(&json::Value::Object(members)).len()
    }
}

/// The paths that a role keeps, the most wanted first: by their place in their platform, then those that are kept for
/// their fingerprint only, the newest first.
fn rank_paths(targets: &Targets, pruning: &Pruning<'_>) -> Vec<String> {
    let mut platforms: BTreeMap<Platform, Vec<(&str, Update)>> = BTreeMap::new();
    for (path, target) in &targets.targets {
        let Ok(update) = Update::of(target) else { continue };
        if let Some(platform) = platform_of(path, pruning.role, &update) {
            platforms.entry(platform).or_default().push((path, update));
        }
    }
    let mut ranked = Vec::new();
    for mut updates in platforms.into_values() {
        updates.sort_by(|(_, this), (_, that)| (that.version(), that.build()).cmp(&(this.version(), this.build())));
        let mut fingerprints = BTreeSet::new();
        for (place, (path, update)) in updates.iter().enumerate() {
            let published = (pruning.published_at)(path).unwrap_or(pruning.now);
            let lately = pruning.now.saturating_sub(published) <= FINGERPRINT_PERIOD;
            let newest_of_fingerprint = fingerprints.insert(update.fingerprint.clone());
            if place < NEWEST_OF_PLATFORM {
                ranked.push((place, Reverse(published), *path));
            } else if newest_of_fingerprint && lately {
                ranked.push((NEWEST_OF_PLATFORM, Reverse(published), *path));
            }
        }
    }
    ranked.sort();
    ranked.into_iter().map(|(_, _, path)| path.to_owned()).collect()
}
