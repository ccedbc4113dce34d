//! Runners and their one-time enrollment tokens: only hashes of tokens are stored.

use std::collections::HashMap;

use launchway_domain::build::Runner;
use launchway_domain::id::{OrgId, RunnerId};

use crate::builds::split;
use crate::sql::{names, typed};
use crate::{Org, Paging, Rows, StoreError, System};

row! {
    pub(crate) struct RunnerRow {
        id: String,
        org_id: String,
        name: String,
        labels: String,
        slots: i64,
        version: String,
        created_by: String,
        created_at: i64,
        last_seen_at: i64,
        revoked_at: Option<i64>,
    }
}

impl RunnerRow {
    pub(crate) fn read(self) -> Result<Runner, StoreError> {
        Ok(Runner {
            id: typed("runners.id", &self.id)?,
            org_id: owner(&self.org_id)?,
            name: self.name,
            labels: split(&self.labels),
            slots: self.slots,
            version: self.version,
            created_by: self.created_by,
            created_at: self.created_at,
            last_seen_at: self.last_seen_at,
            revoked_at: self.revoked_at,
        })
    }
}

/// The columns of [`RunnerRow`].
macro_rules! runner_columns {
    () => {
        "id, org_id, name, labels, slots, version, created_by, created_at, last_seen_at, revoked_at"
    };
}
pub(crate) use runner_columns;

fn owner(org: &str) -> Result<Option<OrgId>, StoreError> {
    Some(org)
        .filter(|org| !org.is_empty())
        .map(|org| typed("runners.org_id", org))
        .transpose()
}

fn column(org: Option<OrgId>) -> String {
    org.map(|org| org.to_string()).unwrap_or_default()
}

/// Condition: the creator of a one-time token may still create one. The creator need not be a member if it is a key or the
/// operator.
macro_rules! maker_may {
    () => {
        "(created_by NOT LIKE 'user_%' OR EXISTS (SELECT 1 FROM members m WHERE m.org_id = runner_tokens.org_id \
         AND m.user_id = runner_tokens.created_by AND m.role IN ('admin', 'owner')))"
    };
}

impl Org<'_> {
    /// The organization's own runners, revoked ones included, newest first.
    pub async fn runners(&mut self, paging: Paging) -> Result<Rows<Runner>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            RunnerRow,
            concat!(
                "SELECT ",
                runner_columns!(),
                " FROM runners WHERE org_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3"
            ),
            &self.id,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM runners WHERE org_id = $1",
            &self.id
        )?;
        Rows::read(rows, total, RunnerRow::read)
    }

    /// One of the organization's own runners.
    pub async fn runner(&mut self, id: RunnerId) -> Result<Option<Runner>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            RunnerRow,
            concat!(
                "SELECT ",
                runner_columns!(),
                " FROM runners WHERE org_id = $1 AND id = $2"
            ),
            &self.id,
            id.to_string()
        )?;
        row.map(RunnerRow::read).transpose()
    }

    /// The names of those of these runners, of a page, that execute this organization's builds: its own, and shared ones.
    pub async fn runner_names(&mut self, runners: &[RunnerId]) -> Result<HashMap<RunnerId, String>, StoreError> {
        let rows = fetch_all_of!(
            self.tx,
            (String, String),
            "SELECT id, name FROM runners WHERE org_id IN ($1, '') AND id IN",
            runners,
            "",
            &self.id
        )?;
        names("runners.id", rows)
    }

    /// Revokes a runner; returns false if it was revoked before.
    pub async fn revoke_runner(&mut self, id: RunnerId, now: i64) -> Result<bool, StoreError> {
        let revoked = execute!(
            self.tx,
            "UPDATE runners SET revoked_at = $3 WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL",
            &self.id,
            id.to_string(),
            now
        )?;
        Ok(revoked == 1)
    }

    /// The different label lists of the runners that execute this organization's builds and have called since `since`:
    /// at most `limit`, after the list `after` in a fixed order.
    pub async fn live_runner_labels(
        &mut self,
        since: i64,
        after: Option<&[String]>,
        limit: i64,
    ) -> Result<Vec<Vec<String>>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String,),
            "SELECT DISTINCT labels FROM runners WHERE org_id IN ($1, '') AND revoked_at IS NULL AND last_seen_at >= $2 \
             AND ($3 IS NULL OR labels > $3) ORDER BY labels LIMIT $4",
            &self.id,
            since,
            after.map(|labels| labels.join(",")),
            limit
        )?;
        Ok(rows.into_iter().map(|(labels,)| split(&labels)).collect())
    }
}

impl System<'_> {
    /// Stores a one-time token; without an organization it enrolls a shared runner.
    pub async fn create_runner_token(
        &mut self,
        token_hash: &str,
        org: Option<OrgId>,
        created_by: &str,
        now: i64,
        expires_at: i64,
    ) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO runner_tokens (token_hash, org_id, created_by, created_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5)",
            token_hash,
            column(org),
            created_by,
            now,
            expires_at
        )?;
        Ok(())
    }

    /// Consumes a one-time token: returns the organization of the runner that it enrolls, and the token's creator. `None`
    /// if it is invalid or expired.
    pub async fn use_runner_token(
        &mut self,
        token_hash: &str,
        now: i64,
    ) -> Result<Option<(Option<OrgId>, String)>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String, String, i64),
            concat!(
                "DELETE FROM runner_tokens WHERE token_hash = $1 AND ",
                maker_may!(),
                " RETURNING org_id, created_by, expires_at"
            ),
            token_hash
        )?;
        match row {
            Some((org, created_by, expires_at)) if expires_at > now => Ok(Some((owner(&org)?, created_by))),
            _ => Ok(None),
        }
    }

    /// Whether a one-time token is valid.
    pub async fn is_valid_runner_token(&mut self, token_hash: &str, now: i64) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (i64,),
            concat!(
                "SELECT expires_at FROM runner_tokens WHERE token_hash = $1 AND expires_at > $2 AND ",
                maker_may!()
            ),
            token_hash,
            now
        )?;
        Ok(row.is_some())
    }

    /// Deletes one-time tokens that expired unused.
    pub async fn forget_runner_tokens(&mut self, now: i64) -> Result<u64, StoreError> {
        forget!(self.tx, "runner_tokens", "token_hash", "expires_at <= $1", now)
    }

    /// Stores a new runner.
    pub async fn create_runner(&mut self, runner: &Runner, token_hash: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO runners (id, org_id, token_hash, name, labels, slots, version, created_by, created_at, \
             last_seen_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            runner.id.to_string(),
            column(runner.org_id),
            token_hash,
            &runner.name,
            runner.labels.join(","),
            runner.slots,
            &runner.version,
            &runner.created_by,
            runner.created_at,
            runner.last_seen_at
        )?;
        Ok(())
    }

    /// The runner with a token, unless its access is revoked.
    pub async fn runner_by_token(&mut self, token_hash: &str) -> Result<Option<Runner>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            RunnerRow,
            concat!(
                "SELECT ",
                runner_columns!(),
                " FROM runners WHERE token_hash = $1 AND revoked_at IS NULL"
            ),
            token_hash
        )?;
        row.map(RunnerRow::read).transpose()
    }

    /// Records that a runner called, with its current properties.
    pub async fn note_runner(
        &mut self,
        id: RunnerId,
        labels: &[String],
        version: &str,
        now: i64,
    ) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE runners SET labels = $2, version = $3, last_seen_at = $4 WHERE id = $1",
            id.to_string(),
            labels.join(","),
            version,
            now
        )?;
        Ok(())
    }

    /// The runner with this id, of any organization.
    pub async fn any_runner(&mut self, id: RunnerId) -> Result<Option<Runner>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            RunnerRow,
            concat!("SELECT ", runner_columns!(), " FROM runners WHERE id = $1"),
            id.to_string()
        )?;
        row.map(RunnerRow::read).transpose()
    }

    /// Enrolls a runner again with a new token and a new owner.
    pub async fn readmit_runner(
        &mut self,
        id: RunnerId,
        org: Option<OrgId>,
        token_hash: &str,
    ) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE runners SET org_id = $2, token_hash = $3, revoked_at = NULL WHERE id = $1",
            id.to_string(),
            column(org),
            token_hash
        )?;
        Ok(())
    }
}
