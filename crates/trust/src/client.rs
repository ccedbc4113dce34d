//! A phone's view of its app's repository: what is trusted, what is remembered, and how both are renewed
//! (`docs/reference/trust.md#the-client`).

mod offer;
mod refresh;
mod stored_trust;

use std::collections::{BTreeMap, BTreeSet};

use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::time::{DAY, EpochMs};

use crate::digest::Sha256;
use crate::floors::Floors;
use crate::identity::Identity;
use crate::metadata::{Authority, Header, Metadata, Targets};
use crate::role::{TopLevel, UpdateRole};
use crate::role_error::{Reason, RoleError};
use crate::trust_file::TrustFile;
use crate::trusted_metadata::{RoleState, TrustedMetadata, delegation};

pub use offer::{App, Offer, OfferError, SignedUpdate, Update};
pub use refresh::Refresh;
pub use stored_trust::{StoredTrust, StoredTrustError};

/// The time that decides what has expired: a device's clock may be wrong, but the app was not built in the future.
pub fn now(device_clock: EpochMs, app_built_at: EpochMs) -> EpochMs {
    device_clock.max(app_built_at)
}

/// What a check says about the metadata that the server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnnouncedVersions {
    /// The version of the root.
    pub root: u64,
    /// The version of the snapshot.
    pub snapshot: u64,
}

/// What a phone trusts and remembers for one app.
#[derive(Clone, Debug)]
pub struct Client {
    trusted: TrustedMetadata,
    floors: Floors,
    embedded_revoked: BTreeSet<Sha256>,
    /// The roles that sign for this app, in the order in which they are asked.
    roles: Vec<UpdateRole>,
    /// Whether all delegated roles are asked: by a developer, who signs for them.
    every_role: bool,
    /// The `signed` of each root that was trusted, by version, since the one that the app carries.
    lineage: BTreeMap<u64, Sha256>,
}

impl Client {
    /// Opens what the app carries and what this phone stored before.
    ///
    /// The stored root is used only if the stored chain contains the root that the app carries. Floors are kept as long
    /// as the repository is the same.
    ///
    /// # Errors
    /// The root that the app carries is not valid, or of another repository or app.
    pub fn open(
        embedded: &TrustFile,
        bundle_id: &BundleId,
        configuration: Option<&Configuration>,
        stored: Option<&StoredTrust>,
    ) -> Result<Self, RoleError> {
        let identity = Identity {
            repository: embedded.repository,
            bundle_id: bundle_id.clone(),
        };
        let mut trusted = TrustedMetadata::from_root(embedded.root.as_bytes(), Some(identity.clone()))?;
        let mut lineage = BTreeMap::from([root_of_lineage(&trusted)]);
        let stored = stored.filter(|stored| stored.repository == embedded.repository);
        if let Some(stored) = stored {
            let (version, signed) = root_of_lineage(&trusted);
            let contains = stored.lineage.get(&version) == Some(&signed);
            if let Some(newer) = contains
                .then(|| TrustedMetadata::from_root(&stored.root, Some(identity)).ok())
                .flatten()
            {
                trusted = newer;
                lineage = stored.lineage.clone();
            }
            trusted.restore(stored.files());
        }
        let learned = stored.map(|stored| stored.floors.clone()).unwrap_or_default();
        let named = configuration.cloned().map(UpdateRole::Configuration);
        Ok(Self {
            trusted,
            floors: Floors::new(embedded.floors.clone(), learned),
            embedded_revoked: embedded.revoked.clone(),
            roles: named.into_iter().chain([UpdateRole::Any]).collect(),
            every_role: false,
            lineage,
        })
    }

    /// Opens the same for a developer, who signs the next version of roles. All delegated roles are asked, except those
    /// of which no version exists yet.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn open_for_signer(
        trust_file: &TrustFile,
        bundle_id: &BundleId,
        stored: Option<&StoredTrust>,
    ) -> Result<Self, RoleError> {
        let mut client = Self::open(trust_file, bundle_id, None, stored)?;
        client.every_role = true;
        client.ask_delegated_roles();
        Ok(client)
    }

    /// What to store on the phone and pass to [`Client::open`] at the next start.
    pub fn stored_trust(&self) -> StoredTrust {
        StoredTrust::of(
            &self.trusted,
            self.floors.learned_floors().clone(),
            self.lineage.clone(),
        )
    }

    /// Starts a run that renews the metadata, at the time that [`now`] returns.
    pub fn refresh(&mut self, now: EpochMs) -> Refresh<'_> {
        Refresh::new(self, now)
    }

    /// Starts a run that also takes what has expired: developers must be able to renew it. Afterwards, refuse to sign if
    /// timestamp or snapshot is among [`Client::expired_roles`].
    pub fn refresh_for_signer(&mut self) -> Refresh<'_> {
        Refresh::new(self, EpochMs::MIN)
    }

    /// The trusted files that have expired, with the time when they did.
    pub fn expired_roles(&self, now: EpochMs) -> Vec<(String, EpochMs)> {
        let trusted = &self.trusted;
        let of = |name: &str, header: &Header| (name.to_owned(), header.expires);
        let top_level = [
            Some(of("root", trusted.root().header())),
            trusted.timestamp().map(|file| of("timestamp", file.header())),
            trusted.snapshot().map(|file| of("snapshot", file.header())),
            trusted.targets().map(|file| of("targets", file.header())),
        ];
        let names = self.roles.iter().map(ToString::to_string);
        let delegated = names.filter_map(|name| Some(of(&name, trusted.role(&name)?.header())));
        let all = top_level.into_iter().flatten().chain(delegated);
        all.filter(|(_, expires)| *expires <= now).collect()
    }

    /// The packages that this phone never starts: those that the app carries, and those that the app's roles revoked.
    /// They hold even after all metadata has expired.
    pub fn revoked_packages(&self) -> BTreeSet<Sha256> {
        let roles = self.roles.iter();
        let by_roles = roles.flat_map(|role| self.floors.revocations_of(&role.to_string()));
        self.embedded_revoked.iter().chain(by_roles).copied().collect()
    }

    /// Whether to fetch metadata, after a check that names the server's versions of root and snapshot: when one is newer
    /// than the trusted one, and once a day, so that a server which withholds everything is noticed.
    pub fn is_behind(&self, announced: AnnouncedVersions, refreshed_at: EpochMs, now: EpochMs) -> bool {
        let snapshot = self.trusted.snapshot().map_or(0, Metadata::version);
        // After a clock was set back, the age of the last refresh is unknown.
        let stale = !(refreshed_at..refreshed_at.saturating_add(DAY)).contains(&now);
        stale || announced.root > self.trusted.root().version() || announced.snapshot > snapshot
    }

    /// What is trusted.
    pub fn metadata(&self) -> &TrustedMetadata {
        &self.trusted
    }

    /// What is remembered.
    pub fn floors(&self) -> &Floors {
        &self.floors
    }

    /// The role's file, if its role is delegated to and everything down to it is valid now.
    ///
    /// # Errors
    /// What is not valid.
    fn role(&self, role: &UpdateRole, now: EpochMs) -> Result<Option<&Metadata<Targets>>, RoleError> {
        self.trusted.check_current(now)?;
        let name = role.to_string();
        let Some(targets) = self.trusted.targets() else {
            return Err(RoleError::new("targets", Reason::Missing));
        };
        self.check_floor_of_targets(targets.version())?;
        match self.delegated_state(targets, role, now)? {
            RoleState::NotDelegated => Ok(None),
            RoleState::Fetch { version } => {
                let listed = self.trusted.role(&name).filter(|file| file.version() == version);
                Err(match listed.filter(|file| file.is_expired(now)) {
                    Some(file) => RoleError::new(
                        &name,
                        Reason::Expired {
                            expires: file.header().expires,
                        },
                    ),
                    None => RoleError::new(&name, Reason::Missing),
                })
            }
            RoleState::Current => Ok(self.trusted.role(&name)),
        }
    }

    /// Checks the form of the delegation and the role's floor, then returns [`TrustedMetadata::role_state`].
    fn delegated_state(
        &self,
        targets: &Metadata<Targets>,
        role: &UpdateRole,
        now: EpochMs,
    ) -> Result<RoleState, RoleError> {
        let name = role.to_string();
        let Some((delegation, authority)) = delegation(targets, &name) else {
            return Ok(RoleState::NotDelegated);
        };
        if delegation.paths != [role.path_pattern()] {
            return Err(RoleError::new(&name, Reason::Paths));
        }
        let state = self.trusted.role_state(targets, &name, now)?;
        let listed = match state {
            RoleState::Fetch { version } => Some(version),
            _ => self.trusted.role(&name).map(Metadata::version),
        };
        self.floors.check(&name, authority, listed.unwrap_or(0))?;
        Ok(state)
    }

    /// The roles to ask are those that `targets` delegates to, for a developer.
    fn ask_delegated_roles(&mut self) {
        let delegations = self.trusted.targets().and_then(|file| file.body().delegations.as_ref());
        if let Some(delegations) = delegations.filter(|_| self.every_role) {
            let names = delegations.roles.iter().map(|delegation| delegation.name.parse());
            self.roles = names.filter_map(Result::ok).collect();
        }
    }

    fn targets_authority(&self) -> Authority<'_> {
        self.trusted.root().body().authority(TopLevel::Targets)
    }

    fn check_floor_of_targets(&self, version: u64) -> Result<(), RoleError> {
        self.floors.check("targets", self.targets_authority(), version)
    }
}

/// The entry of a root in the lineage: the hash of `signed`, since signatures may be added later.
fn root_of_lineage(trusted: &TrustedMetadata) -> (u64, Sha256) {
    let root = trusted.root();
    (root.version(), Sha256::of(root.message()))
}
