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
            let mut working = std::pin::pin!(work(app.clone()));
            loop {
                tokio::select! {
                    () = &mut working => return,
                    () = tokio::time::sleep(every) => {}
                }
                if !holds(&app, job).await {
                    tracing::info!(job, "lost the lease of a job");
                    break;
                }
            }
        }
        tokio::time::sleep(every).await;
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
