//! Two-factor codes as they are verified: those of the authenticator app, and recovery codes.

use launchway_domain::actor::Actor;
use launchway_domain::id::UserId;
use launchway_domain::totp::{Code, Secret, normalize_recovery_code};
use launchway_os::random::token_hash;

use crate::api_error::ApiError;
use crate::app::App;
use crate::audit_lines::{commit_with_audit, line};
use crate::caller::Origin;

const REASON: &str = "two-factor codes belong to a user, not to a tenant";

/// Whether sign-ins of a user require a code.
pub async fn is_on(app: &App, user: UserId) -> Result<bool, ApiError> {
    let kept = app.db.read().await?.system(REASON).two_factor(user).await?;
    Ok(kept.is_some_and(|kept| kept.confirmed_at.is_some()))
}

/// Consumes a code of the app or a recovery code; false if it is wrong or was used before.
pub async fn take(app: &App, user: UserId, code: &str, origin: &Origin) -> Result<bool, ApiError> {
    let mut tx = app.db.write().await?;
    let mut system = tx.system(REASON);
    if let Some(hash) = recovery_hash(code) {
        if !system.take_recovery_code(user, &hash).await? {
            return Ok(false);
        }
        let line = line(app, Actor::User(user), "user.use_recovery_code", user, Some(origin));
        commit_with_audit(app, tx, user, line).await?;
        return Ok(true);
    }
    let (Ok(code), Some(kept)) = (code.parse::<Code>(), system.two_factor(user).await?) else {
        return Ok(false);
    };
    let Some(step) = open(app, user, &kept.sealed)?.step_of(code, app.clock.now(), kept.last_step) else {
        return Ok(false);
    };
    // A concurrent request may have consumed it since it was read.
    let taken = system.take_two_factor_step(user, step).await?;
    tx.commit().await?;
    Ok(taken)
}

/// Opens the sealed secret of a user.
pub fn open(app: &App, user: UserId, sealed: &str) -> Result<Secret, ApiError> {
    let bytes = app.vault.open_two_factor(user, sealed)?;
    Secret::read(&bytes).ok_or_else(|| ApiError::Internal("a two-factor secret has another length".to_owned()))
}

/// The stored hash of a recovery code; `None` for another text. The code has 80 random bits, so a slow hash is not
/// needed.
pub fn recovery_hash(code: &str) -> Option<String> {
    normalize_recovery_code(code).map(|code| token_hash(&code))
}
