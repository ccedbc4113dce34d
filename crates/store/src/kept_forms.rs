//! Forms that were sent after their session had ended, kept for a while for the user who filled them in.

use launchway_domain::id::UserId;

use crate::{StoreError, System};

/// A form that is kept.
#[derive(Clone, Debug)]
pub struct KeptForm {
    /// What names it.
    pub id: String,
    /// Who filled it in.
    pub user_id: UserId,
    /// What was typed, sealed.
    pub sealed: String,
    /// Until when it is kept.
    pub expires_at: i64,
}

impl System<'_> {
    /// Keeps a form, and of the forms of its user no more than the last `most`. False when there is no such user.
    pub async fn keep_form(&mut self, form: &KeptForm, most: i64) -> Result<bool, StoreError> {
        let user = form.user_id.to_string();
        let kept = execute!(
            self.tx,
            "INSERT INTO kept_forms (id, user_id, sealed, expires_at) SELECT $1, $2, $3, $4 \
             WHERE EXISTS (SELECT 1 FROM users WHERE id = $2)",
            &form.id,
            &user,
            &form.sealed,
            form.expires_at
        )?;
        execute!(
            self.tx,
            "DELETE FROM kept_forms WHERE user_id = $1 AND id NOT IN \
             (SELECT id FROM kept_forms WHERE user_id = $1 ORDER BY expires_at DESC, id DESC LIMIT $2)",
            &user,
            most
        )?;
        Ok(kept == 1)
    }

    /// What is kept under an id for this user, sealed; `None` when it is another's, or its time is over.
    pub async fn kept_form(&mut self, id: &str, user: UserId, now: i64) -> Result<Option<String>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT sealed FROM kept_forms WHERE id = $1 AND user_id = $2 AND expires_at > $3",
            id,
            user.to_string(),
            now
        )?;
        Ok(row.map(|(sealed,)| sealed))
    }

    /// Forgets forms whose time is over.
    pub async fn forget_kept_forms(&mut self, now: i64) -> Result<u64, StoreError> {
        forget!(self.tx, "kept_forms", "id", "expires_at <= $1", now)
    }
}
