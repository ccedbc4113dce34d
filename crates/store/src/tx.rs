//! A transaction on either database, and the two ways to its rows.

use launchway_domain::id::OrgId;
use sqlx::{Postgres, Sqlite, Transaction};

use crate::StoreError;

/// An open transaction. It is rolled back if it is dropped without [`Tx::commit`].
pub enum Tx {
    /// On SQLite; a write transaction holds the only writer connection.
    Sqlite(Transaction<'static, Sqlite>),
    /// On PostgreSQL.
    Postgres(Transaction<'static, Postgres>),
}

/// The rows of one organization. Every statement names the organization.
pub struct Org<'t> {
    pub(crate) tx: &'t mut Tx,
    pub(crate) id: String,
}

/// Rows of all organizations: for what has no tenant yet (sign-in, a key's hash) or serves all (the index, clean-up).
pub struct System<'t> {
    pub(crate) tx: &'t mut Tx,
}

impl Tx {
    /// Access to one organization's rows.
    pub fn org(&mut self, id: OrgId) -> Org<'_> {
        Org {
            tx: self,
            id: id.to_string(),
        }
    }

    /// Access to all rows. `reason` says, for the reader of the code, why access to one organization does not suffice.
    pub fn system(&mut self, reason: &'static str) -> System<'_> {
        tracing::trace!(reason, "crossing tenants");
        System { tx: self }
    }

    /// Commits the changes: once it returns, they survive a crash.
    pub async fn commit(self) -> Result<(), StoreError> {
        match self {
            Tx::Sqlite(tx) => tx.commit().await?,
            Tx::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }
}
