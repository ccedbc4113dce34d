//! Writes the counts of public checks to the database, in batches.

use std::sync::Arc;
use std::time::Duration;

use launchway_ops::app::App;

const EVERY: Duration = Duration::from_secs(5);

/// Writes the counts every five seconds.
pub async fn run(app: Arc<App>) {
    let mut tick = tokio::time::interval(EVERY);
    loop {
        tick.tick().await;
        if let Err(error) = app.check_counts.flush(&app.db, &app.index, app.clock.now()).await {
            tracing::debug!(%error, "cannot save the counts of checks; keeping them for later");
        }
    }
}
