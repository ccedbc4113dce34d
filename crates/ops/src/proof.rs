//! Authentication: address and password, and a two-factor code if the account requires one. Failures are rate limited:
//! see `tries.rs`.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use launchway_domain::actor::Actor;
use launchway_domain::id::UserId;
use launchway_domain::org::User;
use launchway_domain::time::{EpochMs, MINUTE};
use launchway_store::System;
use launchway_vault::Purpose;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::api_error::ApiError;
use crate::app::App;
use crate::audit_lines::{commit_with_audit, line};
use crate::caller::Browser;
use crate::failed_tries::{Guess, Try, account};
use crate::limits::calls::Tries;
use crate::two_factor_codes;

/// The password hash of an account without a password: no password matches it.
pub const NO_PASSWORD: &str = "none";
const WRONG_PASSWORD: &str = "The address or the password is wrong";
/// The error for a wrong code. Pages attach it to the field of this name.
pub const WRONG_CODE: &str = "code is wrong or already used; wait for the next one";
/// The error when the time between the two steps has expired.
pub const TOO_LATE: &str = "This took too long. Sign in again.";
const CHANGED: &str = "The password was just changed. Sign in again.";
/// How long a right password is valid while the code is pending.
const STEP_LIFE: EpochMs = 5 * MINUTE;
/// How long a sign-in proves the presence of a user without a password.
const PRESENCE: EpochMs = 10 * MINUTE;
const SIGN_IN_AGAIN: &str =
    "Your account has no password. Sign out, sign in through the provider again, and repeat this within 10 minutes.";

/// An authenticated user, with the password hash at that time. Whatever acts for the user checks that the hash is still
/// current (`hold_password`), because a new password revokes what the old one authorized.
pub struct AuthenticatedUser {
    /// The user.
    pub user: User,
    /// The hash, or [`NO_PASSWORD`].
    pub hash: String,
}

impl AuthenticatedUser {
    /// Checks, in the transaction that relies on the proof, that the password has not changed since.
    pub async fn hold(&self, system: &mut System<'_>) -> Result<(), ApiError> {
        hold(system, self.user.id, &self.hash).await
    }
}

/// Checks that the hash of a user's password is still this one, and locks it until the transaction ends.
pub async fn hold(system: &mut System<'_>, user: UserId, hash: &str) -> Result<(), ApiError> {
    match system.hold_password(user, hash).await? {
        true => Ok(()),
        false => Err(ApiError::NotProven(CHANGED.to_owned())),
    }
}

/// The user with this address, this password and, if the account requires one, this code. If a required code is
/// missing, the error is [`ApiError::CodeNeeded`], which a caller without the password never learns.
pub async fn prove(
    app: &Arc<App>,
    email: &str,
    password: &str,
    code: Option<&str>,
    browser: &Browser,
) -> Result<AuthenticatedUser, ApiError> {
    let tries = Try::count(app, email, browser).await?;
    prove_by(app, &tries, password, code, browser).await
}

/// Like [`prove`], for a signed-in user.
pub async fn prove_signed_in(
    app: &Arc<App>,
    user: &User,
    password: &str,
    code: &str,
    browser: &Browser,
) -> Result<AuthenticatedUser, ApiError> {
    let tries = Try::of_signed_in(app, user).await?;
    prove_by(app, &tries, password, Some(code), browser).await
}

async fn prove_by(
    app: &Arc<App>,
    tries: &Try,
    password: &str,
    code: Option<&str>,
    browser: &Browser,
) -> Result<AuthenticatedUser, ApiError> {
    let (user, hash) = password_fits(app, tries, password, browser).await?;
    code_fits(app, tries, &user, code, browser).await?;
    Ok(AuthenticatedUser { user, hash })
}

/// Verifies that the user of a session is present, before changes that affect who can sign in: by the password or, if
/// the account has none, by a sign-in within the last ten minutes. Somebody at an unlocked browser has neither. Returns
/// the hash of the proven password.
pub async fn prove_presence(
    app: &Arc<App>,
    user: &User,
    signed_in_at: EpochMs,
    password: &str,
    browser: &Browser,
) -> Result<String, ApiError> {
    if !has_password(app, user).await? {
        let is_present = app.clock.now() - signed_in_at < PRESENCE;
        let hash = is_present.then(|| NO_PASSWORD.to_owned());
        return hash.ok_or_else(|| ApiError::bad(SIGN_IN_AGAIN));
    }
    let tries = Try::of_signed_in(app, user).await?;
    let (_, hash) = password_fits(app, &tries, password, browser).await?;
    tries.take_back(app).await?;
    Ok(hash)
}

/// Checks the code of a signed-in user who has no password to prove as well.
pub async fn prove_code(app: &Arc<App>, user: &User, code: &str, browser: &Browser) -> Result<(), ApiError> {
    let tries = Try::of_signed_in(app, user).await?;
    code_fits(app, &tries, user, Some(code), browser).await
}

/// Rate limits an authentication by client address alone, because the user is known only at its end.
pub async fn limit_by_address<T>(
    app: &App,
    browser: &Browser,
    proof: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let (address, at) = (browser.origin.address, app.clock.now());
    app.calls.count_address(Tries::SignIns, address, at).await?;
    let proven = proof.await;
    // An unavailable provider does not count as a wrong guess.
    if matches!(proven, Ok(_) | Err(ApiError::Unavailable(_))) {
        app.calls.take_back_address(Tries::SignIns, address, at).await?;
    }
    proven
}

/// Whether a user has a password. An invited user who signed in through the provider has none.
pub async fn has_password(app: &App, user: &User) -> Result<bool, ApiError> {
    let known = account(app, &user.email).await?;
    Ok(known.is_some_and(|(_, hash)| hash != NO_PASSWORD))
}

/// The state of a page between the two steps of a sign-in.
pub struct FirstStep {
    /// The address.
    pub email: String,
    /// Proves that the password was right, for five minutes and while it remains unchanged.
    pub proof: String,
}

/// The result of a right password.
pub enum Authentication {
    /// The account requires no code.
    User(AuthenticatedUser),
    /// The account requires a code.
    CodeNeeded(FirstStep),
}

/// The first of the two sign-in steps: the password alone.
pub async fn first_step(
    app: &Arc<App>,
    email: &str,
    password: &str,
    browser: &Browser,
) -> Result<Authentication, ApiError> {
    let tries = Try::count(app, email, browser).await?;
    let (user, hash) = password_fits(app, &tries, password, browser).await?;
    tries.take_back(app).await?;
    authentication_of(app, user, &hash).await
}

/// The result for a user authenticated by the password or an equivalent. `hash` is that of the password.
pub async fn authentication_of(app: &App, user: User, hash: &str) -> Result<Authentication, ApiError> {
    if !two_factor_codes::is_on(app, user.id).await? {
        let hash = hash.to_owned();
        return Ok(Authentication::User(AuthenticatedUser { user, hash }));
    }
    let until = app.clock.now() + STEP_LIFE;
    let proof = format!("{until}.{}", mark(app, &user, hash, until));
    Ok(Authentication::CodeNeeded(FirstStep {
        email: user.email,
        proof,
    }))
}

/// The second step: the user of a first step, authenticated by a code.
pub async fn second_step(
    app: &Arc<App>,
    first: &FirstStep,
    code: &str,
    browser: &Browser,
) -> Result<AuthenticatedUser, ApiError> {
    let late = || ApiError::NotProven(TOO_LATE.to_owned());
    let tries = Try::count(app, &first.email, browser).await?;
    let (until, given) = first.proof.split_once('.').ok_or_else(late)?;
    let until: EpochMs = until.parse().map_err(|_| late())?;
    let (user, hash) = tries.account.clone().ok_or_else(late)?;
    let fits = mark(app, &user, &hash, until).as_bytes().ct_eq(given.as_bytes());
    if !bool::from(fits) || until <= app.clock.now() {
        return Err(late());
    }
    code_fits(app, &tries, &user, Some(code), browser).await?;
    Ok(AuthenticatedUser { user, hash })
}

/// The HMAC that proves a right password. It covers the password's hash, so that a new password invalidates it.
fn mark(app: &App, user: &User, password_hash: &str, until: EpochMs) -> String {
    let key = app.vault.derive(Purpose::SecondStep);
    let mut mac = Hmac::<Sha256>::new_from_slice(&*key).expect("HMAC takes keys of any length");
    mac.update(format!("{}\n{until}\n{password_hash}", user.id).as_bytes());
    BASE64_URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// The user with this password, and its hash. A wrong one remains counted.
async fn password_fits(
    app: &Arc<App>,
    tries: &Try,
    password: &str,
    browser: &Browser,
) -> Result<(User, String), ApiError> {
    tries.guess(app, Guess::Password).await?;
    // Takes as long without a password as with one.
    let hash = tries.account.as_ref().map(|(_, hash)| hash.as_str());
    let hash = hash.filter(|hash| *hash != NO_PASSWORD);
    let fits = match app.passwords.verify(password, hash).await {
        Ok(fits) => fits,
        // An overloaded service does not count as a wrong guess.
        Err(failure) => {
            tries.take_back_guess(app, Guess::Password).await?;
            tries.take_back(app).await?;
            return Err(failure);
        }
    };
    match &tries.account {
        Some(account) if fits => {
            tries.take_back_guess(app, Guess::Password).await?;
            return Ok(account.clone());
        }
        Some((user, _)) => tell_refusal(app, user.id, browser),
        None => {}
    }
    Err(ApiError::NotProven(WRONG_PASSWORD.to_owned()))
}

/// Checks the code of a user who may have to enter one. A wrong one remains counted, like a wrong password.
async fn code_fits(
    app: &Arc<App>,
    tries: &Try,
    user: &User,
    code: Option<&str>,
    browser: &Browser,
) -> Result<(), ApiError> {
    if two_factor_codes::is_on(app, user.id).await? {
        let Some(code) = code.filter(|code| !code.trim().is_empty()) else {
            tries.take_back(app).await?;
            return Err(ApiError::CodeNeeded);
        };
        tries.guess(app, Guess::Code).await?;
        if !two_factor_codes::take(app, user.id, code, &browser.origin).await? {
            tell_refusal(app, user.id, browser);
            return Err(ApiError::NotProven(WRONG_CODE.to_owned()));
        }
        tries.take_back_guess(app, Guess::Code).await?;
    }
    tries.take_back(app).await
}

/// Audits a refused sign-in. Runs beside the response, so that response times do not reveal that the account exists.
fn tell_refusal(app: &Arc<App>, user: UserId, browser: &Browser) {
    let line = line(
        app,
        Actor::User(user),
        "user.refuse_sign_in",
        user,
        Some(&browser.origin),
    );
    let app = app.clone();
    tokio::spawn(async move {
        let written = match app.db.write().await {
            Ok(tx) => commit_with_audit(&app, tx, user, line).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = written {
            tracing::warn!(%error, "cannot write a refused sign-in to the audit log");
        }
    });
}
