//! Counts of public checks on their way to the database: taken from the index's counters, written in batches.

use std::collections::BTreeMap;

use launchway_domain::id::OrgId;
use launchway_domain::time::EpochMs;
use launchway_domain::usage::Month;
use launchway_ota::Index;
use launchway_store::{Db, StoreError};
use tokio::sync::Mutex;

/// The counts that are not in the database yet.
#[derive(Default)]
pub struct CheckCounts {
    /// Checks by whom their bundles belonged to, in a month. While the database is unreachable they wait here, in the
    /// month in which they were made.
    pending: Mutex<BTreeMap<(OrgId, Month), i64>>,
}

impl CheckCounts {
    /// Writes the counts since the last call.
    pub async fn flush(&self, db: &Db, index: &Index, now: EpochMs) -> Result<(), StoreError> {
        let mut pending = self.pending.lock().await;
        let month = Month::of(now);
        for (org, count) in index.take_checks().await {
            *pending.entry((org, month)).or_default() += count;
        }
        for (org, count) in index.foreign().take_checks() {
            *pending.entry((org, month)).or_default() += count;
        }
        if pending.is_empty() {
            return Ok(());
        }
        let checks: Vec<_> = pending
            .iter()
            .map(|((org, month), count)| (*org, *month, *count))
            .collect();
        let mut tx = db.write().await?;
        tx.system("checks of every tenant are counted together")
            .add_checks(&checks)
            .await?;
        tx.commit().await?;
        pending.clear();
        Ok(())
    }
}
