//! What the server signs for an app: snapshot and timestamp, by a key that is sealed for its organization
//! (`docs/reference/trust.md#online-roles`).

use launchway_domain::actor::Actor;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::OrgId;
use launchway_domain::time::{DAY, EpochMs, SECOND};
use launchway_domain::trust::OnlineKeyState;
use launchway_store::{NewOnlineKey, NewTrustFile, OnlineKeyRow, TrustRepository};
use launchway_trust::SigningKey;
use launchway_trust::metadata::{Metadata, Snapshot};
use launchway_trust::online::{OnlineError, OnlineFiles, OnlineRequest, sign_online};
use launchway_vault::Place;
use ring::rand::SystemRandom;
use serde_json::json;

use super::present::{self, Present};
use super::trust_set::TrustSet;
use crate::api_error::ApiError;
use crate::app::App;
use crate::apps;
use crate::write::{NOTHING, Write};

/// The field of [`key_place`].
const KEY_FIELD: &str = "trust_online_keys";

/// Where the private key with this id is sealed.
pub fn key_place(id: &str) -> Place<'static> {
    Place::new(id, KEY_FIELD)
}

/// Makes a key that the next root may name, in place of one that no root named. Only an admin may call this.
pub async fn create_key(write: &mut Write<'_>, bundle: &BundleId) -> Result<OnlineKeyRow, ApiError> {
    write.touch_updates(bundle).await?;
    apps::claim(write, bundle, bundle.as_str()).await?;
    let failed = |error: launchway_trust::SigningKeyError| ApiError::Internal(error.to_string());
    let key = SigningKey::generate(&SystemRandom::new()).map_err(failed)?;
    let id = key.public().id();
    let row = OnlineKeyRow {
        sealed: write.seal(&key_place(&id), key.as_pkcs8()).await?,
        public_key: key.public().to_pem(),
        state: OnlineKeyState::Pending,
        created_at: write.now(),
        id,
    };
    write.org().delete_pending_trust_online_keys(bundle).await?;
    let new = NewOnlineKey { bundle, key: &row };
    write.org().add_trust_online_key(&new).await?;
    write
        .audit("trust.online_key", bundle, NOTHING, Some(&json!({"keyId": row.id})))
        .await?;
    Ok(row)
}

/// What is signed anew.
pub(super) struct Signing<'s> {
    /// The files that developers signed.
    pub set: &'s TrustSet,
    /// The key that the root names.
    pub key: &'s OnlineKeyRow,
    /// The versions that were used last: of the snapshot, and of the timestamp.
    pub used: Option<(u64, u64)>,
    /// What the snapshot before listed.
    pub listed: Snapshot,
}

/// Signs snapshot and timestamp of a set and stores them.
pub(super) async fn sign(
    write: &mut Write<'_>,
    bundle: &BundleId,
    signing: &Signing<'_>,
) -> Result<OnlineFiles, ApiError> {
    let now = write.now();
    let lifetime = i64::from(write.app().config.trust_days) * DAY;
    let expires = whole_seconds(now.saturating_add(lifetime));
    let place = key_place(&signing.key.id);
    let private = write
        .open_secret(&place, &signing.key.sealed, "signing snapshot and timestamp")
        .await?;
    let key = SigningKey::from_pkcs8(&private).map_err(|error| ApiError::Internal(error.to_string()))?;
    let files = sign_online(
        &OnlineRequest {
            root: signing.set.root.body(),
            identity: &signing.set.identity,
            previous_snapshot: signing.used.map(|(snapshot, _)| (snapshot, &signing.listed)),
            previous_timestamp: signing.used.map(|(_, timestamp)| timestamp),
            roles: &signing.set.listed_versions(),
            now,
            expires,
        },
        &key,
        &SystemRandom::new(),
    )
    .map_err(not_signed)?;
    let repository = signing.set.identity.repository.to_string();
    for (role, version, content) in [
        ("snapshot", files.snapshot_version, &files.snapshot),
        ("timestamp", files.timestamp_version, &files.timestamp),
    ] {
        let file = NewTrustFile {
            bundle,
            repository: &repository,
            role,
            version,
            content,
            expires_at: expires,
            accepted_at: now,
            accepted_by: &Actor::Service.to_string(),
        };
        write.org().add_trust_file(&file).await?;
    }
    Ok(files)
}

/// Signs snapshot and timestamp again, so that they do not expire. An app without a root stays as it is.
///
/// # Errors
/// The database fails, or the key cannot be opened.
pub async fn renew(app: &App, org: OrgId, bundle: &BundleId) -> Result<(), ApiError> {
    let mut write = Write::open(app, org, Actor::Service, None).await?;
    write.touch_updates(bundle).await?;
    let Some(present) = present::read(&mut write.org(), bundle).await? else {
        return Ok(());
    };
    resign(&mut write, bundle, &present).await?;
    write.commit().await
}

/// Signs snapshot and timestamp of a set that does not change.
async fn resign(write: &mut Write<'_>, bundle: &BundleId, present: &Present) -> Result<(), ApiError> {
    let keys = present::read_keys(&mut write.org(), bundle).await?;
    let key = keys
        .current
        .ok_or_else(|| ApiError::Internal("the server has no key for the snapshot of an app with a root".to_owned()))?;
    let signing = Signing {
        set: &present.set,
        key: &key,
        used: Some(used_versions(&present.repository)),
        listed: present.snapshot.body().clone(),
    };
    let files = sign(write, bundle, &signing).await?;
    let repository = TrustRepository {
        snapshot_version: files.snapshot_version,
        timestamp_version: files.timestamp_version,
        ..present.repository.clone()
    };
    put_repository(write, bundle, &repository).await
}

/// The versions of snapshot and timestamp that were used last.
pub(super) fn used_versions(repository: &TrustRepository) -> (u64, u64) {
    (repository.snapshot_version, repository.timestamp_version)
}

/// What the next snapshot continues: what the present one lists, without roles whose version falls.
pub(super) fn continued_list(snapshot: &Metadata<Snapshot>, fallen: &[String]) -> Snapshot {
    let mut listed = snapshot.body().clone();
    for role in fallen {
        listed.meta.remove(&format!("{role}.json"));
    }
    listed
}

/// Stores the repository of an app.
pub(super) async fn put_repository(
    write: &mut Write<'_>,
    bundle: &BundleId,
    repository: &TrustRepository,
) -> Result<(), ApiError> {
    if write.org().put_trust_repository(bundle, repository).await? {
        return Ok(());
    }
    Err(ApiError::Internal(
        "the repository of an app belongs to another organization".to_owned(),
    ))
}

/// Metadata has whole seconds.
pub(super) fn whole_seconds(time: EpochMs) -> EpochMs {
    time - time.rem_euclid(SECOND)
}

fn not_signed(error: OnlineError) -> ApiError {
    match error {
        OnlineError::RoleFalls { .. } | OnlineError::VersionsUsedUp | OnlineError::Size(_) => {
            ApiError::bad(format!("The server cannot sign the snapshot: {error}"))
        }
        OnlineError::Sign(_) => ApiError::Internal(error.to_string()),
    }
}
