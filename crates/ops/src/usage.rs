//! Counts what organizations use and store, within the transaction of the change, so that a rejected change is not
//! counted. A lock on the counter's row or on the organization serializes concurrent changes, so that a quota is never
//! exceeded.

use launchway_api::usage::Holdings;
use launchway_domain::id::OrgId;
use launchway_domain::tenancy::Tier;
use launchway_domain::time::EpochMs;
use launchway_domain::usage::{Counter, Holding, Month, Quotas, Usage};
use launchway_store::Org;

use crate::api_error::ApiError;
use crate::app::App;
use crate::write::Write;

/// Counts a published update and the bytes stored for it: zero if it reuses those of an earlier one.
///
/// # Errors
/// [`ApiError::Forbidden`] if a quota leaves no room; then the transaction must not be committed. The same applies to
/// all functions that count here.
pub async fn count_update(write: &mut Write<'_>, stored: i64) -> Result<(), ApiError> {
    count(write, Counter::Updates, 1).await?;
    match stored {
        0 => Ok(()),
        stored => count(write, Counter::Bytes, stored).await,
    }
}

/// Counts a created build. Its duration is unknown, so it is rejected only if no minute is left.
pub async fn count_build(write: &mut Write<'_>) -> Result<(), ApiError> {
    let used = used(write).await?.get(Counter::BuildSeconds);
    allow(write, Counter::BuildSeconds, used, 1).await?;
    count(write, Counter::Builds, 1).await
}

/// Counts the seconds that a build ran. They are spent, so no quota rejects them.
pub async fn count_build_seconds(write: &mut Write<'_>, seconds: i64) -> Result<(), ApiError> {
    let month = Month::of(write.now());
    write.org().count_usage(Counter::BuildSeconds, month, seconds).await?;
    Ok(())
}

/// Counts a created submission.
pub async fn count_submission(write: &mut Write<'_>) -> Result<(), ApiError> {
    count(write, Counter::Submissions, 1).await
}

/// Whether an update of this size could be published now: checked before the expensive inspection of its package. The
/// binding check is that of [`count_update`].
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

/// Rejects a change whose `more` bytes would exceed the quota of stored bytes. Call it before the rows exist, or
/// afterwards with 0.
pub async fn room_to_store(write: &mut Write<'_>, more: i64) -> Result<(), ApiError> {
    let Some(tier) = limited_tier(write, Holding::StoredBytes).await? else {
        return Ok(());
    };
    let present = write.org().stored_bytes().await?;
    Ok(write
        .app()
        .config
        .quotas
        .check_holding(tier, Holding::StoredBytes, present, more)?)
}

/// Rejects a claim that would exceed the quota of apps.
pub async fn room_for_app(write: &mut Write<'_>) -> Result<(), ApiError> {
    let Some(tier) = limited_tier(write, Holding::Apps).await? else {
        return Ok(());
    };
    let present = write.org().claimed_bundles().await?;
    Ok(write
        .app()
        .config
        .quotas
        .check_holding(tier, Holding::Apps, present, 1)?)
}

/// The organization's tier if that has such a quota. Then this locks the organization's counts until the transaction
/// ends.
async fn limited_tier(write: &mut Write<'_>, holding: Holding) -> Result<Option<Tier>, ApiError> {
    let record = write.org().record().await?;
    let tier = record.ok_or(ApiError::NoSuch("organization"))?.tier;
    if write.app().config.quotas.holding_quota(tier, holding).is_none() {
        return Ok(None);
    }
    write.org().take_turn().await?;
    Ok(Some(tier))
}

/// What an organization stores now.
pub async fn holdings(org: &mut Org<'_>) -> Result<Holdings, ApiError> {
    Ok(Holdings {
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

/// Checks the quota of the organization's current tier.
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
