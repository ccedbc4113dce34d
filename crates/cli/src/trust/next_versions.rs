//! The next versions of an app's files: what a change makes of root, targets and roles, before anybody signs it.

use std::collections::{BTreeMap, BTreeSet};

use launchway_trust::draft::Draft;
use launchway_trust::json::MAX_INTEGER;
use launchway_trust::metadata::{
    Authority, Body, Delegation, Delegations, Header, Key, Keys, Metadata, RoleKeys, Root, Target, Targets,
};
use launchway_trust::{PublicKey, Sha256, TopLevel, UpdateRole};

use crate::developer_role::DeveloperRole;
use crate::failure::Failure;
use crate::trust::repository::VerifiedRepository;

/// A file's next version.
#[derive(Clone, Debug)]
pub struct NextVersion<T> {
    /// Its version and expiry.
    pub header: Header,
    /// Its content.
    pub body: T,
}

/// The files that a change touches.
#[derive(Debug)]
pub struct NextVersions<'r> {
    repository: &'r VerifiedRepository,
    pub root: Option<NextVersion<Root>>,
    pub targets: Option<NextVersion<Targets>>,
    pub roles: BTreeMap<UpdateRole, NextVersion<Targets>>,
}

impl<'r> NextVersions<'r> {
    /// Nothing is changed yet.
    pub fn of(repository: &'r VerifiedRepository) -> Self {
        Self {
            repository,
            root: None,
            targets: None,
            roles: BTreeMap::new(),
        }
    }

    /// Makes a version with the same content that is valid from now, above the present one and `above`.
    pub fn renew(&mut self, role: &DeveloperRole, above: Option<u64>) -> Result<(), Failure> {
        let header = self.repository.next_header(role, above);
        self.renew_as(role, header)
    }

    /// Makes a version with the same content and this header.
    pub fn renew_as(&mut self, role: &DeveloperRole, header: Header) -> Result<(), Failure> {
        match role {
            DeveloperRole::Root => self.root()?.header = header,
            DeveloperRole::Targets => self.targets()?.header = header,
            DeveloperRole::Update(role) => self.role(role)?.header = header,
        }
        Ok(())
    }

    /// Lets a key sign for a role, which is created if it does not exist.
    pub fn add_key(&mut self, role: &DeveloperRole, key: Key, threshold: Option<u64>) -> Result<(), Failure> {
        let public = public(&key)?;
        let change = |keys: &mut RoleKeys, id: String| {
            keys.key_ids.push(id);
            keys.threshold = threshold.unwrap_or(keys.threshold);
        };
        if self
            .repository
            .authority(role)
            .is_some_and(|authority| authority.signers().contains(&public))
        {
            return Err(Failure::usage(format!(
                "the key {} signs for {role} already",
                public.id()
            )));
        }
        match role {
            DeveloperRole::Root | DeveloperRole::Targets => {
                let root = &mut self.root()?.body;
                root.keys.insert(public.id(), key);
                change(top_level(root, role), public.id());
            }
            DeveloperRole::Update(role) => {
                let delegations = self.delegations()?;
                delegations.keys.insert(public.id(), key);
                change(delegation(delegations, role), public.id());
            }
        }
        self.check_threshold(role)
    }

    /// Stops a key from signing for a role.
    pub fn remove_key(&mut self, role: &DeveloperRole, key_id: &str, threshold: Option<u64>) -> Result<(), Failure> {
        let change = |keys: &mut RoleKeys| {
            keys.key_ids.retain(|id| id != key_id);
            keys.threshold = threshold.unwrap_or(keys.threshold);
        };
        match role {
            DeveloperRole::Root | DeveloperRole::Targets => {
                let root = &mut self.root()?.body;
                change(top_level(root, role));
                forget_unused_of_root(root);
            }
            DeveloperRole::Update(name) => {
                let delegations = self.delegations()?;
                change(delegation(delegations, name));
                forget_unused_of(delegations);
            }
        }
        self.check_threshold(role)
    }

    /// Puts a key in the place of another one, in every role. Returns the roles.
    pub fn replace_key(&mut self, old: &str, key: &Key) -> Result<Vec<DeveloperRole>, Failure> {
        let mut changed = Vec::new();
        let roles = [DeveloperRole::Root, DeveloperRole::Targets].into_iter();
        let roles = roles.chain(self.repository.update_roles().map(DeveloperRole::Update));
        for role in roles.collect::<Vec<_>>() {
            let authority = self.repository.authority(&role);
            if !authority.is_some_and(|authority| authority.key_ids().any(|(id, _)| id == old)) {
                continue;
            }
            let public = public(key)?;
            if !authority.is_some_and(|authority| authority.signers().contains(&public)) {
                self.add_key(&role, key.clone(), None)?;
            }
            self.remove_key(&role, old, None)?;
            changed.push(role);
        }
        Ok(changed)
    }

    /// Names another key of the server.
    pub fn replace_online_key(&mut self, public: PublicKey) -> Result<(), Failure> {
        let root = &mut self.root()?.body;
        root.keys.insert(public.id(), Key::from(public));
        for keys in [&mut root.snapshot, &mut root.timestamp] {
            *keys = RoleKeys {
                key_ids: vec![public.id()],
                threshold: 1,
            };
        }
        forget_unused_of_root(root);
        Ok(())
    }

    /// Revokes a package in a role.
    pub fn revoke(&mut self, role: &UpdateRole, sha256: Sha256) -> Result<(), Failure> {
        let revoked = self.role(role)?.body.revoke(sha256);
        revoked.map_err(|error| Failure::failed(error.to_string()))
    }

    /// Revokes in a role what it lists although the committed file revokes it: the role is older than the file.
    pub fn revoke_listed(&mut self, role: &UpdateRole, revoked: &BTreeSet<Sha256>) -> Result<(), Failure> {
        let listed = self.role(role)?.body.targets.values().filter_map(Target::sha256);
        let listed: Vec<_> = listed.filter(|sha256| revoked.contains(sha256)).collect();
        listed.into_iter().try_for_each(|sha256| self.revoke(role, sha256))
    }

    /// Adds new versions of the files that would no longer be signed by enough keys.
    ///
    /// # Errors
    /// The versions of a role are used up, and clients would not take a lower one.
    pub fn complete(&mut self) -> Result<(), Failure> {
        self.add_unsigned()?;
        let used_up = |header: &Header| header.version > MAX_INTEGER.unsigned_abs();
        let targets = self.targets.iter().filter(|next| used_up(&next.header));
        let roles = self.roles.iter().filter(|(_, next)| used_up(&next.header));
        let roles = roles.map(|(role, _)| DeveloperRole::Update(role.clone()));
        for role in targets.map(|_| DeveloperRole::Targets).chain(roles).collect::<Vec<_>>() {
            self.begin_again(&role)?;
        }
        Ok(())
    }

    /// Gives a role version 1, which clients take if fewer of its old keys remain than its new threshold, and the server's
    /// key is new.
    fn begin_again(&mut self, role: &DeveloperRole) -> Result<(), Failure> {
        let before = self
            .repository
            .authority(role)
            .map(|authority| authority.signers())
            .unwrap_or_default();
        let falls = self.authorities(role).first().is_some_and(|authority| {
            (authority.signers().intersection(&before).count() as u64) < authority.threshold()
        });
        let old = self.repository.root().body();
        let new_server = self
            .root
            .as_ref()
            .is_some_and(|next| next.body.snapshot != old.snapshot);
        if !falls || !new_server {
            return Err(Failure::failed(format!("the versions of {role} are used up"))
                .hint("replace its keys together with the server's: launchway trust rotate KEY_ID FILE --online-key"));
        }
        let header = match role {
            DeveloperRole::Root => None,
            DeveloperRole::Targets => self.targets.as_mut().map(|next| &mut next.header),
            DeveloperRole::Update(role) => self.roles.get_mut(role).map(|next| &mut next.header),
        };
        if let Some(header) = header {
            header.version = 1;
        }
        Ok(())
    }

    fn add_unsigned(&mut self) -> Result<(), Failure> {
        if let Some(root) = &self.root {
            let authority = root.body.authority(TopLevel::Targets);
            if self.targets.is_none() && authority.verify(self.repository.targets()).is_err() {
                self.targets()?;
            }
        }
        let Some(delegations) = self.targets.as_ref().and_then(|next| next.body.delegations.clone()) else {
            return Ok(());
        };
        for delegation in &delegations.roles {
            let Ok(role) = delegation.name.parse::<UpdateRole>() else {
                continue;
            };
            let present = self.repository.role(&role);
            let unsigned = present.is_some_and(|file| delegations.authority(delegation).verify(file).is_err());
            // Phones cannot tell a role without a file from one that is withheld.
            if unsigned || (present.is_none() && role == UpdateRole::Any) {
                self.role(&role)?;
            }
        }
        Ok(())
    }

    /// Who signs the next version of a role: for the root the keys of the present one, and its own.
    pub fn authorities(&self, role: &DeveloperRole) -> Vec<Authority<'_>> {
        let root = self
            .root
            .as_ref()
            .map_or(self.repository.root().body(), |next| &next.body);
        match role {
            DeveloperRole::Root => {
                let before = self.repository.root().body().authority(TopLevel::Root);
                vec![before, root.authority(TopLevel::Root)]
            }
            DeveloperRole::Targets => vec![root.authority(TopLevel::Targets)],
            DeveloperRole::Update(role) => {
                let targets = self
                    .targets
                    .as_ref()
                    .map_or(self.repository.targets().body(), |next| &next.body);
                let delegations = targets.delegations.iter();
                let named = delegations.filter_map(|all| Some(all.authority(all.get(&role.to_string())?)));
                named.collect()
            }
        }
    }

    /// The present files and this change.
    pub fn repository(&self) -> &'r VerifiedRepository {
        self.repository
    }

    fn root(&mut self) -> Result<&mut NextVersion<Root>, Failure> {
        let header = self.repository.next_header(&DeveloperRole::Root, None);
        let present = self.repository.root();
        next(&mut self.root, Some(present), header, &DeveloperRole::Root, || {
            present.body().clone()
        })
    }

    fn targets(&mut self) -> Result<&mut NextVersion<Targets>, Failure> {
        let header = self.repository.next_header(&DeveloperRole::Targets, None);
        let present = self.repository.targets();
        next(
            &mut self.targets,
            Some(present),
            header,
            &DeveloperRole::Targets,
            || present.body().clone(),
        )
    }

    /// The next version of a role that signs updates, to be changed.
    pub fn role(&mut self, role: &UpdateRole) -> Result<&mut NextVersion<Targets>, Failure> {
        let named = DeveloperRole::Update(role.clone());
        let header = self.repository.next_header(&named, None);
        let present = self.repository.role(role);
        let mut slot = self.roles.remove(role);
        next(&mut slot, present, header, &named, || {
            present.map(|file| file.body().clone()).unwrap_or_default()
        })?;
        let made = slot.ok_or_else(|| Failure::failed(format!("cannot make a version of {named}")))?;
        Ok(self.roles.entry(role.clone()).or_insert(made))
    }

    fn delegations(&mut self) -> Result<&mut Delegations, Failure> {
        Ok(self.targets()?.body.delegations.get_or_insert_default())
    }

    fn check_threshold(&self, role: &DeveloperRole) -> Result<(), Failure> {
        if let Some(authority) = self.authorities(role).last() {
            let (keys, threshold) = (authority.signers().len() as u64, authority.threshold());
            if keys < threshold {
                let message =
                    format!("the threshold of {role} would be {threshold}, and the number of its keys {keys}");
                return Err(
                    Failure::usage(message).hint("give a --threshold that the keys can reach, or add a key before")
                );
            }
        }
        Ok(())
    }
}

/// The next version in this place, made from the present file if there is none yet. Fails if the file says what this
/// version of the program does not know, and would leave out.
fn next<'s, T: Body>(
    slot: &'s mut Option<NextVersion<T>>,
    present: Option<&Metadata<T>>,
    header: Header,
    role: &DeveloperRole,
    body: impl FnOnce() -> T,
) -> Result<&'s mut NextVersion<T>, Failure> {
    let is_known = |present: &Metadata<T>| Draft::new(present.header(), present.body()).message() == present.message();
    if slot.is_none() && !present.is_none_or(is_known) {
        return Err(Failure::failed(format!(
            "{role} contains fields that this version of the program does not know"
        ))
        .hint("update this program: it would leave them out"));
    }
    Ok(slot.get_or_insert_with(|| NextVersion { header, body: body() }))
}

fn top_level<'k>(root: &'k mut Root, role: &DeveloperRole) -> &'k mut RoleKeys {
    match role {
        DeveloperRole::Root => &mut root.root,
        _ => &mut root.targets,
    }
}

fn forget_unused_of_root(root: &mut Root) {
    let used = TopLevel::ALL.map(|role| root.role(role).clone());
    forget_unused(&mut root.keys, used);
}

/// The keys of a role, which is created if it does not exist.
fn delegation<'d>(delegations: &'d mut Delegations, role: &UpdateRole) -> &'d mut RoleKeys {
    let name = role.to_string();
    let place = delegations.roles.iter().position(|known| known.name == name);
    let place = place.unwrap_or_else(|| {
        delegations.roles.push(Delegation {
            name,
            role: RoleKeys {
                key_ids: Vec::new(),
                threshold: 1,
            },
            terminating: true,
            paths: vec![role.path_pattern()],
        });
        delegations.roles.len() - 1
    });
    &mut delegations.roles[place].role
}

fn forget_unused_of(delegations: &mut Delegations) {
    let used: Vec<RoleKeys> = delegations
        .roles
        .iter()
        .map(|delegation| delegation.role.clone())
        .collect();
    forget_unused(&mut delegations.keys, used);
}

/// Takes out the keys that no role names.
fn forget_unused(keys: &mut Keys, roles: impl IntoIterator<Item = RoleKeys>) {
    let used: BTreeSet<String> = roles.into_iter().flat_map(|role| role.key_ids).collect();
    keys.retain(|id, _| used.contains(id));
}

fn public(key: &Key) -> Result<PublicKey, Failure> {
    let public = key.public().copied();
    public.ok_or_else(|| Failure::usage("the key is not an ECDSA P-256 key"))
}

#[cfg(test)]
mod tests;
