//! Takes builds from silent runners, and moves the remaining log of finished builds to object storage. Every node may
//! do so concurrently: each move is a compare-and-set.

use std::sync::Arc;
use std::time::Duration;

use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::{build_logs, leases};

/// How often leases are checked.
const EVERY: Duration = Duration::from_secs(2);
/// How long runners have after a start to renew leases that expired while the service was down.
const GRACE: Duration = Duration::from_secs(20);
/// Logs are checked once in so many rounds.
const LOGS: u64 = 30;
const BATCH: i64 = 100;
const REASON: &str = "runners of every tenant fall silent";

/// Checks for ever.
pub async fn run(app: Arc<App>) {
    tokio::time::sleep(GRACE).await;
    let mut tick = tokio::time::interval(EVERY);
    for round in 0u64.. {
        tick.tick().await;
        if let Err(failure) = expire_leases(&app).await {
            tracing::warn!(error = %failure, "cannot check the leases of builds; retrying later");
        }
        if round.is_multiple_of(LOGS)
            && let Err(failure) = seal_logs(&app).await
        {
            tracing::warn!(error = %failure, "cannot move logs of builds; retrying later");
        }
    }
}

/// Ends every attempt whose lease has expired; returns how many.
pub async fn expire_leases(app: &App) -> Result<u64, ApiError> {
    let mut tx = app.db.read().await?;
    let lapsed = tx.system(REASON).lapsed_builds(app.clock.now(), BATCH).await?;
    drop(tx);
    let mut taken = 0;
    for (org, id) in lapsed {
        if leases::expire_lease(app, org, id).await? {
            tracing::info!(build = %id, "lost contact with the runner of a build");
            taken += 1;
        }
    }
    Ok(taken)
}

/// Moves the remaining logs of finished builds. The end of a build does this itself, unless something fails.
pub async fn seal_logs(app: &App) -> Result<(), ApiError> {
    let mut tx = app.db.read().await?;
    let unsealed = tx.system(REASON).unsealed_logs(BATCH).await?;
    drop(tx);
    for (org, id) in unsealed {
        build_logs::seal(app, org, id, 1).await?;
    }
    Ok(())
}
