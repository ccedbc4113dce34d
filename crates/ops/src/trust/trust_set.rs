//! What an app's developers signed, as a set whose files fit each other, and how proposed files make the next set
//! (`docs/reference/trust.md#accepting-metadata`). Nothing here does I/O.

use std::collections::BTreeMap;

use launchway_domain::time::EpochMs;
use launchway_domain::trust::{MAX_DELEGATED_ROLES, MAX_ROOT_VERSION};
use launchway_trust::metadata::{Authority, Body, Metadata, Root, Targets};
use launchway_trust::profile::{check_role, check_root, check_targets};
use launchway_trust::{Identity, PublicKey, TopLevel, UpdateRole};

use super::error::TrustError;
use super::proposal::Proposal;

/// The accepted files of an app that developers sign.
#[derive(Clone, Debug)]
pub struct TrustSet {
    /// The repository and app.
    pub identity: Identity,
    /// The current root.
    pub root: Metadata<Root>,
    /// The current targets.
    pub targets: Metadata<Targets>,
    /// The current version of each role that signs updates, also of those that `targets` no longer delegates to.
    pub roles: BTreeMap<UpdateRole, Metadata<Targets>>,
}

/// The keys of this server that a root may name.
#[derive(Clone, Debug, Default)]
pub struct OnlineKeys {
    /// The one that the current root names.
    pub current: Option<PublicKey>,
    /// A new one.
    pub pending: Option<PublicKey>,
}

/// The set that proposed files make.
#[derive(Clone, Debug)]
pub struct Judgment {
    /// The set.
    pub set: TrustSet,
    /// The proposed files with too few signatures, if any.
    pub lacking: Vec<String>,
    /// Whether the root names the pending key.
    pub names_pending_key: bool,
    /// The roles whose version falls, because their keys and the server's were replaced.
    pub fallen: Vec<String>,
}

impl TrustSet {
    /// Who signs for a role that signs updates; `None` if `targets` does not delegate to it.
    pub fn authority(&self, role: &UpdateRole) -> Option<Authority<'_>> {
        delegated(&self.targets, role)
    }

    /// The versions that a snapshot lists, by the name of the role.
    pub fn listed_versions(&self) -> BTreeMap<String, u64> {
        let delegated = self.roles.iter().filter(|(role, _)| self.authority(role).is_some());
        delegated
            .map(|(role, file)| (role.to_string(), file.version()))
            .chain([("targets".to_owned(), self.targets.version())])
            .collect()
    }
}

/// Who signs for a role, as `targets` says.
pub fn delegated<'a>(targets: &'a Metadata<Targets>, role: &UpdateRole) -> Option<Authority<'a>> {
    let delegations = targets.body().delegations.as_ref()?;
    let delegation = delegations.get(&role.to_string())?;
    Some(delegations.authority(delegation))
}

/// Judges proposed files against the present set, `None` for the first one of a repository.
///
/// # Errors
/// The first rule that a file breaks. Too few signatures of a proposed file are no error, unless there is none or the files
/// begin a repository.
pub fn judge(
    present: Option<&TrustSet>,
    identity: &Identity,
    proposal: &Proposal,
    keys: &OnlineKeys,
    now: EpochMs,
) -> Result<Judgment, TrustError> {
    let mut judge = Judge {
        present,
        identity,
        now,
        lacking: Vec::new(),
        fallen: Vec::new(),
        signed: false,
        new_online_key: false,
    };
    let root = judge.roots(&proposal.roots, keys)?;
    let online = if judge.new_online_key {
        keys.pending
    } else {
        keys.current
    };
    let online = online.ok_or(TrustError::OnlineKey)?;
    let targets = judge.targets(&root, proposal.targets.as_ref(), &online)?;
    let roles = judge.roles(&targets, proposal)?;
    if let Some(unsigned) = judge.lacking.first().filter(|_| !judge.signed) {
        return Err(TrustError::Unsigned(unsigned.clone()));
    }
    if let Some(role) = judge.lacking.first().filter(|_| present.is_none()) {
        return Err(TrustError::FirstFile(role.clone()));
    }
    Ok(Judgment {
        set: TrustSet {
            identity: identity.clone(),
            root,
            targets,
            roles,
        },
        lacking: judge.lacking,
        names_pending_key: judge.new_online_key,
        fallen: judge.fallen,
    })
}

struct Judge<'a> {
    present: Option<&'a TrustSet>,
    identity: &'a Identity,
    now: EpochMs,
    lacking: Vec<String>,
    fallen: Vec<String>,
    /// Whether a proposed file has a valid signature.
    signed: bool,
    new_online_key: bool,
}

impl Judge<'_> {
    /// Follows the chain of roots to the last one. Only that one must be valid and keep our own rules.
    fn roots(&mut self, roots: &[Metadata<Root>], keys: &OnlineKeys) -> Result<Metadata<Root>, TrustError> {
        let mut trusted = self.present.map(|set| &set.root);
        for (place, next) in roots.iter().enumerate() {
            self.check_identity("root", next)?;
            let (found, limit) = (next.version(), MAX_ROOT_VERSION);
            if found > limit {
                return Err(TrustError::TooManyRoots { limit, found });
            }
            if let Some(before) = trusted {
                let expected = before.version() + 1;
                if next.version() != expected {
                    let found = next.version();
                    return Err(TrustError::RootVersion { expected, found });
                }
            }
            let authorities = [trusted.unwrap_or(next), next].map(|root| root.body().authority(TopLevel::Root));
            if let Some((valid, threshold)) = self.lack(&authorities, next) {
                if self.present.is_none() {
                    return Err(TrustError::FirstRoot { valid, threshold });
                }
                if place + 1 < roots.len() {
                    let role = "root".to_owned();
                    return Err(TrustError::Signatures { role, valid, threshold });
                }
                self.lacking.push("root".to_owned());
            }
            trusted = Some(next);
        }
        let last = trusted.ok_or(TrustError::NoRoot)?;
        if !roots.is_empty() {
            self.check_valid("root", last)?;
            let signers = last.body().authority(TopLevel::Snapshot).signers();
            self.new_online_key = keys.pending.is_some_and(|pending| signers.contains(&pending));
            let online = if self.new_online_key {
                keys.pending
            } else {
                keys.current
            };
            check_root(last, &online.ok_or(TrustError::OnlineKey)?, self.now)?;
        }
        Ok(last.clone())
    }

    fn targets(
        &mut self,
        root: &Metadata<Root>,
        proposed: Option<&Metadata<Targets>>,
        online: &PublicKey,
    ) -> Result<Metadata<Targets>, TrustError> {
        let authority = root.body().authority(TopLevel::Targets);
        let present = self.present.map(|set| &set.targets);
        let Some(next) = proposed else {
            let stays = present.ok_or(TrustError::NoTargets)?;
            // A new key of the server must not be one of the developers'.
            check_targets(stays, online)?;
            return expect_signed("targets", authority, stays);
        };
        let before = self.present.map(|set| set.root.body().authority(TopLevel::Targets));
        self.check_proposed("targets", present.zip(before), next, authority)?;
        check_targets(next, online)?;
        Ok(next.clone())
    }

    fn roles(
        &mut self,
        targets: &Metadata<Targets>,
        proposal: &Proposal,
    ) -> Result<BTreeMap<UpdateRole, Metadata<Targets>>, TrustError> {
        let nothing = BTreeMap::new();
        let present = self.present.map_or(&nothing, |set| &set.roles);
        let mut roles = present.clone();
        for (role, next) in &proposal.roles {
            let name = role.to_string();
            let authority = delegated(targets, role).ok_or_else(|| TrustError::NotDelegated(name.clone()))?;
            let before = self.present.and_then(|set| set.authority(role));
            self.check_proposed(&name, present.get(role).zip(before), next, authority)?;
            if before.is_none() && present.get(role).is_some_and(|file| file.version() >= next.version()) {
                return Err(version_error(&name, present[role].version(), next));
            }
            check_role(role, next)?;
            roles.insert(role.clone(), next.clone());
        }
        let limit = MAX_DELEGATED_ROLES;
        let named = targets.body().delegations.iter().flat_map(|all| &all.roles);
        let mut count = roles.len();
        for name in named.map(|delegation| &delegation.name) {
            let role: UpdateRole = name.parse().map_err(|_| TrustError::Name(name.clone()))?;
            match (roles.get(&role), delegated(targets, &role)) {
                (Some(file), Some(authority)) if !proposal.roles.contains_key(&role) => {
                    expect_signed(name, authority, file)?;
                }
                (None, _) if role == UpdateRole::Any => return Err(TrustError::AnyMissing),
                (None, _) => count += 1,
                _ => {}
            }
        }
        if count > limit {
            return Err(TrustError::TooManyRoles { limit });
        }
        Ok(roles)
    }

    /// Checks a proposed file of a targets role. `before` is its present file and who signed for it.
    fn check_proposed(
        &mut self,
        role: &str,
        before: Option<(&Metadata<Targets>, Authority<'_>)>,
        next: &Metadata<Targets>,
        authority: Authority<'_>,
    ) -> Result<(), TrustError> {
        self.check_identity(role, next)?;
        if let Some((present, old)) = before.filter(|(present, _)| present.version() >= next.version()) {
            if !self.new_online_key || present.version() == next.version() || !may_fall(old, authority) {
                return Err(version_error(role, present.version(), next));
            }
            self.fallen.push(role.to_owned());
        }
        self.check_valid(role, next)?;
        if self.lack(&[authority], next).is_some() {
            self.lacking.push(role.to_owned());
        }
        Ok(())
    }

    /// How many keys signed and how many must, for the first authority whose threshold a file does not reach.
    fn lack<T: Body>(&mut self, authorities: &[Authority<'_>], file: &Metadata<T>) -> Option<(u64, u64)> {
        let mut lack = None;
        for authority in authorities {
            let (valid, threshold) = (authority.signers_of(file).len() as u64, authority.threshold());
            self.signed |= valid > 0;
            if valid < threshold {
                lack.get_or_insert((valid, threshold));
            }
        }
        lack
    }

    fn check_identity<T: Body>(&self, role: &str, file: &Metadata<T>) -> Result<(), TrustError> {
        if file.header().identity.as_ref() == Some(self.identity) {
            Ok(())
        } else {
            Err(TrustError::Identity(role.to_owned()))
        }
    }

    fn check_valid<T: Body>(&self, role: &str, file: &Metadata<T>) -> Result<(), TrustError> {
        if file.is_expired(self.now) {
            let expires = file.header().expires;
            let role = role.to_owned();
            return Err(TrustError::Expired { role, expires });
        }
        Ok(())
    }
}

/// Whether clients take a lower version of a role under these new keys, as long as the server's key is new too
/// (`docs/reference/trust.md#floors`).
fn may_fall(old: Authority<'_>, new: Authority<'_>) -> bool {
    let remaining = old.signers().intersection(&new.signers()).count() as u64;
    remaining < new.threshold()
}

fn version_error(role: &str, present: u64, next: &Metadata<Targets>) -> TrustError {
    TrustError::Version {
        role: role.to_owned(),
        present,
        found: next.version(),
    }
}

/// The file, if the keys that sign for it now signed it.
fn expect_signed(
    role: &str,
    authority: Authority<'_>,
    file: &Metadata<Targets>,
) -> Result<Metadata<Targets>, TrustError> {
    match authority.verify(file) {
        Ok(()) => Ok(file.clone()),
        Err(_) => Err(TrustError::NoLongerSigned { role: role.to_owned() }),
    }
}

#[cfg(test)]
mod tests;
