//! Folds the kept totals of lists, which only grow otherwise (`docs/adr/0028-totals-of-lists-are-kept.md`). Nodes of older releases do
//! not know this job, so its lease is its own.

use std::sync::Arc;
use std::time::Duration;

use launchway_ops::app::App;
use launchway_ops::list_totals::fold;

const EVERY: Duration = Duration::from_secs(60);

/// Folds every minute.
pub async fn run(app: Arc<App>) {
    let mut tick = tokio::time::interval(EVERY);
    loop {
        tick.tick().await;
        if let Err(failure) = fold(&app.db).await {
            tracing::warn!(error = %failure, "cannot fold the totals of lists; retrying later");
        }
    }
}
