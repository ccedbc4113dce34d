//! Expiry of submissions: one that failed or was rejected long ago loses its files. Runs with the clean-up.

use launchway_domain::actor::Actor;
use launchway_domain::time::{DAY, EpochMs};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::submissions;
use launchway_ops::write::Write;

const BATCH: i64 = 100;
const REASON: &str = "submissions of every tenant grow old";

/// Removes the files of submissions that are past the retention period of builds.
pub async fn clear(app: &App, now: EpochMs) -> Result<(), ApiError> {
    let days = app.config.keep_builds_days;
    if days == 0 {
        return Ok(());
    }
    loop {
        let mut tx = app.db.read().await?;
        let time = now - i64::from(days) * DAY;
        let old = tx.system(REASON).submissions_ended_before(time, BATCH).await?;
        drop(tx);
        for (org, id) in &old {
            let mut write = Write::open(app, *org, Actor::Service, None).await?;
            let files = submissions::clear(&mut write, *id).await?;
            write.commit().await?;
            submissions::remove_files(app, &files).await;
        }
        if old.len() < BATCH as usize {
            return Ok(());
        }
    }
}
