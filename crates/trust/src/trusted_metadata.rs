//! The metadata that is trusted, and the rules by which newer metadata takes its place: sections 5.3 to 5.6 of
//! [the specification](https://theupdateframework.github.io/specification/v1.0.31/#detailed-client-workflow).
//! Every file is refused as a whole or replaces the one before; floors and revocations are [the client's](crate::client).

mod checks;

use std::collections::BTreeMap;

use launchway_domain::time::EpochMs;

use crate::identity::Identity;
use crate::metadata::{Authority, Delegation, MetaFile, Metadata, Root, Snapshot, Targets, Timestamp};
use crate::role::TopLevel;
use crate::role_error::{Reason, RoleError};
use checks::{
    expect_no_rollback, expect_valid, expect_version, is_current, listed_rollback_error, missing_error, read,
    read_listed, verify,
};

/// A set of trusted metadata. It always has a root.
#[derive(Clone, Debug)]
pub struct TrustedMetadata {
    identity: Option<Identity>,
    root: Metadata<Root>,
    timestamp: Option<Metadata<Timestamp>>,
    snapshot: Option<Metadata<Snapshot>>,
    targets: Option<Metadata<Targets>>,
    roles: BTreeMap<String, Metadata<Targets>>,
}

/// Whether a delegated role has to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleState {
    /// The delegator does not name it.
    NotDelegated,
    /// The trusted file is the one that the snapshot lists.
    Current,
    /// This version has to be fetched.
    Fetch {
        /// The version that the snapshot lists.
        version: u64,
    },
}

impl TrustedMetadata {
    /// Starts from a root that is trusted because of its origin: the app, or this phone's storage.
    ///
    /// With an `identity`, all metadata must belong to that repository and app. `None` is for repositories of other
    /// systems.
    ///
    /// # Errors
    /// The root is not metadata, has another identity, or is not signed by its own keys. It may have expired.
    pub fn from_root(bytes: &[u8], identity: Option<Identity>) -> Result<Self, RoleError> {
        let root: Metadata<Root> = read("root", bytes, identity.as_ref())?;
        verify("root", root.body().authority(TopLevel::Root), &root)?;
        Ok(Self {
            identity,
            root,
            timestamp: None,
            snapshot: None,
            targets: None,
            roles: BTreeMap::new(),
        })
    }

    /// Restores files that this phone stored. Files that do not verify are dropped.
    pub fn restore(&mut self, files: StoredFiles<'_>) {
        let identity = self.identity.as_ref();
        self.timestamp = files
            .timestamp
            .and_then(|bytes| read("timestamp", bytes, identity).ok());
        self.snapshot = files.snapshot.and_then(|bytes| read("snapshot", bytes, identity).ok());
        self.targets = files.targets.and_then(|bytes| read("targets", bytes, identity).ok());
        let roles = files.roles.into_iter();
        self.roles = roles
            .filter_map(|(name, bytes)| Some((name.to_owned(), read(name, bytes, identity).ok()?)))
            .collect();
        self.drop_unsigned();
    }

    /// Takes the next root of the chain, signed by the keys of the present one and by its own.
    ///
    /// # Errors
    /// Another version than the next one, or too few signatures by either set of keys.
    pub fn update_root(&mut self, bytes: &[u8]) -> Result<(), RoleError> {
        let next: Metadata<Root> = read("root", bytes, self.identity.as_ref())?;
        verify("root", self.authority(TopLevel::Root), &next)?;
        verify("root", next.body().authority(TopLevel::Root), &next)?;
        expect_version("root", self.root.version() + 1, &next)?;
        self.root = next;
        Ok(())
    }

    /// Ends the chain of roots: drops files that the keys of the last root did not sign, so that new online keys reset the
    /// versions of snapshot and timestamp, and checks that the last root is valid.
    ///
    /// # Errors
    /// The last root expired.
    pub fn finish_roots(&mut self, now: EpochMs) -> Result<(), RoleError> {
        self.drop_unsigned();
        expect_valid("root", &self.root, now)
    }

    /// Takes a timestamp. Returns whether it replaced the trusted one.
    ///
    /// # Errors
    /// It is older than the trusted one, names an older snapshot, or expired.
    pub fn update_timestamp(&mut self, bytes: &[u8], now: EpochMs) -> Result<bool, RoleError> {
        let next: Metadata<Timestamp> = read("timestamp", bytes, self.identity.as_ref())?;
        verify("timestamp", self.authority(TopLevel::Timestamp), &next)?;
        if let Some(trusted) = &self.timestamp {
            expect_no_rollback("timestamp", trusted.version(), next.version())?;
            if next.version() == trusted.version() {
                expect_valid("timestamp", trusted, now)?;
                return Ok(false);
            }
            let (before, after) = (trusted.body().snapshot.version, next.body().snapshot.version);
            if after < before {
                return Err(listed_rollback_error("timestamp", "snapshot.json", before, after));
            }
        }
        expect_valid("timestamp", &next, now)?;
        self.timestamp = Some(next);
        Ok(true)
    }

    /// The version of the snapshot to fetch; `None` when the trusted one is current.
    ///
    /// # Errors
    /// There is no timestamp yet.
    pub fn next_snapshot_version(&self, now: EpochMs) -> Result<Option<u64>, RoleError> {
        let listed = self.listed_snapshot()?;
        Ok((!is_current(self.snapshot.as_ref(), listed, now)).then_some(listed.version))
    }

    /// Takes the snapshot that the timestamp names.
    ///
    /// # Errors
    /// It is another file, lists an older version of a role than the trusted one, or a role less, or expired.
    pub fn update_snapshot(&mut self, bytes: &[u8], now: EpochMs) -> Result<(), RoleError> {
        let authority = self.authority(TopLevel::Snapshot);
        let next: Metadata<Snapshot> = read_listed(
            "snapshot",
            bytes,
            self.listed_snapshot()?,
            self.identity.as_ref(),
            authority,
        )?;
        if let Some(trusted) = &self.snapshot {
            expect_no_rollback("snapshot", trusted.version(), next.version())?;
            for (name, before) in &trusted.body().meta {
                let Some(after) = next.body().meta.get(name) else {
                    return Err(RoleError::new("snapshot", Reason::NoLongerLists { name: name.clone() }));
                };
                if after.version < before.version {
                    return Err(listed_rollback_error("snapshot", name, before.version, after.version));
                }
            }
        }
        expect_valid("snapshot", &next, now)?;
        self.snapshot = Some(next);
        Ok(())
    }

    /// The version of targets to fetch; `None` when the trusted file is current.
    ///
    /// # Errors
    /// The snapshot does not list it, or there is no snapshot yet.
    pub fn next_targets_version(&self, now: EpochMs) -> Result<Option<u64>, RoleError> {
        let listed = self.listed_file("targets")?;
        Ok((!is_current(self.targets.as_ref(), listed, now)).then_some(listed.version))
    }

    /// Takes the targets that the snapshot lists.
    ///
    /// # Errors
    /// It is another file, signed by too few of the root's keys, or expired.
    pub fn update_targets(&mut self, bytes: &[u8], now: EpochMs) -> Result<(), RoleError> {
        let authority = self.authority(TopLevel::Targets);
        let next = read_listed(
            "targets",
            bytes,
            self.listed_file("targets")?,
            self.identity.as_ref(),
            authority,
        )?;
        expect_valid("targets", &next, now)?;
        self.targets = Some(next);
        Ok(())
    }

    /// Whether `delegator` delegates to the role, and whether the trusted file is current and signed by the keys that
    /// `delegator` names. Signatures of keys that another delegator names do not count.
    ///
    /// # Errors
    /// It is delegated to, and the snapshot does not list it.
    pub fn role_state(&self, delegator: &Metadata<Targets>, name: &str, now: EpochMs) -> Result<RoleState, RoleError> {
        let Some((_, authority)) = delegation(delegator, name) else {
            return Ok(RoleState::NotDelegated);
        };
        let listed = self.listed_file(name)?;
        let trusted = self.roles.get(name).filter(|file| authority.verify(file).is_ok());
        if is_current(trusted, listed, now) {
            return Ok(RoleState::Current);
        }
        Ok(RoleState::Fetch {
            version: listed.version,
        })
    }

    /// Takes the file of a role that `delegator` names.
    ///
    /// # Errors
    /// It is another file than the snapshot lists, signed by too few of the delegation's keys, or expired.
    pub fn update_role(
        &mut self,
        delegator: &Metadata<Targets>,
        name: &str,
        bytes: &[u8],
        now: EpochMs,
    ) -> Result<(), RoleError> {
        let (_, authority) = delegation(delegator, name).ok_or_else(|| RoleError::new(name, Reason::NotListed))?;
        let next = read_listed(name, bytes, self.listed_file(name)?, self.identity.as_ref(), authority)?;
        expect_valid(name, &next, now)?;
        self.roles.insert(name.to_owned(), next);
        Ok(())
    }

    /// Checks that the trusted files, from the root to targets, belong together and are valid now.
    ///
    /// # Errors
    /// The first file that is missing_error, is not the one that is listed, or expired.
    pub fn check_current(&self, now: EpochMs) -> Result<(), RoleError> {
        expect_valid("root", &self.root, now)?;
        let timestamp = self.timestamp.as_ref().ok_or_else(|| missing_error("timestamp"))?;
        expect_valid("timestamp", timestamp, now)?;
        let snapshot = self.snapshot.as_ref().ok_or_else(|| missing_error("snapshot"))?;
        expect_version("snapshot", timestamp.body().snapshot.version, snapshot)?;
        expect_valid("snapshot", snapshot, now)?;
        let targets = self.targets.as_ref().ok_or_else(|| missing_error("targets"))?;
        expect_version("targets", self.listed_file("targets")?.version, targets)?;
        expect_valid("targets", targets, now)
    }

    /// The trusted root.
    pub fn root(&self) -> &Metadata<Root> {
        &self.root
    }

    /// The trusted timestamp.
    pub fn timestamp(&self) -> Option<&Metadata<Timestamp>> {
        self.timestamp.as_ref()
    }

    /// The trusted snapshot.
    pub fn snapshot(&self) -> Option<&Metadata<Snapshot>> {
        self.snapshot.as_ref()
    }

    /// The trusted targets.
    pub fn targets(&self) -> Option<&Metadata<Targets>> {
        self.targets.as_ref()
    }

    /// The file of a delegated role. Use it only if [`TrustedMetadata::role_state`] is current.
    pub fn role(&self, name: &str) -> Option<&Metadata<Targets>> {
        self.roles.get(name)
    }

    /// The files of all delegated roles.
    pub fn roles(&self) -> impl Iterator<Item = (&str, &Metadata<Targets>)> {
        self.roles.iter().map(|(name, file)| (name.as_str(), file))
    }

    fn authority(&self, role: TopLevel) -> Authority<'_> {
        self.root.body().authority(role)
    }

    fn listed_snapshot(&self) -> Result<&MetaFile, RoleError> {
        let timestamp = self.timestamp.as_ref().ok_or_else(|| missing_error("timestamp"))?;
        Ok(&timestamp.body().snapshot)
    }

    fn listed_file(&self, role: &str) -> Result<&MetaFile, RoleError> {
        let snapshot = self.snapshot.as_ref().ok_or_else(|| missing_error("snapshot"))?;
        let listed = snapshot.body().role(role);
        listed.ok_or_else(|| RoleError::new(role, Reason::NotListed))
    }

    fn drop_unsigned(&mut self) {
        let root = self.root.body();
        self.timestamp
            .take_if(|file| root.authority(TopLevel::Timestamp).verify(file).is_err());
        self.snapshot
            .take_if(|file| root.authority(TopLevel::Snapshot).verify(file).is_err());
        self.targets
            .take_if(|file| root.authority(TopLevel::Targets).verify(file).is_err());
    }
}

/// Files that were trusted on this phone before, as bytes.
#[derive(Clone, Debug, Default)]
pub struct StoredFiles<'a> {
    /// The timestamp.
    pub timestamp: Option<&'a [u8]>,
    /// The snapshot.
    pub snapshot: Option<&'a [u8]>,
    /// The targets.
    pub targets: Option<&'a [u8]>,
    /// The delegated roles, by name.
    pub roles: Vec<(&'a str, &'a [u8])>,
}

/// The delegation to a role, and who signs for it.
pub(crate) fn delegation<'a>(delegator: &'a Metadata<Targets>, name: &str) -> Option<(&'a Delegation, Authority<'a>)> {
    let delegations = delegator.body().delegations.as_ref()?;
    let delegation = delegations.get(name)?;
    Some((delegation, delegations.authority(delegation)))
}
