//! Runs a job on the one node that holds its lease. A job must tolerate two nodes running it for a moment: a node that
//! was paused and resumes does not know yet that it lost the lease.

use std::sync::Arc;
use std::time::Duration;

use launchway_ops::app::App;

/// How often a holder renews, and other nodes check whether the lease has expired.
pub const RENEWAL: Duration = Duration::from_secs(15);

/// Runs `work` every so often while this process holds the lease of `job`, which it renews. If the lease is lost or
/// cannot be renewed, the work is dropped wherever it is; when the lease is held again, it starts over.
pub async fn run<W>(app: Arc<App>, job: &'static str, every: Duration, work: impl Fn(Arc<App>) -> W)
where
    W: Future<Output = ()>,
{
    loop {
        if holds(&app, job).await {
            // Both advance at the same time: a renewal that waited for the only writer of SQLite while the work that has it
            // stands still would stop every change of the server.
            tokio::select! {
                () = work(app.clone()) => return,
                () = until_lost(&app, job, every) => tracing::info!(job, "lost the lease of a job"),
            }
        }
        tokio::time::sleep(every).await;
    }
}

/// Renews a lease, and returns when it is lost or cannot be renewed.
async fn until_lost(app: &App, job: &'static str, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        if !holds(app, job).await {
            return;
        }
    }
}

async fn holds(app: &App, job: &'static str) -> bool {
    app.job_leases
        .hold(&app.db, job, app.clock.now())
        .await
        .unwrap_or_else(|error| {
            tracing::debug!(%error, job, "cannot acquire the lease of a job");
            false
        })
}
