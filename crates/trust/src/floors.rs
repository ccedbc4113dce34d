//! What a phone remembers of the developers' roles above The Update Framework: the lowest version that it takes, and the
//! packages that were revoked (`docs/reference/trust.md#floors`).
//!
//! The framework forgets the versions of all roles with the server's keys, so that a server can recover. A server that
//! was taken must not: whoever holds it would offer roles that the developers replaced.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::Sha256;
use crate::key::PublicKey;
use crate::metadata::{Authority, Metadata, Targets};
use crate::role_error::{Reason, RoleError};

/// What is remembered of one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Floor {
    /// The highest version that was trusted.
    pub version: u64,
    /// The ids of the keys that could sign it ([`PublicKey::id`]).
    pub keys: BTreeSet<String>,
    /// What it revoked.
    pub revoked: Vec<Sha256>,
}

/// The floors of all roles of one app: those that the app carries, which never fall, and those that the phone learned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Floors {
    embedded: BTreeMap<String, u64>,
    learned: BTreeMap<String, Floor>,
}

impl Floors {
    /// The floors that the app carries, and those that this phone learned before.
    pub fn new(embedded: BTreeMap<String, u64>, learned: BTreeMap<String, Floor>) -> Self {
        Self { embedded, learned }
    }

    /// The floors that this phone learned.
    pub fn learned_floors(&self) -> &BTreeMap<String, Floor> {
        &self.learned
    }

    /// What a role revoked, as far as this phone knows.
    pub fn revocations_of(&self, role: &str) -> &[Sha256] {
        self.learned.get(role).map_or(&[], |floor| &floor.revoked)
    }

    /// Forgets what a role revoked, because `targets` no longer delegates to it and nobody could take it back. The version
    /// is kept in case the role returns.
    pub fn forget_revoked(&mut self, role: &str) {
        if let Some(floor) = self.learned.get_mut(role) {
            floor.revoked.clear();
        }
    }

    /// The lowest version of a role that is taken when `authority` signs for it.
    ///
    /// A learned floor falls when fewer of the keys that it was learned under remain than must sign now: then the
    /// holders of the old keys alone can no longer sign anything, and the new holders need not know what those signed.
    pub fn of(&self, role: &str, authority: Authority<'_>) -> u64 {
        let embedded = self.embedded.get(role).copied().unwrap_or(0);
        let learned = self.learned.get(role).filter(|floor| {
            let remaining = authority
                .signers()
                .iter()
                .filter(|key| floor.keys.contains(&key.id()))
                .count();
            remaining as u64 >= authority.threshold()
        });
        embedded.max(learned.map_or(0, |floor| floor.version))
    }

    /// Whether this version of a role is at or above its floor.
    ///
    /// # Errors
    /// It is below.
    pub fn check(&self, role: &str, authority: Authority<'_>, found: u64) -> Result<(), RoleError> {
        let floor = self.of(role, authority);
        if found >= floor {
            Ok(())
        } else {
            Err(RoleError::new(role, Reason::Floor { floor, found }))
        }
    }

    /// Remembers a role whose file was just verified and is valid.
    pub fn learn(&mut self, role: &str, authority: Authority<'_>, file: &Metadata<Targets>) {
        let floor = Floor {
            version: file.version(),
            keys: authority.signers().iter().map(PublicKey::id).collect(),
            revoked: file.body().revoked.clone(),
        };
        self.learned.insert(role.to_owned(), floor);
    }
}
