//! Creates and revokes API keys.

use launchway_api::keys::{CreateKey, KeyView};
use launchway_api::open;
use launchway_domain::api_key::ApiKey;
use launchway_domain::id::{DeviceLoginId, KeyId};
use launchway_domain::key::Key;
use launchway_domain::org::normalize_name;
use launchway_domain::scope::Scope;
use launchway_domain::time::DAY;
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
    /// Days until it expires.
    pub days: Option<i64>,
}

/// Validates a request for a key. Rejects any scope but `build`, `submit` and `update`.
pub fn plan(request: &CreateKey) -> Result<KeyPlan, ApiError> {
    let name =
        normalize_name(&request.name).ok_or_else(|| ApiError::bad("name must have 1 to 100 visible characters"))?;
    let grantable = |given: &open::Scope| given.known().filter(|scope| Scope::GRANTABLE.contains(scope));
    let scopes: Option<Vec<Scope>> = request.scopes.iter().map(grantable).collect();
    let mut scopes = scopes
        .filter(|scopes| !scopes.is_empty())
        .ok_or_else(|| ApiError::bad("scopes must contain one or more of build, submit, update"))?;
    scopes.sort_unstable();
    scopes.dedup();
    let days = request.expires_in_days;
    if days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days)) {
        return Err(ApiError::bad(format!(
            "expiresInDays must be a whole number from 1 to {MAX_DAYS}"
        )));
    }
    Ok(KeyPlan { name, scopes, days })
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
        expires_at: plan.days.map(|days| now + days * DAY),
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
