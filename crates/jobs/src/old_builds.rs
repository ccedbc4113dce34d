//! Expiry of builds: one that no runner took within a day fails, and one that ended long ago loses its files. Runs with
//! the clean-up.

use launchway_domain::actor::Actor;
use launchway_domain::build::EXPIRY;
use launchway_domain::time::{DAY, EpochMs};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::builds;
use launchway_ops::write::Write;

const BATCH: i64 = 100;
const REASON: &str = "builds of every tenant grow old";

/// Fails builds that waited too long for a runner, each with its event in one transaction.
pub async fn expire(app: &App, now: EpochMs) -> Result<(), ApiError> {
    loop {
        let mut tx = app.db.read().await?;
        let stale = tx.system(REASON).stale_builds(now - EXPIRY, BATCH).await?;
        drop(tx);
        let mut expired = 0;
        for (org, id) in &stale {
            let mut write = Write::open(app, *org, Actor::Service, None).await?;
            if builds::expire(&mut write, *id).await? {
                write.commit().await?;
                expired += 1;
            }
        }
        if expired < BATCH {
            return Ok(());
        }
    }
}

/// Removes log, artifacts and source of builds whose retention period is over.
pub async fn clear(app: &App, now: EpochMs) -> Result<(), ApiError> {
    let days = app.config.keep_builds_days;
    if days == 0 {
        return Ok(());
    }
    loop {
        let mut tx = app.db.read().await?;
        let time = now - i64::from(days) * DAY;
        let old = tx.system(REASON).builds_ended_before(time, BATCH).await?;
        drop(tx);
        for (org, id) in &old {
            let mut write = Write::open(app, *org, Actor::Service, None).await?;
            let files = builds::clear(&mut write, *id, days).await?;
            write.commit().await?;
            builds::remove_files(app, &files).await;
        }
        if old.len() < BATCH as usize {
            return Ok(());
        }
    }
}
