//! Events: written in the transaction of the change they describe, and marked when they are fanned out.

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
    /// When it happened.
    pub at: i64,
    /// The resource after the change, as JSON text.
    pub data: String,
}

impl Org<'_> {
    /// Adds an event to the outbox.
    pub async fn add_event(&mut self, event: &EventRow) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO events (id, org_id, type, at, data, fanned_out) VALUES ($1, $2, $3, $4, $5, 0)",
            event.id.to_string(),
            &self.id,
            &event.kind,
            event.at,
            &event.data
        )?;
        Ok(())
    }
}

impl System<'_> {
    /// Whether there are events that are not fanned out. Queries without a lock.
    pub async fn has_events_to_fan_out(&mut self) -> Result<bool, StoreError> {
        let row = fetch_optional!(self.tx, (String,), "SELECT id FROM events WHERE fanned_out = 0 LIMIT 1")?;
        Ok(row.is_some())
    }

    /// Takes events that are not fanned out, at most `limit`, oldest first, and marks them. Ids are not in commit order, so
    /// an id is no cursor: only the mark counts. Two nodes never take the same event.
    pub async fn take_events(&mut self, limit: i64, now: i64) -> Result<Vec<(OrgId, EventRow)>, StoreError> {
        let mut rows = fetch_all_locked!(
            self.tx,
            (String, String, String, i64, String),
            "WITH taken AS MATERIALIZED (SELECT id FROM events WHERE fanned_out = 0 ORDER BY id LIMIT $1",
            " FOR UPDATE SKIP LOCKED",
            ") UPDATE events SET fanned_out = $2 WHERE id IN (SELECT id FROM taken) RETURNING id, org_id, type, at, data",
            limit,
            now
        )?;
        rows.sort();
        rows.into_iter()
            .map(|(id, org, kind, at, data)| {
                let id = typed("events.id", &id)?;
                Ok((typed("events.org_id", &org)?, EventRow { id, kind, at, data }))
            })
            .collect()
    }

    /// Deletes events that were fanned out before `time`, at most `limit`; returns their number.
    pub async fn forget_events_before(&mut self, time: i64, limit: i64) -> Result<u64, StoreError> {
        execute!(
            self.tx,
            "DELETE FROM events WHERE id IN \
             (SELECT id FROM events WHERE fanned_out > 0 AND fanned_out < $1 ORDER BY fanned_out LIMIT $2)",
            time,
            limit
        )
    }
}
