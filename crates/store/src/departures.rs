//! The access that a user granted in an organization: revoked when the user leaves or gets a lesser role, or listed for a
//! decision.

use launchway_domain::build::Runner;
use launchway_domain::id::{DeviceLoginId, UserId};
use launchway_domain::key::Key;
use launchway_domain::org::Invitation;

use crate::api_keys::{KeyRow, key_columns};
use crate::invitations::InvitationRow;
use crate::runners::{RunnerRow, runner_columns};
use crate::sql::typed;
use crate::{Org, StoreError};

/// Condition: the row was created by the user `$2` in the organization `$1`, or by a key that this user created there.
macro_rules! made_by {
    () => {
        "(created_by = $2 OR created_by IN (SELECT k.id FROM api_keys k WHERE k.org_id = $1 AND k.created_by = $2))"
    };
}

impl Org<'_> {
    /// Deletes the pending invitations that a user created or that are for the address `email`; returns them.
    pub async fn end_invitations(&mut self, by: UserId, email: Option<&str>) -> Result<Vec<Invitation>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            InvitationRow,
            concat!(
                "DELETE FROM invitations WHERE org_id = $1 AND accepted_at IS NULL AND (email = $3 OR ",
                made_by!(),
                ") RETURNING id, org_id, email, role, created_at, expires_at, accepted_at"
            ),
            &self.id,
            by.to_string(),
            email
        )?;
        rows.into_iter().map(InvitationRow::read).collect()
    }

    /// Deletes the one-time tokens for runners that a user created; returns their number.
    pub async fn end_runner_tokens(&mut self, by: UserId) -> Result<u64, StoreError> {
        execute!(
            self.tx,
            concat!("DELETE FROM runner_tokens WHERE org_id = $1 AND ", made_by!()),
            &self.id,
            by.to_string()
        )
    }

    /// Denies the browser sign-ins that a user approved and whose key has not been fetched; returns them.
    pub async fn end_device_logins(&mut self, by: UserId) -> Result<Vec<DeviceLoginId>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String,),
            "UPDATE device_logins SET status = 'denied' WHERE org_id = $1 AND user_id = $2 AND status = 'approved' \
             RETURNING id",
            &self.id,
            by.to_string()
        )?;
        let ids = rows.iter().map(|(id,)| typed("device_logins.id", id));
        ids.collect()
    }

    /// The active keys that a user's browser sign-ins created, in the order of their ids.
    pub async fn browser_keys(&mut self, by: UserId, now: i64) -> Result<Vec<Key>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            KeyRow,
            concat!(
                "SELECT ",
                key_columns!(),
                " FROM api_keys WHERE org_id = $1 AND created_by = $2 AND device_login IS NOT NULL \
                 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3) ORDER BY id"
            ),
            &self.id,
            by.to_string(),
            now
        )?;
        rows.into_iter().map(KeyRow::read).collect()
    }

    /// The active keys that a user created, directly or with a key, newest first.
    pub async fn keys_made_by(&mut self, by: UserId, now: i64, most: i64) -> Result<Vec<Key>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            KeyRow,
            concat!(
                "SELECT ",
                key_columns!(),
                " FROM api_keys WHERE org_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3) AND ",
                made_by!(),
                " ORDER BY id DESC LIMIT $4"
            ),
            &self.id,
            by.to_string(),
            now,
            most
        )?;
        rows.into_iter().map(KeyRow::read).collect()
    }

    /// The runners that a user enrolled and whose access is not revoked, newest first.
    pub async fn runners_made_by(&mut self, by: UserId, most: i64) -> Result<Vec<Runner>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            RunnerRow,
            concat!(
                "SELECT ",
                runner_columns!(),
                " FROM runners WHERE org_id = $1 AND revoked_at IS NULL AND ",
                made_by!(),
                " ORDER BY id DESC LIMIT $3"
            ),
            &self.id,
            by.to_string(),
            most
        )?;
        rows.into_iter().map(RunnerRow::read).collect()
    }

    /// The active keys whose creators may no longer create keys here, newest first. A user creates keys directly or with
    /// the key of a browser sign-in.
    pub async fn keys_of_former_admins(&mut self, now: i64, most: i64) -> Result<Vec<Key>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            KeyRow,
            concat!(
                "SELECT ",
                key_columns!(),
                " FROM api_keys WHERE org_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) \
                 AND ((created_by LIKE 'user_%' AND NOT EXISTS (SELECT 1 FROM members m WHERE m.org_id = $1 \
                 AND m.user_id = api_keys.created_by AND m.role IN ('admin', 'owner'))) \
                 OR created_by IN (SELECT k.id FROM api_keys k WHERE k.org_id = $1 AND k.device_login IS NOT NULL \
                 AND NOT EXISTS (SELECT 1 FROM members m WHERE m.org_id = $1 AND m.user_id = k.created_by \
                 AND m.role IN ('admin', 'owner')))) ORDER BY id DESC LIMIT $3"
            ),
            &self.id,
            now,
            most
        )?;
        rows.into_iter().map(KeyRow::read).collect()
    }
}
