//! How nodes follow the database: a revision per change, taken in the change's own transaction, and a notification. The row
//! lock on the revision makes revisions commit in order, so a reader never skips one.

use std::time::Duration;

use sqlx::Connection;
use sqlx::postgres::PgListener;
use sqlx::sqlite::SqliteConnection;

use crate::{StoreError, System, Tx};

/// The PostgreSQL channel that announces new revisions.
pub(crate) const CHANNEL: &str = "launchway_changes";
/// How often SQLite's change counter is polled: a change is noticed well within a second.
const SQLITE_GLANCE: Duration = Duration::from_millis(100);
/// PostgreSQL may lose a notification: the table is read at this interval regardless.
const POSTGRES_BACKSTOP: Duration = Duration::from_millis(500);

/// What changed since a revision, or the first part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The revision to which these changes lead.
    pub revision: i64,
    /// The bundles whose updates changed, without duplicates. `None` if the revision is too old: reload everything.
    pub bundle_keys: Option<Vec<String>>,
    /// Whether there are changes after `revision`.
    pub has_more: bool,
}

/// A connection that notices changes made by other processes.
pub enum Watch {
    /// Polls the change counter of the file.
    Sqlite {
        /// A dedicated connection: the counter does not change for changes made by the connection that reads it.
        connection: SqliteConnection,
        /// The counter when it was last read.
        version: i64,
    },
    /// Listens for notifications.
    Postgres {
        /// The listening connection; it reconnects by itself.
        listener: PgListener,
    },
}

impl Watch {
    /// Returns when there may be changes: on a change, or after half a second at most on PostgreSQL.
    pub async fn changed(&mut self) -> Result<(), StoreError> {
        match self {
            Watch::Sqlite { connection, version } => loop {
                let (now,): (i64,) = sqlx::query_as("PRAGMA data_version")
                    .fetch_one(&mut *connection)
                    .await?;
                if std::mem::replace(version, now) != now {
                    return Ok(());
                }
                tokio::time::sleep(SQLITE_GLANCE).await;
            },
            Watch::Postgres { listener } => match tokio::time::timeout(POSTGRES_BACKSTOP, listener.try_recv()).await {
                Ok(news) => news.map(|_| ()).map_err(StoreError::from),
                Err(_) => Ok(()),
            },
        }
    }

    /// Ends the watch and its connection.
    pub async fn close(self) {
        if let Watch::Sqlite { connection, .. } = self {
            // Nothing was written on this connection, so an error while closing has no effect.
            let _ = connection.close().await;
        }
    }
}

/// Takes the next revision for a bundle whose updates change, and holds the lock that orders such changes until commit.
pub(crate) async fn touch_bundle(tx: &mut Tx, bundle_key: &str, now: i64) -> Result<i64, StoreError> {
    let (revision,) = fetch_one!(
        tx,
        (i64,),
        "UPDATE revision SET value = value + 1 WHERE one = 1 RETURNING value"
    )?;
    execute!(
        tx,
        "INSERT INTO changes (revision, bundle_key, at) VALUES ($1, $2, $3)",
        revision,
        bundle_key,
        now
    )?;
    if let Tx::Postgres(tx) = tx {
        sqlx::query("SELECT pg_notify($1, $2)")
            .bind(CHANNEL)
            .bind(revision.to_string())
            .execute(&mut **tx)
            .await?;
    }
    Ok(revision)
}

impl System<'_> {
    /// The newest revision.
    pub async fn revision(&mut self) -> Result<i64, StoreError> {
        Ok(fetch_one!(self.tx, (i64,), "SELECT value FROM revision WHERE one = 1")?.0)
    }

    /// What changed after `seen`: the first `limit` changes.
    pub async fn changes_since(&mut self, seen: i64, limit: i64) -> Result<Changes, StoreError> {
        let newest = self.revision().await?;
        let rows = fetch_all!(
            self.tx,
            (i64, String),
            "SELECT revision, bundle_key FROM changes WHERE revision > $1 ORDER BY revision LIMIT $2",
            seen,
            limit
        )?;
        let last = rows.last().map_or(seen, |(revision, _)| *revision);
        // Revisions have no gaps: fewer rows than revisions means that old rows were deleted, or the database was replaced.
        let has_gap = last - seen != rows.len() as i64 || (last != newest && (rows.len() as i64) < limit);
        if has_gap {
            return Ok(Changes {
                revision: newest,
                bundle_keys: None,
                has_more: false,
            });
        }
        let mut keys: Vec<String> = rows.into_iter().map(|(_, key)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        Ok(Changes {
            revision: last,
            bundle_keys: Some(keys),
            has_more: last < newest,
        })
    }

    /// Deletes changes made before `time`; a node that was idle for longer reloads everything.
    pub async fn forget_changes_before(&mut self, time: i64) -> Result<u64, StoreError> {
        forget!(self.tx, "changes", "revision", "at < $1", time)
    }
}
