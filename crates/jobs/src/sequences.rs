//! Numbers the updates that a node of an older release published (`docs/reference/foreign-clients.md#sequence`). Such nodes do not
//! know this job, so its lease is its own.

use std::sync::Arc;
use std::time::Duration;

use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;

const EVERY: Duration = Duration::from_secs(60);
const BATCH: i64 = 100;
const REASON: &str = "updates of every tenant are numbered";

/// Numbers every minute.
pub async fn run(app: Arc<App>) {
    let mut tick = tokio::time::interval(EVERY);
    loop {
        tick.tick().await;
        if let Err(failure) = number(&app).await {
            tracing::warn!(error = %failure, "cannot number updates; retrying later");
        }
    }
}

/// Numbers all updates that have no sequence; returns how many. Each transaction is short, because it holds the lock of publishing.
pub async fn number(app: &App) -> Result<u64, ApiError> {
    let mut numbered = 0;
    loop {
        let mut tx = app.db.read().await?;
        let bundles = tx.system(REASON).unnumbered_bundles(BATCH).await?;
        drop(tx);
        if bundles.is_empty() {
            return Ok(numbered);
        }
        for bundle in bundles {
            let mut tx = app.db.write().await?;
            numbered += tx.system(REASON).number_updates(&bundle).await?;
            tx.commit().await?;
        }
    }
}
