//! Forms submitted after their session had expired, stored for a while for their user.

use launchway_domain::id::UserId;

use crate::{StoreError, System};

/// A stored form.
#[derive(Clone, Debug)]
pub struct KeptForm {
    /// Its id.
    pub id: String,
    /// The user who filled it in.
    pub user_id: UserId,
    /// The form data, sealed.
    pub sealed: String,
    /// When it is deleted.
    pub expires_at: i64,
}

impl System<'_> {
    /// Stores a form, and deletes all but the last `most` forms of its user. Returns false if there is no such user.
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

    /// The form with this id of this user, sealed; `None` if it is another user's, or has expired.
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

    /// Deletes expired forms.
    pub async fn forget_kept_forms(&mut self, now: i64) -> Result<u64, StoreError> {
        forget!(self.tx, "kept_forms", "id", "expires_at <= $1", now)
    }
}
