//! Rate limits authentication: by minute for the client address and the account, by day for the account. A known device
//! has a separate budget.

use std::net::IpAddr;

use launchway_domain::id::UserId;
use launchway_domain::mac::MacKey;
use launchway_domain::org::{User, normalize_email};
use launchway_domain::time::{DAY, EpochMs, SECOND};
use launchway_store::System;
use launchway_vault::Purpose;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Browser;
use crate::known_devices;
use crate::limits::calls::Tries;

/// The maximum number of failed tries a minute for one account.
const PER_MINUTE: u32 = 5;
/// The number of budgets that addresses without an account share, so that they fill no table and are answered like
/// accounts.
const BUCKETS: u16 = u16::MAX;
const REASON: &str = "who tries to sign in is in no tenant yet";

/// What is guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// A password.
    Password,
    /// A code of an authenticator app, or a recovery code. Requires the password.
    Code,
}

impl Guess {
    const ALL: [Guess; 2] = [Guess::Password, Guess::Code];

    const fn as_str(self) -> &'static str {
        match self {
            Guess::Password => "password",
            Guess::Code => "code",
        }
    }

    /// The maximum number of wrong guesses a day for one account. Three of a million codes are valid at a time, so ten
    /// a day give a stranger with the password a chance of one percent in a year.
    const fn per_day(self, is_known: bool) -> i64 {
        match (self, is_known) {
            (Guess::Password, false) => 100,
            (Guess::Code, false) => 10,
            (Guess::Password, true) => 50,
            (Guess::Code, true) => 20,
        }
    }
}

/// A counted try.
pub struct Try {
    /// The account and the hash of its password; `None` if no account has the address.
    pub account: Option<(User, String)>,
    /// The name of the budget that it uses.
    budget: String,
    /// Set for unknown devices.
    address: Option<IpAddr>,
    at: EpochMs,
}

impl Try {
    /// Counts a try before anything is verified, so that concurrent tries have no advantage; a right one is taken back.
    /// A client address over its limit is refused first, without counting for any account.
    pub async fn count(app: &App, email: &str, browser: &Browser) -> Result<Try, ApiError> {
        let at = app.clock.now();
        let email = normalize_email(email).unwrap_or_default();
        // Only requests with a cookie reach the database before their address is counted.
        if !browser.devices.is_empty()
            && let Some((user, hash)) = account(app, &email).await?
            && known_devices::is_known(app, user.id, &hash, browser)
        {
            return Try::of_known(app, user, hash).await;
        }
        let address = browser.origin.address;
        app.calls.count_address(Tries::SignIns, address, at).await?;
        let account = account(app, &email).await?;
        let budget = match &account {
            // Nodes of older releases count an account under the same name.
            Some(_) => format!("account:{email}"),
            None => format!("account:?{}", bucket(app, &email)),
        };
        let counted = Try {
            account,
            budget,
            address: Some(address),
            at,
        };
        counted.count_minute(app).await?;
        Ok(counted)
    }

    /// Counts a try of a signed-in user.
    pub async fn of_signed_in(app: &App, user: &User) -> Result<Try, ApiError> {
        let account = account(app, &user.email).await?;
        let (user, hash) = account.ok_or(ApiError::NoAuthentication)?;
        Try::of_known(app, user, hash).await
    }

    async fn of_known(app: &App, user: User, hash: String) -> Result<Try, ApiError> {
        let counted = Try {
            budget: format!("known:{}", user.id),
            account: Some((user, hash)),
            address: None,
            at: app.clock.now(),
        };
        counted.count_minute(app).await?;
        Ok(counted)
    }

    async fn count_minute(&self, app: &App) -> Result<(), ApiError> {
        let quota = app.calls.count(&self.budget, PER_MINUTE, self.at).await?;
        match quota.exceeded {
            true => Err(ApiError::RateLimited(quota.wait(self.at))),
            false => Ok(()),
        }
    }

    /// Takes back the count of this minute.
    pub async fn take_back(&self, app: &App) -> Result<(), ApiError> {
        if let Some(address) = self.address {
            app.calls.take_back_address(Tries::SignIns, address, self.at).await?;
        }
        app.calls.take_back(&self.budget, self.at).await
    }

    /// Counts a guess for this day.
    pub async fn guess(&self, app: &App, guess: Guess) -> Result<(), ApiError> {
        let day = self.at.div_euclid(DAY);
        let mut tx = app.db.write().await?;
        let count = tx.system(REASON).count_failed_try(&self.of_day(guess), day).await?;
        tx.commit().await?;
        if count <= guess.per_day(self.address.is_none()) {
            return Ok(());
        }
        let left = ((day + 1) * DAY - self.at) / SECOND;
        Err(ApiError::RateLimited(u64::try_from(left).unwrap_or(0).max(1)))
    }

    /// Takes back a guess that was right.
    pub async fn take_back_guess(&self, app: &App, guess: Guess) -> Result<(), ApiError> {
        let mut tx = app.db.write().await?;
        tx.system(REASON)
            .uncount_failed_try(&self.of_day(guess), self.at.div_euclid(DAY))
            .await?;
        Ok(tx.commit().await?)
    }

    fn of_day(&self, guess: Guess) -> String {
        match &self.account {
            Some((user, _)) => of_user(guess, self.address.is_none(), user.id),
            None => format!("{}:{}", guess.as_str(), self.budget),
        }
    }
}

fn of_user(guess: Guess, is_known: bool, user: UserId) -> String {
    let who = if is_known { "known" } else { "account" };
    format!("{}:{who}:{user}", guess.as_str())
}

/// Restores the full budget of the day for a user with a new password.
pub async fn forget(system: &mut System<'_>, user: UserId) -> Result<(), ApiError> {
    for guess in Guess::ALL {
        for is_known in [false, true] {
            system.forget_failed_tries(&of_user(guess, is_known, user)).await?;
        }
    }
    Ok(())
}

/// The account of an address, with the hash of its password.
pub async fn account(app: &App, email: &str) -> Result<Option<(User, String)>, ApiError> {
    let mut tx = app.db.read().await?;
    Ok(tx.system("nobody is signed in yet").user_by_email(email).await?)
}

/// The budget of an address without an account. It depends on a key, so that nobody can search for addresses that share
/// one.
fn bucket(app: &App, email: &str) -> u16 {
    let hash = MacKey::new(&app.vault.derive(Purpose::UnknownAccounts)).of(&[email.as_bytes()]);
    u16::from_be_bytes([hash[0], hash[1]]) % BUCKETS
}
