//! The next version of a role that publishes updates: the present one and these updates, without what is pruned.
//! A draft of the server is signed only if it is exactly that (`docs/reference/trust.md#before-signing`).

use std::collections::BTreeSet;

use launchway_domain::platform::Platform;
use launchway_domain::time::{DAY, EpochMs, minute};
use launchway_trust::metadata::{Authority, Metadata, Target, Targets};
use launchway_trust::next_role::Pruning;
use launchway_trust::profile::{UPDATE_ROLE_LIFETIME, check_role};
use launchway_trust::{Sha256, Update, UpdateRole};

use crate::developer_role::DeveloperRole;
use crate::failure::Failure;
use crate::trust::drafts::refuse;
use crate::trust::next_versions::{NextVersion, NextVersions};
use crate::trust::repository::VerifiedRepository;

/// An update to sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedTarget {
    /// The platform it is for.
    pub platform: Platform,
    /// What is signed about it.
    pub update: Update,
    /// The hash of its package.
    pub sha256: Sha256,
    /// The length of its package.
    pub length: u64,
}

impl WantedTarget {
    /// The path of the target in a role.
    pub fn path(&self, role: &UpdateRole) -> String {
        self.update.path(role, self.platform)
    }

    fn target(&self) -> Target {
        self.update.target(self.sha256, self.length)
    }

    /// The target as lines for the person who signs it.
    pub fn describe(&self, role: &UpdateRole) -> Vec<String> {
        let fingerprint = self.update.fingerprint.as_deref().unwrap_or("any");
        vec![
            self.path(role),
            format!("  SHA-256      {}", self.sha256),
            format!("  size         {} bytes", self.length),
            format!("  fingerprint  {fingerprint}"),
        ]
    }
}

/// Who signs for a role that signs updates. Fails if nobody does.
pub fn authority<'r>(repository: &'r VerifiedRepository, role: &UpdateRole) -> Result<Authority<'r>, Failure> {
    let authority = repository.authority(&DeveloperRole::Update(role.clone()));
    authority.ok_or_else(|| {
        Failure::usage(format!("nobody signs for {role} yet"))
            .hint(format!("create the role with `launchway trust add-key {role} FILE`"))
    })
}

/// Whether the verified version of a role lists this update with this package.
pub fn is_listed(repository: &VerifiedRepository, role: &UpdateRole, wanted: &WantedTarget) -> bool {
    let file = repository.role(role);
    file.is_some_and(|file| file.body().targets.get(&wanted.path(role)) == Some(&wanted.target()))
}

/// The next version of a role. `published_at` says when the update of a path was published.
///
/// # Errors
/// A package is revoked, another package was signed under the same name, or an update is too old to be kept.
pub fn compose(
    repository: &VerifiedRepository,
    role: &UpdateRole,
    wanted: &[WantedTarget],
    published_at: &dyn Fn(&str) -> Option<EpochMs>,
) -> Result<NextVersion<Targets>, Failure> {
    let signers = authority(repository, role)?.signers().len();
    let revoked = repository.revoked_packages();
    let mut versions = NextVersions::of(repository);
    let mut next = versions.role(role)?.clone();
    for update in wanted {
        let path = update.path(role);
        if revoked.contains(&update.sha256) || next.body.revoked.contains(&update.sha256) {
            return Err(Failure::failed(format!("the package {} was revoked", update.sha256))
                .hint("publish other files; a revoked package is never started"));
        }
        if next
            .body
            .targets
            .get(&path)
            .is_some_and(|known| *known != update.target())
        {
            return Err(
                Failure::failed(format!("{role} signed another package as {path}")).hint("give a higher build number")
            );
        }
        next.body
            .publish(role, update.platform, &update.update, update.sha256, update.length);
    }
    next.body.prune(&Pruning {
        role,
        published_at,
        now: repository.now(),
        signers,
    });
    let is_gone = |update: &&WantedTarget| !next.body.targets.contains_key(&update.path(role));
    match wanted.iter().find(is_gone) {
        None => Ok(next),
        Some(old) => Err(
            Failure::failed(format!("{} is older than what {role} keeps", old.path(role)))
                .hint("a role lists the newest 8 updates of each platform: give a higher version or build number"),
        ),
    }
}

/// Checks that a draft is the next version with these updates and nothing else. The server may have pruned updates that
/// only their age makes dispensable.
///
/// # Errors
/// It is something else.
pub fn check_draft(
    repository: &VerifiedRepository,
    role: &UpdateRole,
    wanted: &[WantedTarget],
    draft: &Metadata<Targets>,
) -> Result<(), Failure> {
    let named = DeveloperRole::Update(role.clone());
    check_role(role, draft).map_err(|error| refuse(&named, &format!("breaks a rule: {error}")))?;
    let present = repository.role(role);
    let paths = present.into_iter().flat_map(|file| file.body().targets.keys());
    let removed: BTreeSet<&String> = paths.filter(|path| !draft.body().targets.contains_key(*path)).collect();
    // What the server dropped counts as published long ago. That never drops one of the newest.
    let published_at = |path: &str| removed.iter().any(|gone| *gone == path).then_some(0);
    let expected = compose(repository, role, wanted, &published_at)?;
    if *draft.body() != expected.body {
        return Err(refuse(&named, "does more than publish what was asked for"));
    }
    if draft.version() != expected.header.version {
        return Err(refuse(&named, &format!("has version {}", draft.version())));
    }
    let latest = repository.now().saturating_add(UPDATE_ROLE_LIFETIME + DAY);
    let expires = draft.header().expires;
    if expires > latest {
        return Err(refuse(&named, &format!("is valid until {}", minute(expires))));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
