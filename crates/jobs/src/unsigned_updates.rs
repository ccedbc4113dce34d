//! Withdraws updates that awaited their signature for too long. Runs with the clean-up.

use launchway_domain::actor::Actor;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::time::EpochMs;
use launchway_domain::update::AWAITING_LIFE;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::updates::unsigned;
use launchway_ops::write::Write;

const BATCH: i64 = 100;

/// Withdraws what has awaited its signature for 30 days, each with its event in one transaction. One that cannot be
/// withdrawn does not hold up the others.
pub async fn withdraw(app: &App, now: EpochMs) -> Result<(), ApiError> {
    loop {
        let mut tx = app.db.read().await?;
        let old = tx
            .system("updates of every tenant await signatures")
            .awaiting_before(now - AWAITING_LIFE, BATCH)
            .await?;
        drop(tx);
        let mut withdrawn = 0;
        for (org, id) in &old {
            match withdraw_one(app, *org, *id).await {
                Ok(true) => withdrawn += 1,
                Ok(false) => {}
                Err(away @ ApiError::Unavailable(_)) => return Err(away),
                Err(failure) => {
                    tracing::error!(update = %id, error = %failure, "cannot withdraw an update that nobody signed");
                }
            }
        }
        if withdrawn < BATCH {
            return Ok(());
        }
    }
}

async fn withdraw_one(app: &App, org: OrgId, id: UpdateId) -> Result<bool, ApiError> {
    let mut write = Write::open(app, org, Actor::Service, None).await?;
    let withdrawn = unsigned::withdraw(&mut write, id).await?;
    if withdrawn {
        write.commit().await?;
    }
    Ok(withdrawn)
}
