//! Takes new versions of what developers signed: verified against the present set, then stored together with a new
//! snapshot and timestamp, in one transaction (`docs/reference/trust.md#accepting-metadata`).

use std::collections::BTreeMap;

use launchway_api::trust::TrustChange;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::UpdateId;
use launchway_domain::trust::OnlineKeyState;
use launchway_store::{NewTrustFile, OnlineKeyRow, TrustRepository};
use launchway_trust::Identity;
use launchway_trust::metadata::{Body, Metadata, Snapshot};
use serde_json::json;

use super::composition::compose_waiting;
use super::error::TrustError;
use super::listed_updates::{check_new, release, withdraw_revoked};
use super::online::{Signing, continued_list, put_repository, sign, used_versions};
use super::permission::Permission;
use super::present::{self, OnlineKeyRows, Present};
use super::proposal::Proposal;
use super::trust_set::{Judgment, TrustSet, judge};
use super::{drafts, renewals, view};
use crate::api_error::ApiError;
use crate::apps;
use crate::write::Write;

/// How proposed files are taken.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The snapshot that they were made from.
    pub based_on: Option<u64>,
    /// What the caller may change.
    pub permission: Permission,
    /// Whether roles may list updates that this server does not have.
    pub restore: bool,
}

/// What an acceptance did.
#[derive(Clone, Debug, Default)]
pub(super) struct Accepted {
    /// The roles with a new version.
    pub roles: Vec<String>,
    /// The updates that it published.
    pub published: Vec<UpdateId>,
}

/// Takes proposed files: all of them now, or all of them as drafts if one of them has too few signatures.
pub async fn change(
    write: &mut Write<'_>,
    bundle: &BundleId,
    mut proposal: Proposal,
    terms: Terms,
) -> Result<TrustChange, ApiError> {
    if proposal.is_empty() {
        return Err(TrustError::Nothing.into());
    }
    write.touch_updates(bundle).await?;
    let present = present::read(&mut write.org(), bundle).await?;
    match &present {
        Some(present) => check_basis(present, terms.based_on)?,
        None if proposal.roots.is_empty() => return Err(TrustError::NoRoot.into()),
        None if terms.permission == Permission::Renewals => {
            return Err(ApiError::Forbidden(
                "The first root of an app requires an admin".to_owned(),
            ));
        }
        None => {}
    }
    apps::claim(write, bundle, bundle.as_str()).await?;
    let completed = drafts::merge(&mut write.org(), bundle, &mut proposal).await?;
    if let Some(present) = present.as_ref().filter(|_| terms.permission == Permission::Renewals) {
        renewals::check(present, &proposal, &completed)?;
    }
    let acceptance = Acceptance::judge(write, bundle, present.as_ref(), &proposal).await?;
    let accepted = match &present {
        Some(present) if !acceptance.judgment.lacking.is_empty() => {
            drafts::store_proposal(write, bundle, present, &proposal, terms.restore).await?;
            Accepted::default()
        }
        _ => {
            let accepted = acceptance.store(write, &proposal, terms.restore).await?;
            acceptance.announce(write, &accepted).await?;
            accepted
        }
    };
    summarize(write, bundle, accepted).await
}

/// The answer to a change.
pub(super) async fn summarize(
    write: &mut Write<'_>,
    bundle: &BundleId,
    accepted: Accepted,
) -> Result<TrustChange, ApiError> {
    let now = write.now();
    let trust = view::read(&mut write.org(), bundle, now).await?;
    Ok(TrustChange {
        accepted: accepted.roles,
        drafts: trust.drafts.iter().map(|draft| draft.role.clone()).collect(),
        published_update_ids: accepted.published.iter().map(ToString::to_string).collect(),
        trust,
    })
}

/// Files that were judged, and what is needed to store them.
pub(super) struct Acceptance<'a> {
    bundle: &'a BundleId,
    present: Option<&'a Present>,
    keys: OnlineKeyRows,
    /// The set that they make.
    pub judgment: Judgment,
    /// The versions of snapshot and timestamp that were used last, also by a repository that this one replaces.
    used: Option<(u64, u64)>,
}

impl<'a> Acceptance<'a> {
    /// Judges files against the present set.
    pub(super) async fn judge(
        write: &mut Write<'_>,
        bundle: &'a BundleId,
        present: Option<&'a Present>,
        proposal: &Proposal,
    ) -> Result<Self, ApiError> {
        let identity = match present {
            Some(present) => present.set.identity.clone(),
            None => first_identity(bundle, proposal)?,
        };
        let keys = present::read_keys(&mut write.org(), bundle).await?;
        let set = present.map(|present| &present.set);
        let judgment = judge(set, &identity, proposal, &keys.public_keys()?, write.now())?;
        Ok(Self {
            bundle,
            present,
            keys,
            judgment,
            used: present.map(|present| used_versions(&present.repository)),
        })
    }

    /// The same for a repository that replaces one which used these versions.
    pub(super) fn after(self, used: (u64, u64)) -> Self {
        Self {
            used: Some(used),
            ..self
        }
    }

    /// Stores the files, which have all their signatures, and what follows from them.
    pub(super) async fn store(
        &self,
        write: &mut Write<'_>,
        proposal: &Proposal,
        restore: bool,
    ) -> Result<Accepted, ApiError> {
        let mut accepted = Accepted::default();
        for (role, next) in &proposal.roles {
            let before = self.present.and_then(|present| present.set.roles.get(role));
            check_new(&mut write.org(), self.bundle, role, (before, next), restore).await?;
        }
        for root in &proposal.roots {
            self.store_file(write, "root", root, &mut accepted).await?;
        }
        if let Some(targets) = &proposal.targets {
            self.store_file(write, "targets", targets, &mut accepted).await?;
        }
        for (role, file) in &proposal.roles {
            self.store_file(write, &role.to_string(), file, &mut accepted).await?;
        }
        self.sign(write).await?;
        for (role, next) in &proposal.roles {
            accepted
                .published
                .extend(release(write, self.bundle, role, next).await?);
            let before = self.present.and_then(|present| present.set.roles.get(role));
            withdraw_revoked(write, self.bundle, role, (before, next)).await?;
        }
        for role in proposal.roles.keys() {
            compose_waiting(write, self.bundle, &self.judgment.set, role).await?;
        }
        Ok(accepted)
    }

    /// Adds the line of the audit log and the event about new metadata.
    pub(super) async fn announce(&self, write: &mut Write<'_>, accepted: &Accepted) -> Result<(), ApiError> {
        let versions = |set: &TrustSet| {
            let mut versions = set.listed_versions();
            versions.insert("root".to_owned(), set.root.version());
            versions
        };
        let before = self.present.map(|present| versions(&present.set));
        let after = versions(&self.judgment.set);
        let action = if before.is_some() { "trust.change" } else { "trust.init" };
        write.audit(action, self.bundle, before.as_ref(), Some(&after)).await?;
        let new: BTreeMap<_, _> = after
            .into_iter()
            .filter(|(role, _)| accepted.roles.contains(role))
            .collect();
        let event = json!({
            "bundleId": self.bundle.as_str(),
            "repository": self.judgment.set.identity.repository.to_string(),
            "versions": new,
        });
        write.event("trust.changed", &event).await
    }

    async fn store_file<T: Body>(
        &self,
        write: &mut Write<'_>,
        role: &str,
        file: &Metadata<T>,
        accepted: &mut Accepted,
    ) -> Result<(), ApiError> {
        let content = std::str::from_utf8(file.bytes()).map_err(|error| ApiError::Internal(error.to_string()))?;
        let repository = self.judgment.set.identity.repository.to_string();
        let (now, actor) = (write.now(), write.actor_text());
        let mut org = write.org();
        if self.judgment.fallen.iter().any(|fallen| fallen == role) {
            org.delete_trust_files_from(self.bundle, &repository, role, file.version())
                .await?;
        }
        let new = NewTrustFile {
            bundle: self.bundle,
            repository: &repository,
            role,
            version: file.version(),
            content,
            expires_at: file.header().expires,
            accepted_at: now,
            accepted_by: &actor,
        };
        org.add_trust_file(&new).await?;
        org.delete_trust_draft(self.bundle, role).await?;
        if !accepted.roles.iter().any(|known| known == role) {
            accepted.roles.push(role.to_owned());
        }
        Ok(())
    }

    /// Signs snapshot and timestamp by the key that the root names now, and stores the repository.
    async fn sign(&self, write: &mut Write<'_>) -> Result<(), ApiError> {
        let key = self.take_key(write).await?;
        let set = &self.judgment.set;
        let signing = Signing {
            set,
            key: &key,
            used: self.used,
            listed: self.present.map_or_else(Snapshot::default, |present| {
                continued_list(&present.snapshot, &self.judgment.fallen)
            }),
        };
        let files = sign(write, self.bundle, &signing).await?;
        let now = write.now();
        let before = self.present.map(|present| &present.repository);
        let repository = TrustRepository {
            bundle_id: set.identity.bundle_id.as_str().to_owned(),
            repository: set.identity.repository.to_string(),
            root_version: set.root.version(),
            snapshot_version: files.snapshot_version,
            timestamp_version: files.timestamp_version,
            online_key_id: key.id,
            other_formats: before.is_some_and(|before| before.other_formats),
            began_at: before.map_or(now, |before| before.began_at),
            changed_at: now,
        };
        put_repository(write, self.bundle, &repository).await
    }

    /// The key that the root names. A pending one takes the place of the current one.
    async fn take_key(&self, write: &mut Write<'_>) -> Result<OnlineKeyRow, ApiError> {
        let OnlineKeyRows { current, pending } = &self.keys;
        if !self.judgment.names_pending_key {
            return current.clone().ok_or_else(|| TrustError::OnlineKey.into());
        }
        if let Some(retired) = current {
            let state = OnlineKeyState::Retired;
            write.org().set_trust_online_key_state(&retired.id, state).await?;
        }
        let taken = pending.clone().ok_or(TrustError::OnlineKey)?;
        let state = OnlineKeyState::Current;
        write.org().set_trust_online_key_state(&taken.id, state).await?;
        Ok(taken)
    }
}

fn check_basis(present: &Present, based_on: Option<u64>) -> Result<(), TrustError> {
    let snapshot = present.repository.snapshot_version;
    match based_on {
        None => Err(TrustError::NoBasis),
        Some(basis) if basis != snapshot => Err(TrustError::Basis { snapshot }),
        Some(_) => Ok(()),
    }
}

/// The repository that a first root begins.
fn first_identity(bundle: &BundleId, proposal: &Proposal) -> Result<Identity, TrustError> {
    let root = proposal.roots.first().ok_or(TrustError::NoRoot)?;
    let identity = root.header().identity.clone();
    identity
        .filter(|identity| identity.bundle_id == *bundle)
        .ok_or_else(|| TrustError::Identity("root".to_owned()))
}
