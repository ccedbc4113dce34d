//! A PostgreSQL server that answers later: until then every call says that the database is not available.

use std::io::{self, ErrorKind};
use std::sync::{Arc, OnceLock};

use sqlx::postgres::PgPool;

use crate::StoreError;

/// The place of the connections to a server that has not answered yet. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<OnceLock<PgPool>>);

impl Gate {
    /// The connections.
    pub(crate) fn pool(&self) -> Result<&PgPool, StoreError> {
        let away = || io::Error::new(ErrorKind::NotConnected, "it has not answered since the start");
        self.0.get().ok_or_else(|| sqlx::Error::Io(away()).into())
    }

    /// Sets the connections; returns false if they are set already.
    pub(crate) fn open(&self, pool: PgPool) -> bool {
        self.0.set(pool).is_ok()
    }

    /// Whether the connections are set.
    pub(crate) fn is_open(&self) -> bool {
        self.0.get().is_some()
    }
}
