//! Events and audit rows: written in the transaction of the change they tell of.

use launchway_domain::id::{EventId, OrgId};

use crate::sql::typed;
use crate::{Org, StoreError, System};

/// One event of the outbox.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// Its id.
    pub id: EventId,
    /// What happened, such as `update.published`.
    pub kind: String,
    /// When.
    pub at: i64,
    /// The resource after the change, as JSON text.
    pub data: String,
}

/// One line of the audit log. `before` and `after` are JSON texts without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// When.
    pub at: i64,
    /// Who: a user id, a key id or `operator`.
    pub actor: String,
    /// What, such as `key.revoke`.
    pub action: String,
    /// On which resource.
    pub resource: String,
    /// What it was.
    pub before: Option<String>,
    /// What it became.
    pub after: Option<String>,
    /// From where.
    pub address: String,
    /// The request it came with.
    pub request_id: String,
}

impl Org<'_> {
    /// Adds an event to the outbox.
    pub async fn add_event(&mut self, event: &EventRow) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO events (id, org_id, type, at, data) VALUES ($1, $2, $3, $4, $5)",
            event.id.to_string(),
            &self.id,
            &event.kind,
            event.at,
            &event.data
        )?;
        Ok(())
    }

    /// Adds a line to the audit log.
    pub async fn add_audit(&mut self, row: &AuditRow) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO audit (org_id, at, actor, action, resource, before, after, address, request_id) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            &self.id,
            row.at,
            &row.actor,
            &row.action,
            &row.resource,
            row.before.as_deref(),
            row.after.as_deref(),
            &row.address,
            &row.request_id
        )?;
        Ok(())
    }

    /// The audit log of this organization, newest first, at most `limit` lines.
    pub async fn audit(&mut self, limit: i64) -> Result<Vec<AuditRow>, StoreError> {
        type Row = (
            i64,
            String,
            String,
            String,
            Option<String>,
            Option<String>,
            String,
            String,
        );
        let rows = fetch_all!(
            self.tx,
            Row,
            "SELECT at, actor, action, resource, before, after, address, request_id FROM audit \
             WHERE org_id = $1 ORDER BY seq DESC LIMIT $2",
            &self.id,
            limit
        )?;
        let read = |(at, actor, action, resource, before, after, address, request_id): Row| AuditRow {
            at,
            actor,
            action,
            resource,
            before,
            after,
            address,
            request_id,
        };
        Ok(rows.into_iter().map(read).collect())
    }
}

impl System<'_> {
    /// Events after `after` (an id, or nothing for the start), oldest first, at most `limit`.
    pub async fn events_after(&mut self, after: &str, limit: i64) -> Result<Vec<(OrgId, EventRow)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String, String, i64, String),
            "SELECT org_id, id, type, at, data FROM events WHERE id > $1 ORDER BY id LIMIT $2",
            after,
            limit
        )?;
        rows.into_iter()
            .map(|(org, id, kind, at, data)| {
                Ok((
                    typed("events.org_id", &org)?,
                    EventRow {
                        id: typed("events.id", &id)?,
                        kind,
                        at,
                        data,
                    },
                ))
            })
            .collect()
    }
}
