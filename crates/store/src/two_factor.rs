//! Two-factor codes: they belong to a user, who may be in several organizations. Secrets are sealed, recovery codes hashed.

use launchway_domain::id::UserId;

use crate::{StoreError, System};

/// The two-factor state of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoFactor {
    /// The shared secret, sealed.
    pub sealed: String,
    /// The last step whose code was accepted; a code works once.
    pub last_step: i64,
    /// When the secret was created.
    pub created_at: i64,
    /// Since when codes are required; `None` until the first code is confirmed.
    pub confirmed_at: Option<i64>,
}

impl System<'_> {
    /// Stores a secret that waits for its first code, replacing an earlier one that also waits. Returns false if codes are
    /// already required.
    pub async fn begin_two_factor(&mut self, user: UserId, sealed: &str, now: i64) -> Result<bool, StoreError> {
        let kept = execute!(
            self.tx,
            "INSERT INTO two_factor (user_id, sealed, last_step, created_at) VALUES ($1, $2, 0, $3) \
             ON CONFLICT (user_id) DO UPDATE SET sealed = excluded.sealed, last_step = 0, created_at = excluded.created_at \
             WHERE two_factor.confirmed_at IS NULL",
            user.to_string(),
            sealed,
            now
        )?;
        Ok(kept == 1)
    }

    /// The two-factor state of a user; `None` if there is none.
    pub async fn two_factor(&mut self, user: UserId) -> Result<Option<TwoFactor>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String, i64, i64, Option<i64>),
            "SELECT sealed, last_step, created_at, confirmed_at FROM two_factor WHERE user_id = $1",
            user.to_string()
        )?;
        Ok(row.map(|(sealed, last_step, created_at, confirmed_at)| TwoFactor {
            sealed,
            last_step,
            created_at,
            confirmed_at,
        }))
    }

    /// Requires codes of a user from now on, after the first code, of this step, was correct. The secret must be the one
    /// that was checked. Returns false if it was replaced, or codes are already required.
    pub async fn confirm_two_factor(
        &mut self,
        user: UserId,
        sealed: &str,
        step: i64,
        now: i64,
        recovery_hashes: &[String],
    ) -> Result<bool, StoreError> {
        let confirmed = execute!(
            self.tx,
            "UPDATE two_factor SET last_step = $3, confirmed_at = $4 \
             WHERE user_id = $1 AND sealed = $2 AND confirmed_at IS NULL",
            user.to_string(),
            sealed,
            step,
            now
        )?;
        if confirmed == 0 {
            return Ok(false);
        }
        for hash in recovery_hashes {
            execute!(
                self.tx,
                "INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)",
                user.to_string(),
                hash
            )?;
        }
        Ok(true)
    }

    /// Accepts the code of a step; returns false if a code of this step or a later one was accepted before.
    pub async fn take_two_factor_step(&mut self, user: UserId, step: i64) -> Result<bool, StoreError> {
        let taken = execute!(
            self.tx,
            "UPDATE two_factor SET last_step = $2 WHERE user_id = $1 AND last_step < $2 AND confirmed_at IS NOT NULL",
            user.to_string(),
            step
        )?;
        Ok(taken == 1)
    }

    /// Consumes a recovery code; returns false if it is unknown or was used before.
    pub async fn take_recovery_code(&mut self, user: UserId, code_hash: &str) -> Result<bool, StoreError> {
        let taken = execute!(
            self.tx,
            "DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2",
            user.to_string(),
            code_hash
        )?;
        Ok(taken == 1)
    }

    /// How many recovery codes a user has left.
    pub async fn recovery_codes_left(&mut self, user: UserId) -> Result<i64, StoreError> {
        let (left,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1",
            user.to_string()
        )?;
        Ok(left)
    }

    /// Deletes a user's secret and recovery codes; returns false if there was none.
    pub async fn remove_two_factor(&mut self, user: UserId) -> Result<bool, StoreError> {
        let user = user.to_string();
        execute!(self.tx, "DELETE FROM recovery_codes WHERE user_id = $1", &user)?;
        let removed = execute!(self.tx, "DELETE FROM two_factor WHERE user_id = $1", &user)?;
        Ok(removed == 1)
    }
}
