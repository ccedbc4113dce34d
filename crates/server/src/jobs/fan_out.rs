//! Fan-out: each event of the outbox becomes a delivery to each webhook that wants it, within a moment of its commit.

use std::sync::Arc;
use std::time::Duration;

use crate::api_error::ApiError;
use crate::app::App;
use crate::ops::deliveries;

/// Events of other nodes are looked for so often.
const EVERY: Duration = Duration::from_secs(1);
/// Events in one transaction at most.
const BATCH: i64 = 100;

/// Fans out for ever.
pub async fn run(app: Arc<App>) {
    loop {
        if let Err(failure) = fan_out(&app).await {
            tracing::warn!(error = %failure, "events will be fanned out later");
        }
        // What was committed while it ran has left its word.
        let _ = tokio::time::timeout(EVERY, app.webhooks.events.notified()).await;
    }
}

/// Fans out everything that waits; gives how many events that were.
pub async fn fan_out(app: &App) -> Result<usize, ApiError> {
    let mut all = 0;
    loop {
        let taken = deliveries::fan_out(app, BATCH).await?;
        all += taken;
        if taken > 0 {
            app.webhooks.deliveries.notify_one();
        }
        if taken < BATCH as usize {
            return Ok(all);
        }
    }
}
