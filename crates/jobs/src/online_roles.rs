//! Renews snapshot and timestamp of apps with a root before they expire (`docs/reference/trust.md#renewal`). Nodes of a
//! release without signed updates do not know this job, so its lease is its own.

use std::sync::Arc;
use std::time::Duration;

use launchway_domain::time::DAY;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::trust::online;

const EVERY: Duration = Duration::from_secs(5 * 60);
const BATCH: i64 = 100;

/// Renews every five minutes.
pub async fn run(app: Arc<App>) {
    let mut tick = tokio::time::interval(EVERY);
    loop {
        tick.tick().await;
        if let Err(failure) = renew(&app).await {
            tracing::warn!(error = %failure, "cannot renew snapshots and timestamps; retrying later");
        }
    }
}

/// Renews what has less than half of its life left; returns how many apps. One that cannot be renewed does not hold up the
/// others.
pub async fn renew(app: &App) -> Result<u64, ApiError> {
    let time = app.clock.now() + i64::from(app.config.trust_days) * DAY / 2;
    let (mut renewed, mut last) = (0, None);
    loop {
        let mut tx = app.db.read().await?;
        let mut system = tx.system("timestamps of every tenant's apps expire");
        let page = system.online_roles_due(time, last.as_ref(), BATCH).await?;
        drop(tx);
        for due in &page {
            match online::renew(app, due.org_id, &due.bundle).await {
                Ok(()) => renewed += 1,
                Err(away @ ApiError::Unavailable(_)) => return Err(away),
                Err(failure) => {
                    tracing::error!(app = %due.bundle, error = %failure, "cannot renew the snapshot and timestamp of an app");
                }
            }
        }
        last = page.into_iter().next_back();
        if last.is_none() {
            return Ok(renewed);
        }
    }
}
