//! A transaction on either database, and the two doors to its rows.

use launchway_domain::id::OrgId;
use sqlx::{Postgres, Sqlite, Transaction};

use crate::StoreError;

/// An open transaction. Dropped without [`Tx::commit`] it is rolled back.
pub enum Tx {
    /// On SQLite; a writing one holds the only writer connection.
    Sqlite(Transaction<'static, Sqlite>),
    /// On PostgreSQL.
    Postgres(Transaction<'static, Postgres>),
}

/// The rows of one organization. Every statement behind it names the organization.
pub struct Org<'t> {
    pub(crate) tx: &'t mut Tx,
    pub(crate) id: String,
}

/// Rows whatever their organization: for what has no tenant yet (sign-in, a key's hash) or serves all (the index, clean-up).
pub struct System<'t> {
    pub(crate) tx: &'t mut Tx,
}

impl Tx {
    /// The door to one organization's rows.
    pub fn org(&mut self, id: OrgId) -> Org<'_> {
        Org {
            tx: self,
            id: id.to_string(),
        }
    }

    /// The door to all rows. `reason` says, for the reader of the code, why a tenant's door does not do.
    pub fn system(&mut self, reason: &'static str) -> System<'_> {
        tracing::trace!(reason, "crossing tenants");
        System { tx: self }
    }

    /// Makes the changes durable: when it returns they survive a crash.
    pub async fn commit(self) -> Result<(), StoreError> {
        match self {
            Tx::Sqlite(tx) => tx.commit().await?,
            Tx::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }
}
