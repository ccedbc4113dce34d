//! Folds the kept totals of lists, which only grow otherwise (`docs/adr/0028-totals-of-lists-are-kept.md`). Nodes of older releases do
//! not know this job, so its lease is its own.

use std::sync::Arc;
use std::time::Duration;

use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;

const EVERY: Duration = Duration::from_secs(60);
const BATCH: i64 = 100;
const REASON: &str = "lists of every tenant are folded";

/// Folds every minute.
pub async fn run(app: Arc<App>) {
    let mut tick = tokio::time::interval(EVERY);
    loop {
        tick.tick().await;
        if let Err(failure) = fold(&app).await {
            tracing::warn!(error = %failure, "cannot fold the totals of lists; retrying later");
        }
    }
}

/// Folds each list with many totals, in a transaction of its own, because changes of SQLite wait for it.
pub async fn fold(app: &App) -> Result<(), ApiError> {
    loop {
        let mut tx = app.db.read().await?;
        let unfolded = tx.system(REASON).unfolded_lists(BATCH).await?;
        drop(tx);
        for list in &unfolded {
            let mut tx = app.db.write().await?;
            tx.system(REASON).fold_list(list).await?;
            tx.commit().await?;
        }
        if unfolded.len() < BATCH as usize {
            return Ok(());
        }
    }
}
