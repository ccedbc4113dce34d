//! Jobs that must run on one node only: the holder of their lease in the database runs them, and another node takes
//! over when it falls silent. A job must tolerate two nodes running it for a moment: a node that was paused and resumes
//! does not know yet that it lost the lease.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use launchway_domain::time::{EpochMs, MINUTE};
use launchway_store::StoreError;
use tokio::sync::Mutex;

use crate::app::App;

/// How long a lease is valid without renewal.
pub const LIFE: EpochMs = MINUTE;
/// How often a holder renews, and other nodes check whether the lease has expired.
pub const RENEWAL: Duration = Duration::from_secs(15);

const REASON: &str = "jobs serve every tenant";

/// The leases that this process holds.
pub struct Leases {
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

impl Leases {
    /// No leases yet, under a name that no other process has.
    pub fn new(holder: String) -> Leases {
        Leases {
            holder,
            state: Mutex::default(),
        }
    }

    /// Takes or renews the lease of a job; returns whether this process holds it now.
    pub async fn hold(&self, app: &App, job: &'static str) -> Result<bool, StoreError> {
        let mut state = self.state.lock().await;
        if state.closed {
            return Ok(false);
        }
        state.tried.insert(job);
        let now = app.clock.now();
        let mut tx = app.db.write().await?;
        let held = tx
            .system(REASON)
            .take_job_lease(job, &self.holder, now, now + LIFE)
            .await?;
        tx.commit().await?;
        Ok(held)
    }

    /// Releases all leases for good, so that other nodes need not wait for their expiry.
    pub async fn give_back(&self, app: &App) -> Result<(), StoreError> {
        let mut state = self.state.lock().await;
        state.closed = true;
        let mut tx = app.db.write().await?;
        for job in &state.tried {
            tx.system(REASON).drop_job_lease(job, &self.holder).await?;
        }
        tx.commit().await
    }
}

/// Runs `work` every so often while this process holds the lease of `job`, which it renews. If the lease is lost or
/// cannot be renewed, the work is dropped wherever it is; when the lease is held again, it starts over.
pub async fn run<W>(app: Arc<App>, job: &'static str, every: Duration, work: impl Fn(Arc<App>) -> W)
where
    W: Future<Output = ()>,
{
    loop {
        if holds(&app, job).await {
            let mut working = std::pin::pin!(work(app.clone()));
            loop {
                tokio::select! {
                    () = &mut working => return,
                    () = tokio::time::sleep(every) => {}
                }
                if !holds(&app, job).await {
                    tracing::info!(job, "the lease of a job is lost");
                    break;
                }
            }
        }
        tokio::time::sleep(every).await;
    }
}

async fn holds(app: &App, job: &'static str) -> bool {
    app.leases.hold(app, job).await.unwrap_or_else(|error| {
        tracing::debug!(%error, job, "the lease of a job cannot be taken");
        false
    })
}
