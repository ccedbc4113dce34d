//! Counting what organizations use and hold: in the transaction of the change itself, so that what is refused is not counted.
//! The counter's row, or the organization's turn, orders those who count at once, so a quota is never passed.

use launchway_api::usage::Held;
use launchway_domain::id::OrgId;
use launchway_domain::tenancy::Tier;
use launchway_domain::time::EpochMs;
use launchway_domain::usage::{Counter, Holding, Month, Quotas, Usage};
use launchway_store::Org;

use crate::api_error::ApiError;
use crate::app::App;
use crate::ops::write::Write;

/// Counts an update that is published, and the bytes that are stored for it: none when it has those of an earlier one.
///
/// # Errors
/// [`ApiError::Forbidden`] when a quota leaves no room; the transaction must not be committed then. The same holds for all
/// that count here.
pub async fn count_update(write: &mut Write<'_>, stored: i64) -> Result<(), ApiError> {
    count(write, Counter::Updates, 1).await?;
    match stored {
        0 => Ok(()),
        stored => count(write, Counter::Bytes, stored).await,
    }
}

/// Counts a build that is made. Nobody knows yet how long it will run: it is refused when no minute is left.
pub async fn count_build(write: &mut Write<'_>) -> Result<(), ApiError> {
    let used = used(write).await?.get(Counter::BuildSeconds);
    allow(write, Counter::BuildSeconds, used, 1).await?;
    count(write, Counter::Builds, 1).await
}

/// Counts the seconds that a build ran. They were spent, so no quota refuses them.
pub async fn count_build_seconds(write: &mut Write<'_>, seconds: i64) -> Result<(), ApiError> {
    let month = Month::of(write.now());
    write.org().count_usage(Counter::BuildSeconds, month, seconds).await?;
    Ok(())
}

/// Counts a submission that is made.
pub async fn count_submission(write: &mut Write<'_>) -> Result<(), ApiError> {
    count(write, Counter::Submissions, 1).await
}

/// Whether an update with so many bytes could be published now: asked before its package is looked into, which costs.
/// The answer that counts is that of [`count_update`].
pub async fn room_for_update(app: &App, org: OrgId, bytes: i64, now: EpochMs) -> Result<(), ApiError> {
    let quotas = &app.config.quotas;
    if quotas.is_empty() {
        return Ok(());
    }
    let month = Month::of(now);
    let mut tx = app.db.read().await?;
    let mut org = tx.org(org);
    let used = org.usage_of(month).await?.unwrap_or_else(|| Usage::none(month));
    for (counter, more) in [(Counter::Updates, 1), (Counter::Bytes, bytes)] {
        check(quotas, &mut org, month, counter, used.get(counter), more).await?;
    }
    Ok(())
}

/// Refuses what would store `more` bytes above the quota of stored bytes. Asked before its rows are there; behind them, with 0.
pub async fn room_to_store(write: &mut Write<'_>, more: i64) -> Result<(), ApiError> {
    let Some(tier) = held_to(write, Holding::StoredBytes).await? else {
        return Ok(());
    };
    let held = write.org().stored_bytes().await?;
    Ok(write
        .app()
        .config
        .quotas
        .check_held(tier, Holding::StoredBytes, held, more)?)
}

/// Refuses to claim one more bundle id above the quota of apps.
pub async fn room_for_app(write: &mut Write<'_>) -> Result<(), ApiError> {
    let Some(tier) = held_to(write, Holding::Apps).await? else {
        return Ok(());
    };
    let held = write.org().claimed_bundles().await?;
    Ok(write.app().config.quotas.check_held(tier, Holding::Apps, held, 1)?)
}

/// The organization's tier where that has such a limit. Then nobody else counts for this organization until the transaction ends.
async fn held_to(write: &mut Write<'_>, holding: Holding) -> Result<Option<Tier>, ApiError> {
    let record = write.org().record().await?;
    let tier = record.ok_or(ApiError::NoSuch("organization"))?.tier;
    if write.app().config.quotas.most_held(tier, holding).is_none() {
        return Ok(None);
    }
    write.org().take_turn().await?;
    Ok(Some(tier))
}

/// What an organization holds now.
pub async fn held(org: &mut Org<'_>) -> Result<Held, ApiError> {
    Ok(Held {
        stored_bytes: org.stored_bytes().await?,
        apps: org.claimed_bundles().await?,
    })
}

async fn count(write: &mut Write<'_>, counter: Counter, amount: i64) -> Result<(), ApiError> {
    let month = Month::of(write.now());
    let value = write.org().count_usage(counter, month, amount).await?;
    allow(write, counter, value - amount, amount).await
}

async fn used(write: &mut Write<'_>) -> Result<Usage, ApiError> {
    let month = Month::of(write.now());
    Ok(write.org().usage_of(month).await?.unwrap_or_else(|| Usage::none(month)))
}

async fn allow(write: &mut Write<'_>, counter: Counter, used: i64, more: i64) -> Result<(), ApiError> {
    let (quotas, month) = (&write.app().config.quotas, Month::of(write.now()));
    check(quotas, &mut write.org(), month, counter, used, more).await
}

/// Asks the quota of the organization's present tier.
async fn check(
    quotas: &Quotas,
    org: &mut Org<'_>,
    month: Month,
    counter: Counter,
    used: i64,
    more: i64,
) -> Result<(), ApiError> {
    if quotas.is_empty() {
        return Ok(());
    }
    let record = org.record().await?;
    let tier = record.ok_or(ApiError::NoSuch("organization"))?.tier;
    Ok(quotas.check(tier, counter, month, used, more)?)
}
