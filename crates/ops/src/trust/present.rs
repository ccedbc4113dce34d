//! What is accepted for an app, read from the database and parsed.

use std::collections::BTreeMap;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::trust::OnlineKeyState;
use launchway_store::{OnlineKeyRow, Org, TrustFileRow, TrustRepository};
use launchway_trust::metadata::{Body, Metadata, Snapshot};
use launchway_trust::{Identity, PublicKey};

use super::trust_set::{OnlineKeys, TrustSet};
use crate::api_error::ApiError;

/// An app with a root.
#[derive(Clone, Debug)]
pub struct Present {
    /// Its repository.
    pub repository: TrustRepository,
    /// The files that its developers signed.
    pub set: TrustSet,
    /// The snapshot that is served.
    pub snapshot: Metadata<Snapshot>,
    /// The current version of each role, as it is stored.
    pub files: Vec<TrustFileRow>,
}

/// The keys of the server for an app.
#[derive(Clone, Debug, Default)]
pub struct OnlineKeyRows {
    /// The one that the current root names.
    pub current: Option<OnlineKeyRow>,
    /// A new one.
    pub pending: Option<OnlineKeyRow>,
}

/// Reads what is accepted for an app; `None` for one without a root.
pub async fn read(org: &mut Org<'_>, bundle: &BundleId) -> Result<Option<Present>, ApiError> {
    let Some(repository) = org.trust_repository(bundle).await? else {
        return Ok(None);
    };
    let files = org.trust_files(bundle, &repository.repository).await?;
    let mut of_role: BTreeMap<&str, &TrustFileRow> = files.iter().map(|file| (file.role.as_str(), file)).collect();
    let identity = identity_of(&repository)?;
    let root = parse_file(of_role.remove("root"))?;
    let targets = parse_file(of_role.remove("targets"))?;
    let snapshot = parse_file(of_role.remove("snapshot"))?;
    of_role.remove("timestamp");
    let mut roles = BTreeMap::new();
    for (name, file) in of_role {
        let role = name.parse().map_err(|_| damaged())?;
        roles.insert(role, parse_file(Some(file))?);
    }
    let set = TrustSet {
        identity,
        root,
        targets,
        roles,
    };
    Ok(Some(Present {
        repository,
        set,
        snapshot,
        files,
    }))
}

/// Reads the keys of the server for an app.
pub async fn read_keys(org: &mut Org<'_>, bundle: &BundleId) -> Result<OnlineKeyRows, ApiError> {
    Ok(OnlineKeyRows {
        current: org.trust_online_key(bundle, OnlineKeyState::Current).await?,
        pending: org.trust_online_key(bundle, OnlineKeyState::Pending).await?,
    })
}

impl OnlineKeyRows {
    /// The public keys.
    pub fn public_keys(&self) -> Result<OnlineKeys, ApiError> {
        let public = |row: &Option<OnlineKeyRow>| match row {
            Some(row) => PublicKey::from_pem(&row.public_key).map(Some).map_err(|_| damaged()),
            None => Ok(None),
        };
        Ok(OnlineKeys {
            current: public(&self.current)?,
            pending: public(&self.pending)?,
        })
    }
}

fn identity_of(repository: &TrustRepository) -> Result<Identity, ApiError> {
    Ok(Identity {
        repository: repository.repository.parse().map_err(|_| damaged())?,
        bundle_id: repository.bundle_id.parse().map_err(|_| damaged())?,
    })
}

fn parse_file<T: Body>(file: Option<&TrustFileRow>) -> Result<Metadata<T>, ApiError> {
    let file = file.ok_or_else(damaged)?;
    Metadata::parse(file.content.as_bytes()).map_err(|_| damaged())
}

/// What was verified when it was accepted cannot be read.
fn damaged() -> ApiError {
    ApiError::Internal("the stored metadata of signed updates is damaged".to_owned())
}
