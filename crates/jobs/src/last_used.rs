//! Writes to the database when keys and sessions were last used, in batches.

use std::sync::Arc;
use std::time::Duration;

use launchway_ops::app::App;

const EVERY: Duration = Duration::from_secs(1);

/// Writes the recorded times every second.
pub async fn run(app: Arc<App>) {
    let mut tick = tokio::time::interval(EVERY);
    loop {
        tick.tick().await;
        if let Err(error) = app.last_used.flush(&app.db).await {
            tracing::debug!(%error, "cannot save when keys were last used");
        }
    }
}
