//! Users: accounts are independent of organizations, so they are reached through [`System`].

use launchway_domain::id::UserId;
use launchway_domain::org::User;

use crate::sql::typed;
use crate::{StoreError, System};

row! {
    struct UserRow {
        id: String,
        email: String,
        created_at: i64,
    }
}

impl UserRow {
    fn read(self) -> Result<User, StoreError> {
        Ok(User {
            id: typed("users.id", &self.id)?,
            email: self.email,
            created_at: self.created_at,
        })
    }
}

impl System<'_> {
    /// Creates an account; returns false if the address already has one.
    pub async fn create_user(&mut self, user: &User, password_hash: &str) -> Result<bool, StoreError> {
        let made = execute!(
            self.tx,
            "INSERT INTO users (id, email, password_hash, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (email) DO NOTHING",
            user.id.to_string(),
            &user.email,
            password_hash,
            user.created_at
        )?;
        Ok(made == 1)
    }

    /// The account of an address and the hash of its password.
    pub async fn user_by_email(&mut self, email: &str) -> Result<Option<(User, String)>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String, String, i64, String),
            "SELECT id, email, created_at, password_hash FROM users WHERE email = $1",
            email
        )?;
        row.map(|(id, email, created_at, hash)| Ok((UserRow { id, email, created_at }.read()?, hash)))
            .transpose()
    }

    /// An account by its id.
    pub async fn user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            UserRow,
            "SELECT id, email, created_at FROM users WHERE id = $1",
            id.to_string()
        )?;
        row.map(UserRow::read).transpose()
    }

    /// Records that the sign-in provider confirmed the owner of the address; returns false if it did so before.
    pub async fn prove_user(&mut self, id: UserId, now: i64) -> Result<bool, StoreError> {
        let proven = execute!(
            self.tx,
            "UPDATE users SET proven_at = $2 WHERE id = $1 AND proven_at IS NULL",
            id.to_string(),
            now
        )?;
        Ok(proven == 1)
    }

    /// Whether the sign-in provider has confirmed the owner of the address.
    pub async fn is_proven_user(&mut self, id: UserId) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (i64,),
            "SELECT proven_at FROM users WHERE id = $1 AND proven_at IS NOT NULL",
            id.to_string()
        )?;
        Ok(row.is_some())
    }

    /// Whether this is still the hash of a user's password; if so, it cannot change until this transaction ends.
    pub async fn hold_password(&mut self, id: UserId, password_hash: &str) -> Result<bool, StoreError> {
        let locked = execute!(
            self.tx,
            "UPDATE users SET password_hash = password_hash WHERE id = $1 AND password_hash = $2",
            id.to_string(),
            password_hash
        )?;
        Ok(locked == 1)
    }

    /// Sets a new password, and ends every session and reset link of the user.
    pub async fn set_password(&mut self, id: UserId, password_hash: &str) -> Result<(), StoreError> {
        let id = id.to_string();
        execute!(
            self.tx,
            "UPDATE users SET password_hash = $2 WHERE id = $1",
            &id,
            password_hash
        )?;
        execute!(self.tx, "DELETE FROM sessions WHERE user_id = $1", &id)?;
        execute!(self.tx, "DELETE FROM reset_links WHERE user_id = $1", &id)?;
        Ok(())
    }

    /// Stores a password reset link, replacing earlier ones.
    pub async fn create_reset_link(&mut self, id: UserId, token_hash: &str, expires_at: i64) -> Result<(), StoreError> {
        execute!(self.tx, "DELETE FROM reset_links WHERE user_id = $1", id.to_string())?;
        execute!(
            self.tx,
            "INSERT INTO reset_links (token_hash, user_id, expires_at) VALUES ($1, $2, $3)",
            token_hash,
            id.to_string(),
            expires_at
        )?;
        Ok(())
    }

    /// The user whose password a reset link can set at this time.
    pub async fn reset_link_user(&mut self, token_hash: &str, now: i64) -> Result<Option<UserId>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT user_id FROM reset_links WHERE token_hash = $1 AND expires_at > $2",
            token_hash,
            now
        )?;
        row.map(|(id,)| typed("reset_links.user_id", &id)).transpose()
    }

    /// Consumes a reset link: returns the user whose password it sets, locked until this transaction ends. `None` if the
    /// link was used before, or was ended by another change of the password.
    pub async fn use_reset_link(&mut self, token_hash: &str, now: i64) -> Result<Option<UserId>, StoreError> {
        let Some(user) = self.reset_link_user(token_hash, now).await? else {
            return Ok(None);
        };
        // Lock the user's row first, in the order of `set_password`: its holder may be ending the link.
        execute!(
            self.tx,
            "UPDATE users SET password_hash = password_hash WHERE id = $1",
            user.to_string()
        )?;
        let used = execute!(
            self.tx,
            "DELETE FROM reset_links WHERE token_hash = $1 AND expires_at > $2",
            token_hash,
            now
        )?;
        Ok((used == 1).then_some(user))
    }
}
