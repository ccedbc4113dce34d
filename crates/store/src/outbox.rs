//! Events: written in the transaction of the change they tell of, and marked when they are fanned out.

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
