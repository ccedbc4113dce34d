//! Who somebody is: address and password, and a two-factor code where the account asks for one. Failures slow down: see
//! `tries.rs`.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use launchway_domain::actor::Actor;
use launchway_domain::id::UserId;
use launchway_domain::org::User;
use launchway_domain::time::{EpochMs, MINUTE};
use launchway_store::System;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Browser;
use crate::http::limits::Tries;
use crate::master_key::Purpose;
use crate::ops::sessions::{commit_told, line};
use crate::ops::tries::{Guess, Try, account};
use crate::ops::two_factor;

/// In place of a password's hash where there is no password: nothing fits it.
pub const NO_PASSWORD: &str = "none";
const WRONG_PASSWORD: &str = "The address or the password is wrong";
/// What a wrong code is answered with. Pages put it to the field of this name.
pub const WRONG_CODE: &str = "code is wrong, or it was used before; wait for the next one";
/// What is said when the time between the two steps is over.
pub const TOO_LATE: &str = "This took too long; sign in again";
const CHANGED: &str = "The password was changed at this moment; sign in again";
/// How long a right password counts while the code is awaited.
const STEP_LIFE: EpochMs = 5 * MINUTE;
/// How long a sign-in counts as the proof of who has no password.
const PRESENCE: EpochMs = 10 * MINUTE;
const SIGN_IN_AGAIN: &str =
    "Your account has no password: sign out, sign in through the provider again, and do this within 10 minutes";

/// Who somebody proved to be, and the hash of the password at that time: what is done in the user's name asks whether it is
/// still the same (`hold_password`), for a new password ends what the old one opened.
pub struct Known {
    /// The user.
    pub user: User,
    /// The hash, or [`NO_PASSWORD`].
    pub hash: String,
}

impl Known {
    /// Makes sure, in the transaction that acts on the proof, that the password has not changed since.
    pub async fn hold(&self, system: &mut System<'_>) -> Result<(), ApiError> {
        hold(system, self.user.id, &self.hash).await
    }
}

/// Makes sure that a user's password is still the one with this hash, until the transaction ends.
pub async fn hold(system: &mut System<'_>, user: UserId, hash: &str) -> Result<(), ApiError> {
    match system.hold_password(user, hash).await? {
        true => Ok(()),
        false => Err(ApiError::NotProven(CHANGED.to_owned())),
    }
}

/// The user who has this address and password and, where the account asks for one, this code. Without a code that is asked
/// for it is [`ApiError::CodeNeeded`], which who has not the password never learns.
pub async fn prove(
    app: &Arc<App>,
    email: &str,
    password: &str,
    code: Option<&str>,
    browser: &Browser,
) -> Result<Known, ApiError> {
    let tries = Try::count(app, email, browser).await?;
    prove_by(app, &tries, password, code, browser).await
}

/// The same for a user who is signed in.
pub async fn prove_again(
    app: &Arc<App>,
    user: &User,
    password: &str,
    code: &str,
    browser: &Browser,
) -> Result<Known, ApiError> {
    let tries = Try::of_signed_in(app, user).await?;
    prove_by(app, &tries, password, Some(code), browser).await
}

async fn prove_by(
    app: &Arc<App>,
    tries: &Try,
    password: &str,
    code: Option<&str>,
    browser: &Browser,
) -> Result<Known, ApiError> {
    let (user, hash) = password_fits(app, tries, password, browser).await?;
    code_fits(app, tries, &user, code, browser).await?;
    Ok(Known { user, hash })
}

/// That the user of a session sits there, before what decides who gets in: by the password or, where the account has none, by
/// a sign-in of the last ten minutes. Who finds an unlocked browser has neither. Gives the hash of the password that was proven.
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

/// Checks the code of a signed-in user who has no password to show besides.
pub async fn prove_code(app: &Arc<App>, user: &User, code: &str, browser: &Browser) -> Result<(), ApiError> {
    let tries = Try::of_signed_in(app, user).await?;
    code_fits(app, &tries, user, Some(code), browser).await
}

/// Counts somebody's proof against the client address alone, for it tells only at its end who it is.
pub async fn slowed<T>(
    app: &App,
    browser: &Browser,
    proof: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let (address, at) = (browser.origin.address, app.clock.now());
    app.calls.count_address(Tries::SignIns, address, at).await?;
    let proven = proof.await;
    // That the provider is away is nobody's wrong guess.
    if matches!(proven, Ok(_) | Err(ApiError::Unavailable(_))) {
        app.calls.take_back_address(Tries::SignIns, address, at).await?;
    }
    proven
}

/// Whether a user has a password; who was invited and came through the provider has none.
pub async fn has_password(app: &App, user: &User) -> Result<bool, ApiError> {
    let known = account(app, &user.email).await?;
    Ok(known.is_some_and(|(_, hash)| hash != NO_PASSWORD))
}

/// What a page shows between the two steps of a sign-in.
pub struct FirstStep {
    /// The address.
    pub email: String,
    /// Says that its password was right, for five minutes and while the password stays.
    pub proof: String,
}

/// What a right password comes to.
pub enum Proven {
    /// The account asks for no code: the user.
    User(Known),
    /// The account asks for a code.
    Half(FirstStep),
}

/// The first step of a sign-in in two: the password alone.
pub async fn first_step(app: &Arc<App>, email: &str, password: &str, browser: &Browser) -> Result<Proven, ApiError> {
    let tries = Try::count(app, email, browser).await?;
    let (user, hash) = password_fits(app, &tries, password, browser).await?;
    tries.take_back(app).await?;
    proven_elsewhere(app, user, &hash).await
}

/// What it comes to that a user was proven by the password, or by something in its place: `hash` is that of the password.
pub async fn proven_elsewhere(app: &App, user: User, hash: &str) -> Result<Proven, ApiError> {
    if !two_factor::is_on(app, user.id).await? {
        let hash = hash.to_owned();
        return Ok(Proven::User(Known { user, hash }));
    }
    let until = app.clock.now() + STEP_LIFE;
    let proof = format!("{until}.{}", mark(app, &user, hash, until));
    Ok(Proven::Half(FirstStep {
        email: user.email,
        proof,
    }))
}

/// The second step: the user of a first step, by a code.
pub async fn second_step(app: &Arc<App>, first: &FirstStep, code: &str, browser: &Browser) -> Result<Known, ApiError> {
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
    Ok(Known { user, hash })
}

/// The HMAC of a right password: it names the password's hash, so that a new password ends it.
fn mark(app: &App, user: &User, password_hash: &str, until: EpochMs) -> String {
    let key = app.vault.derive(Purpose::SecondStep);
    let mut mac = Hmac::<Sha256>::new_from_slice(&*key).expect("HMAC takes keys of any length");
    mac.update(format!("{}\n{until}\n{password_hash}", user.id).as_bytes());
    BASE64_URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// The user whose password this is, and its hash. A wrong one stays counted.
async fn password_fits(
    app: &Arc<App>,
    tries: &Try,
    password: &str,
    browser: &Browser,
) -> Result<(User, String), ApiError> {
    tries.guess(app, Guess::Password).await?;
    // Without a password it takes as long as with one.
    let hash = tries.account.as_ref().map(|(_, hash)| hash.as_str());
    let hash = hash.filter(|hash| *hash != NO_PASSWORD);
    let fits = match app.passwords.verify(password, hash).await {
        Ok(fits) => fits,
        // That the service is busy is nobody's wrong guess.
        Err(failure) => {
            tries.was_right(app, Guess::Password).await?;
            tries.take_back(app).await?;
            return Err(failure);
        }
    };
    match &tries.account {
        Some(account) if fits => {
            tries.was_right(app, Guess::Password).await?;
            return Ok(account.clone());
        }
        Some((user, _)) => tell_refusal(app, user.id, browser),
        None => {}
    }
    Err(ApiError::NotProven(WRONG_PASSWORD.to_owned()))
}

/// Checks the code of a user who may have to show one. A wrong one stays counted, as a wrong password does.
async fn code_fits(
    app: &Arc<App>,
    tries: &Try,
    user: &User,
    code: Option<&str>,
    browser: &Browser,
) -> Result<(), ApiError> {
    if two_factor::is_on(app, user.id).await? {
        let Some(code) = code.filter(|code| !code.trim().is_empty()) else {
            tries.take_back(app).await?;
            return Err(ApiError::CodeNeeded);
        };
        tries.guess(app, Guess::Code).await?;
        if !two_factor::take(app, user.id, code, &browser.origin).await? {
            tell_refusal(app, user.id, browser);
            return Err(ApiError::NotProven(WRONG_CODE.to_owned()));
        }
        tries.was_right(app, Guess::Code).await?;
    }
    tries.take_back(app).await
}

/// Tells of a refused sign-in. Beside the answer, so that its time does not tell that there is such an account.
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
        let told = match app.db.write().await {
            Ok(tx) => commit_told(&app, tx, user, line).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = told {
            tracing::warn!(%error, "a refused sign-in could not be written to the audit log");
        }
    });
}
