//! Fan-out: each event of the outbox becomes a delivery to each webhook that subscribes to it, within a moment of its
//! commit.

use std::sync::Arc;
use std::time::Duration;

use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::deliveries;

/// How often to look for events of other nodes.
const EVERY: Duration = Duration::from_secs(1);
/// The maximum number of events in one transaction.
const BATCH: i64 = 100;

/// Fans out for ever.
pub async fn run(app: Arc<App>) {
    loop {
        if let Err(failure) = fan_out(&app).await {
            tracing::warn!(error = %failure, "cannot fan out events; retrying later");
        }
        // An event that was committed meanwhile has left a notification.
        let _ = tokio::time::timeout(EVERY, app.webhooks.events.notified()).await;
    }
}

/// Fans out all waiting events; returns how many there were.
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
