//! Leases of the jobs that must run on one node only: the holder of a lease in the database runs the job, and another
//! node takes over when it falls silent.

use std::collections::BTreeSet;

use launchway_domain::time::{EpochMs, MINUTE};
use launchway_store::{Db, StoreError};
use tokio::sync::Mutex;

/// How long a lease is valid without renewal.
pub const LIFE: EpochMs = MINUTE;

const REASON: &str = "jobs serve every tenant";

/// The leases that this process holds.
pub struct JobLeases {
    /// The name of this process among the holders.
    holder: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Jobs whose lease this process may hold.
    tried: BTreeSet<&'static str>,
    /// Set when the process stops: from then on it takes no leases.
    closed: bool,
}

impl JobLeases {
    /// No leases yet, under a name that no other process has.
    pub fn new(holder: String) -> JobLeases {
        JobLeases {
            holder,
            state: Mutex::default(),
        }
    }

    /// Takes or renews the lease of a job; returns whether this process holds it now.
    pub async fn hold(&self, db: &Db, job: &'static str, now: EpochMs) -> Result<bool, StoreError> {
        let mut state = self.state.lock().await;
        if state.closed {
            return Ok(false);
        }
        state.tried.insert(job);
        let mut tx = db.write().await?;
        let held = tx
            .system(REASON)
            .take_job_lease(job, &self.holder, now, now + LIFE)
            .await?;
        tx.commit().await?;
        Ok(held)
    }

    /// Releases all leases for good, so that other nodes need not wait for their expiry.
    pub async fn give_back(&self, db: &Db) -> Result<(), StoreError> {
        let mut state = self.state.lock().await;
        state.closed = true;
        let mut tx = db.write().await?;
        for job in &state.tried {
            tx.system(REASON).drop_job_lease(job, &self.holder).await?;
        }
        tx.commit().await
    }
}
