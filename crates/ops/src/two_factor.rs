//! Two-factor codes of users: an authenticator app is enrolled by password and first code, and removed by password and
//! code, or by the operator. These actions are recorded in the audit log of each of the user's organizations.

use std::sync::Arc;

use launchway_domain::actor::Actor;
use launchway_domain::id::UserId;
use launchway_domain::org::User;
use launchway_domain::time::{EpochMs, MINUTE};
use launchway_domain::totp::{Code, RECOVERY_BYTES, RECOVERY_CODES, SECRET_BYTES, Secret, recovery_code};
use launchway_store::TwoFactor;
use zeroize::Zeroizing;

use crate::accounts::{OF_NO_TENANT, user_with_email};
use crate::api_error::ApiError;
use crate::app::App;
use crate::audit_lines::{commit_with_audit, line};
use crate::caller::{Browser, Origin};
use crate::proof;
use crate::two_factor_codes::{is_on, open, recovery_hash};

const REASON: &str = "two-factor codes belong to a user, not to a tenant";
/// How long a secret waits for its first code: the page shows it to anybody at the browser.
const WAITING_LIFE: EpochMs = 10 * MINUTE;
const REMOVED: &str = "user.remove_two_factor";
const NOT_SHOWN: &str = "code is wrong: enter the code that the app shows now, and check that its clock is right";
const IS_ON: &str = "Two-factor codes are already on. Turn them off first.";

/// The state of a user's two-factor codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether sign-ins require a code.
    pub is_on: bool,
    /// The number of unused recovery codes.
    pub recovery_codes: i64,
}

/// The state of a user's two-factor codes.
pub async fn state(app: &App, user: UserId) -> Result<State, ApiError> {
    let mut tx = app.db.read().await?;
    let mut system = tx.system(REASON);
    let kept = system.two_factor(user).await?;
    Ok(State {
        is_on: kept.is_some_and(|kept| kept.confirmed_at.is_some()),
        recovery_codes: system.recovery_codes_left(user).await?,
    })
}

/// Creates a secret that waits ten minutes for the app's first code; it replaces a waiting one. Requires proof of
/// presence first, because an app that somebody else adds locks the user out.
pub async fn begin(
    app: &Arc<App>,
    user: &User,
    signed_in_at: EpochMs,
    password: &str,
    browser: &Browser,
) -> Result<Secret, ApiError> {
    let present = proof::prove_presence(app, user, signed_in_at, password, browser).await;
    let proven = present.map_err(typed_wrong)?;
    let mut bytes = Zeroizing::new([0u8; SECRET_BYTES]);
    app.random.fill(&mut *bytes);
    let secret = Secret::new(bytes);
    let sealed = app.vault.seal_two_factor(user.id, secret.bytes());
    let mut tx = app.db.write().await?;
    let mut system = tx.system(REASON);
    proof::hold(&mut system, user.id, &proven).await?;
    let kept = system.begin_two_factor(user.id, &sealed, app.clock.now()).await?;
    if !kept {
        return Err(ApiError::bad(IS_ON));
    }
    tx.commit().await?;
    Ok(secret)
}

/// The secret that waits for its first code, to show it again; `None` if there is none.
pub async fn pending_secret(app: &App, user: UserId) -> Result<Option<Secret>, ApiError> {
    let kept = app.db.read().await?.system(REASON).two_factor(user).await?;
    let kept = kept.filter(|kept| waits(kept, app.clock.now()));
    kept.map(|kept| open(app, user, &kept.sealed)).transpose()
}

/// Turns codes on by the first one; returns the recovery codes, which are shown once.
pub async fn confirm(app: &App, user: UserId, code: &str, origin: &Origin) -> Result<Vec<Zeroizing<String>>, ApiError> {
    let code: Code = code.parse().map_err(|error| ApiError::bad(format!("code {error}")))?;
    let mut tx = app.db.write().await?;
    let mut system = tx.system(REASON);
    let kept = system.two_factor(user).await?;
    let now = app.clock.now();
    if kept.as_ref().is_some_and(|kept| kept.confirmed_at.is_some()) {
        return Err(ApiError::bad(IS_ON));
    }
    let kept = kept.filter(|kept| waits(kept, now));
    let kept = kept.ok_or_else(|| ApiError::bad("No authenticator app is being set up. Start again."))?;
    let step = open(app, user, &kept.sealed)?.step_of(code, now, kept.last_step);
    let step = step.ok_or_else(|| ApiError::bad(NOT_SHOWN))?;
    let codes = recovery_codes(app);
    let hashes: Vec<String> = codes.iter().filter_map(|code| recovery_hash(code)).collect();
    if !system
        .confirm_two_factor(user, &kept.sealed, step, now, &hashes)
        .await?
    {
        return Err(ApiError::bad(IS_ON));
    }
    let line = line(app, Actor::User(user), "user.add_two_factor", user, Some(origin));
    commit_with_audit(app, tx, user, line).await?;
    Ok(codes)
}

/// Whether a secret is still waiting for its first code.
fn waits(kept: &TwoFactor, now: EpochMs) -> bool {
    kept.confirmed_at.is_none() && now - kept.created_at < WAITING_LIFE
}

/// Turns codes off by password and code, or by the code alone if the account has no password.
pub async fn remove(
    app: &Arc<App>,
    user: &User,
    password: &str,
    code: &str,
    browser: &Browser,
) -> Result<(), ApiError> {
    if !is_on(app, user.id).await? {
        return Err(ApiError::bad("Two-factor codes are already off"));
    }
    let proven = if proof::has_password(app, user).await? {
        let proven = proof::prove_signed_in(app, user, password, code, browser).await;
        proven.map(drop)
    } else {
        proof::prove_code(app, user, code, browser).await
    };
    proven.map_err(typed_wrong)?;
    let mut tx = app.db.write().await?;
    tx.system(REASON).remove_two_factor(user.id).await?;
    let line = line(app, Actor::User(user.id), REMOVED, user.id, Some(&browser.origin));
    commit_with_audit(app, tx, user.id, line).await
}

/// The caller is signed in: a typing error must not be answered as missing authentication.
fn typed_wrong(failure: ApiError) -> ApiError {
    match failure {
        ApiError::NotProven(words) if words == proof::WRONG_CODE => ApiError::bad(words),
        ApiError::NotProven(_) => ApiError::bad("current password is wrong"),
        needed @ ApiError::CodeNeeded => ApiError::bad(needed.to_string()),
        other => other,
    }
}

/// Turns codes off for a user who lost the app and the recovery codes, by the operator.
pub async fn remove_for(app: &App, email: &str) -> Result<UserId, ApiError> {
    let mut tx = app.db.write().await?;
    let mut system = tx.system(OF_NO_TENANT);
    let user = user_with_email(&mut system, email).await?;
    if !system.remove_two_factor(user.id).await? {
        return Err(ApiError::bad(format!("{} has no two-factor codes", user.email)));
    }
    let line = line(app, Actor::Operator, REMOVED, user.id, None);
    commit_with_audit(app, tx, user.id, line).await?;
    Ok(user.id)
}

fn recovery_codes(app: &App) -> Vec<Zeroizing<String>> {
    let one = |_| {
        let mut random = Zeroizing::new([0u8; RECOVERY_BYTES]);
        app.random.fill(&mut *random);
        recovery_code(&random)
    };
    (0..RECOVERY_CODES).map(one).collect()
}
