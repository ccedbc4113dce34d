//! The open drafts of an app, parsed, and which of them are complete.

use std::collections::BTreeMap;

use launchway_domain::bundle_id::BundleId;
use launchway_store::{Org, TrustDraft};
use launchway_trust::draft::{Draft, SignError};
use launchway_trust::metadata::{Authority, Body, Keys, Metadata, Root, Targets};
use launchway_trust::{TopLevel, UpdateRole};

use super::error::TrustError;
use super::proposal::{Proposal, read_file};
use super::trust_set::{TrustSet, delegated};
use crate::api_error::ApiError;

/// The draft of each role of an app that has one.
#[derive(Clone, Debug, Default)]
pub struct OpenDrafts {
    /// As they are stored.
    pub rows: Vec<TrustDraft>,
    files: Proposal,
}

/// A signature that somebody made elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct GivenSignature<'s> {
    /// The id under which the role lists the key.
    pub key_id: &'s str,
    /// The DER in lower-case hexadecimal digits.
    pub sig: &'s str,
}

impl OpenDrafts {
    /// Reads the drafts of an app.
    pub async fn read(org: &mut Org<'_>, bundle: &BundleId) -> Result<Self, ApiError> {
        let rows = org.trust_drafts(bundle).await?;
        let mut files = Proposal::default();
        for row in &rows {
            let bytes = row.content.as_bytes();
            match row.role.as_str() {
                "root" => files.roots.push(read_file("root", bytes)?),
                "targets" => files.targets = Some(read_file("targets", bytes)?),
                name => {
                    let role = name.parse().map_err(|_| TrustError::Name(name.to_owned()))?;
                    files.roles.insert(role, read_file(name, bytes)?);
                }
            }
        }
        Ok(Self { rows, files })
    }

    /// The draft of a role.
    pub fn row(&self, role: &str) -> Option<&TrustDraft> {
        self.rows.iter().find(|row| row.role == role)
    }

    /// Whose signatures count for the draft of a role: those of the present set, and last those of the drafts above it.
    pub fn authorities<'a>(&'a self, set: &'a TrustSet, role: &str) -> Vec<Authority<'a>> {
        let roots = || [Some(&set.root), self.files.roots.first()].into_iter().flatten();
        match role {
            "root" => roots().map(|root| root.body().authority(TopLevel::Root)).collect(),
            "targets" => roots().map(|root| root.body().authority(TopLevel::Targets)).collect(),
            name => {
                let Ok(role) = name.parse::<UpdateRole>() else {
                    return Vec::new();
                };
                let both = [Some(&set.targets), self.files.targets.as_ref()].into_iter().flatten();
                both.filter_map(|targets| delegated(targets, &role)).collect()
            }
        }
    }

    /// The keys of every file that names some.
    pub fn keys<'a>(&'a self, set: &'a TrustSet) -> Vec<&'a Keys> {
        let roots = [Some(&set.root), self.files.roots.first()].into_iter().flatten();
        let targets = [Some(&set.targets), self.files.targets.as_ref()].into_iter().flatten();
        let delegated = targets.filter_map(|targets| Some(&targets.body().delegations.as_ref()?.keys));
        roots.map(|root| &root.body().keys).chain(delegated).collect()
    }

    /// The content of a role's draft with more signatures; `None` without such a draft.
    ///
    /// # Errors
    /// A signature is not one of the role's keys over the draft.
    pub fn with_signatures(
        &self,
        set: &TrustSet,
        role: &str,
        signatures: &[GivenSignature<'_>],
    ) -> Result<Option<String>, ApiError> {
        let Some(row) = self.row(role) else { return Ok(None) };
        let authorities = self.authorities(set, role);
        let text = match role {
            "root" => attach::<Root>(row, &authorities, signatures)?,
            _ => attach::<Targets>(row, &authorities, signatures)?,
        };
        Ok(Some(text))
    }

    /// The drafts that have all their signatures, if those above them are taken too.
    pub fn complete(&self, set: &TrustSet) -> Proposal {
        let mut complete = Proposal::default();
        let mut root = &set.root;
        if let Some(next) = self.files.roots.first() {
            let both = [&set.root, next].map(|root| root.body().authority(TopLevel::Root));
            if both.iter().all(|authority| authority.verify(next).is_ok()) {
                complete.roots.push(next.clone());
                root = next;
            }
        }
        let mut targets = &set.targets;
        if let Some(next) = self.files.targets.as_ref()
            && root.body().authority(TopLevel::Targets).verify(next).is_ok()
        {
            complete.targets = Some(next.clone());
            targets = next;
        }
        let is_signed = |role: &UpdateRole, file: &Metadata<Targets>| {
            delegated(targets, role).is_some_and(|authority| authority.verify(file).is_ok())
        };
        let roles = self.files.roles.iter().filter(|(role, file)| is_signed(role, file));
        complete.roles = roles
            .map(|(role, file)| (role.clone(), file.clone()))
            .collect::<BTreeMap<_, _>>();
        complete
    }

    /// The key ids of the signatures of a role's draft that verify.
    pub fn signed_key_ids(&self, set: &TrustSet, role: &str) -> Vec<String> {
        let authorities = self.authorities(set, role);
        let mut ids = Vec::new();
        if role == "root" {
            self.files
                .roots
                .iter()
                .for_each(|file| add_signed(&authorities, file, &mut ids));
        } else if role == "targets" {
            self.files
                .targets
                .iter()
                .for_each(|file| add_signed(&authorities, file, &mut ids));
        } else {
            let named = self.files.roles.iter().filter(|(name, _)| name.to_string() == role);
            named.for_each(|(_, file)| add_signed(&authorities, file, &mut ids));
        }
        ids
    }
}

/// The ids under which keys of these authorities signed a file.
pub fn add_signed<T: Body>(authorities: &[Authority<'_>], file: &Metadata<T>, ids: &mut Vec<String>) {
    for authority in authorities {
        let signers = authority.signers_of(file);
        let signed = authority
            .key_ids()
            .filter(|(_, key)| key.is_some_and(|key| signers.contains(&key)));
        ids.extend(signed.map(|(id, _)| id.to_owned()));
    }
    ids.sort();
    ids.dedup();
}

fn attach<T: Body>(
    row: &TrustDraft,
    authorities: &[Authority<'_>],
    signatures: &[GivenSignature<'_>],
) -> Result<String, ApiError> {
    let damaged = |error: launchway_trust::metadata::MetadataError| ApiError::Internal(error.to_string());
    let mut draft = Draft::from_bytes::<T>(row.content.as_bytes()).map_err(damaged)?;
    for given in signatures {
        let mut refusal = SignError::NoSigner;
        let taken = authorities.iter().any(|authority| {
            let attached = draft.attach(*authority, given.key_id, given.sig);
            attached.map_err(|error| refusal = error).is_ok()
        });
        if !taken {
            return Err(TrustError::Signature {
                role: row.role.clone(),
                key_id: given.key_id.chars().take(80).collect(),
                error: refusal,
            }
            .into());
        }
    }
    draft
        .to_text()
        .map_err(|error| ApiError::bad(format!("The draft of `{}` is too long: {error}", row.role)))
}
