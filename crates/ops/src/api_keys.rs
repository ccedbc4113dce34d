//! Creates and revokes API keys.

use launchway_api::keys::{CreateKey, KeyView};
use launchway_api::open;
use launchway_domain::api_key::ApiKey;
use launchway_domain::id::{DeviceLoginId, KeyId};
use launchway_domain::key::Key;
use launchway_domain::org::normalize_name;
use launchway_domain::scope::Scope;
use launchway_domain::time::{DAY, EpochMs};
use launchway_store::NewKey;

use crate::api_error::ApiError;
use crate::write::{NOTHING, Write};

const MAX_DAYS: i64 = 3650;

/// A validated request for a key.
#[derive(Clone, Debug)]
pub struct KeyPlan {
    /// The name for people.
    pub name: String,
    /// What the key may do.
    pub scopes: Vec<Scope>,
    /// How long it works; `None` is forever.
    pub life: Option<EpochMs>,
}

/// Validates a request for a key. Rejects any scope but `build`, `submit` and `update`.
pub fn plan(request: &CreateKey) -> Result<KeyPlan, ApiError> {
    let name = name(&request.name)?;
    let scopes = scopes(&request.scopes, &Scope::GRANTABLE)?;
    let days = request.expires_in_days;
    if days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days)) {
        return Err(ApiError::bad(format!(
            "expiresInDays must be a whole number from 1 to {MAX_DAYS}"
        )));
    }
    let life = days.map(|days| days * DAY);
    Ok(KeyPlan { name, scopes, life })
}

/// Validates the name of a key.
pub fn name(given: &str) -> Result<String, ApiError> {
    normalize_name(given).ok_or_else(|| ApiError::bad("name must have 1 to 100 visible characters"))
}

/// Validates the scopes of a key, sorted and each once. Rejects any that is not among `grantable`.
pub fn scopes(given: &[open::Scope], grantable: &[Scope]) -> Result<Vec<Scope>, ApiError> {
    let read = |given: &open::Scope| given.known().filter(|scope| grantable.contains(scope));
    let scopes: Option<Vec<Scope>> = given.iter().map(read).collect();
    let mut scopes = scopes.filter(|scopes| !scopes.is_empty()).ok_or_else(|| {
        let names = Scope::names(grantable);
        ApiError::bad(format!("scopes must contain one or more of {names}"))
    })?;
    scopes.sort_unstable();
    scopes.dedup();
    Ok(scopes)
}

/// Creates a key; returns it in clear, with its record.
pub async fn create(write: &mut Write<'_>, plan: KeyPlan) -> Result<(ApiKey, Key), ApiError> {
    make(write, plan, None).await
}

/// Creates the key of a browser sign-in. It works only while the user who approved the sign-in may approve one.
pub async fn create_for_login(
    write: &mut Write<'_>,
    plan: KeyPlan,
    login: DeviceLoginId,
) -> Result<(ApiKey, Key), ApiError> {
    make(write, plan, Some(login)).await
}

async fn make(
    write: &mut Write<'_>,
    plan: KeyPlan,
    device_login: Option<DeviceLoginId>,
) -> Result<(ApiKey, Key), ApiError> {
    let (now, random) = (write.now(), write.app().random.clone());
    let secret = random.api_key();
    let key = Key {
        id: random.id(now),
        org_id: write.org_id(),
        name: plan.name,
        prefix: secret.prefix().to_owned(),
        scopes: plan.scopes,
        created_by: write.actor_text(),
        created_at: now,
        expires_at: plan.life.map(|life| now + life),
        revoked_at: None,
        last_used_at: None,
        device_login,
    };
    write
        .org()
        .create_key(&NewKey {
            key: key.clone(),
            hash: secret.hash(),
        })
        .await?;
    write
        .audit("key.create", key.id, NOTHING, Some(&KeyView::of(&key, now)))
        .await?;
    Ok((secret, key))
}

/// Revokes a key. Idempotent.
pub async fn revoke(write: &mut Write<'_>, id: KeyId) -> Result<(), ApiError> {
    let now = write.now();
    let before = write.org().key(id).await?.ok_or(ApiError::NoSuch("API key"))?;
    if write.org().revoke_key(id, now).await? {
        let after = Key {
            revoked_at: Some(now),
            ..before.clone()
        };
        write
            .audit(
                "key.revoke",
                id,
                Some(&KeyView::of(&before, now)),
                Some(&KeyView::of(&after, now)),
            )
            .await?;
    }
    Ok(())
}
