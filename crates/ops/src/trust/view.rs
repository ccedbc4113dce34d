//! An app's trust as the API shows it: roles, keys and drafts.

use launchway_api::trust::{OnlineKeyView, TrustDraftView, TrustKeyView, TrustRoleView, TrustView};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::{EpochMs, iso};
use launchway_store::{OnlineKeyRow, Org, TrustDraft, TrustFileRow};
use launchway_trust::metadata::{Authority, Body, Key, Keys, Metadata, Targets, Timestamp};
use launchway_trust::{TopLevel, UpdateRole};

use super::open_drafts::{OpenDrafts, add_signed};
use super::present::{self, OnlineKeyRows, Present};
use super::trust_set::TrustSet;
use crate::api_error::ApiError;

/// Reads the trust of an app.
pub async fn read(org: &mut Org<'_>, bundle: &BundleId, now: EpochMs) -> Result<TrustView, ApiError> {
    let keys = present::read_keys(org, bundle).await?;
    let Some(present) = present::read(org, bundle).await? else {
        return Ok(nothing(bundle, &keys));
    };
    let open = OpenDrafts::read(org, bundle).await?;
    let drafts = open.rows.iter();
    Ok(TrustView {
        repository: Some(present.repository.repository.clone()),
        snapshot: Some(present.repository.snapshot_version),
        roles: roles(&present, now)?,
        drafts: drafts
            .map(|row| draft(bundle, &present.set, &open, row, false))
            .collect(),
        other_formats_allowed: present.repository.other_formats,
        ..nothing(bundle, &keys)
    })
}

/// The drafts of an app without their metadata.
pub async fn drafts(org: &mut Org<'_>, bundle: &BundleId) -> Result<Vec<TrustDraftView>, ApiError> {
    let Some(present) = present::read(org, bundle).await? else {
        return Ok(Vec::new());
    };
    let open = OpenDrafts::read(org, bundle).await?;
    let rows = open.rows.iter();
    Ok(rows.map(|row| draft(bundle, &present.set, &open, row, false)).collect())
}

/// An app without a root.
fn nothing(bundle: &BundleId, keys: &OnlineKeyRows) -> TrustView {
    TrustView {
        bundle_id: bundle.as_str().to_owned(),
        repository: None,
        snapshot: None,
        online_key: keys.current.as_ref().map(online_key),
        pending_online_key: keys.pending.as_ref().map(online_key),
        roles: Vec::new(),
        drafts: Vec::new(),
        other_formats_allowed: false,
    }
}

/// A key of the server.
pub fn online_key(row: &OnlineKeyRow) -> OnlineKeyView {
    OnlineKeyView {
        key_id: row.id.clone(),
        public_key: row.public_key.clone(),
        created_at: iso(row.created_at),
    }
}

/// A draft; `with_metadata` adds the file.
pub fn draft(
    bundle: &BundleId,
    set: &TrustSet,
    open: &OpenDrafts,
    row: &TrustDraft,
    with_metadata: bool,
) -> TrustDraftView {
    let authorities = open.authorities(set, &row.role);
    let signed = open.signed_key_ids(set, &row.role);
    let named = open.keys(set);
    let mut keys: Vec<TrustKeyView> = Vec::new();
    for (key_id, _) in authorities.iter().flat_map(Authority::key_ids) {
        if keys.iter().all(|known| known.key_id != key_id) {
            keys.push(TrustKeyView {
                key_id: key_id.to_owned(),
                name: named.iter().find_map(|keys| Some(keys.get(key_id)?.name()?.to_owned())),
                signed: signed.iter().any(|id| id == key_id),
            });
        }
    }
    TrustDraftView {
        bundle_id: bundle.as_str().to_owned(),
        role: row.role.clone(),
        version: row.version,
        threshold: authorities.last().map_or(0, Authority::threshold),
        keys,
        update_ids: row.update_ids.iter().map(ToString::to_string).collect(),
        metadata: with_metadata.then(|| row.content.clone()),
        created_at: iso(row.created_at),
        created_by: row.created_by.clone(),
    }
}

/// The roles in the order of the client's workflow, those that sign updates last. Roles that were removed are left out.
fn roles(present: &Present, now: EpochMs) -> Result<Vec<TrustRoleView>, ApiError> {
    let (set, root) = (&present.set, present.set.root.body());
    let file = |name: &str| present.files.iter().find(|file| file.role == name);
    let timestamp = file("timestamp").and_then(|file| Metadata::<Timestamp>::parse(file.content.as_bytes()).ok());
    let timestamp = timestamp.ok_or_else(|| ApiError::Internal("a stored timestamp is damaged".to_owned()))?;
    let top = |role: TopLevel| RoleFacts {
        name: role.name().to_owned(),
        authority: root.authority(role),
        keys: &root.keys,
        file: file(role.name()),
    };
    let mut views = vec![
        top(TopLevel::Root).view(Some(&set.root), now),
        top(TopLevel::Timestamp).view(Some(&timestamp), now),
        top(TopLevel::Snapshot).view(Some(&present.snapshot), now),
        top(TopLevel::Targets).view(Some(&set.targets), now),
    ];
    if let Some(delegations) = &set.targets.body().delegations {
        for delegation in &delegations.roles {
            let facts = RoleFacts {
                name: delegation.name.clone(),
                authority: delegations.authority(delegation),
                keys: &delegations.keys,
                file: file(&delegation.name),
            };
            let role: Option<UpdateRole> = delegation.name.parse().ok();
            let signed = role.and_then(|role| set.roles.get(&role));
            views.push(facts.updates_view(signed, now));
        }
    }
    Ok(views)
}

/// What is known of a role beside its file.
struct RoleFacts<'a> {
    name: String,
    authority: Authority<'a>,
    keys: &'a Keys,
    file: Option<&'a TrustFileRow>,
}

impl RoleFacts<'_> {
    fn view<T: Body>(&self, file: Option<&Metadata<T>>, now: EpochMs) -> TrustRoleView {
        let mut signed = Vec::new();
        if let Some(file) = file {
            add_signed(&[self.authority], file, &mut signed);
        }
        let keys = self.authority.key_ids().map(|(key_id, _)| TrustKeyView {
            key_id: key_id.to_owned(),
            name: self.keys.get(key_id).and_then(Key::name).map(str::to_owned),
            signed: signed.iter().any(|id| id == key_id),
        });
        TrustRoleView {
            role: self.name.clone(),
            version: file.map(Metadata::version),
            threshold: self.authority.threshold(),
            keys: keys.collect(),
            expires_at: file.map(|file| iso(file.header().expires)),
            expired: file.is_some_and(|file| file.is_expired(now)),
            accepted_at: self.file.map(|row| iso(row.accepted_at)),
            targets: 0,
            revoked: 0,
        }
    }

    /// The view of a role that signs updates.
    fn updates_view(&self, file: Option<&Metadata<Targets>>, now: EpochMs) -> TrustRoleView {
        TrustRoleView {
            targets: file.map_or(0, |file| file.body().targets.len() as u64),
            revoked: file.map_or(0, |file| file.body().revoked.len() as u64),
            ..self.view(file, now)
        }
    }
}
