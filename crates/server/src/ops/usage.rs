//! Counting what organizations use: in the transaction of the change itself, so that what is refused is not counted.
//! The counter's row orders those who count at once, so a quota is never passed.

use launchway_domain::id::OrgId;
use launchway_domain::time::EpochMs;
use launchway_domain::usage::{Counter, Month, Quotas, Usage};
use launchway_store::Org;

use crate::app::App;
use crate::failure::Failure;
use crate::ops::write::Write;

/// Counts an update that is published, and the bytes that are stored for it: none when it has those of an earlier one.
///
/// # Errors
/// [`Failure::Forbidden`] when a quota leaves no room; the transaction must not be committed then. The same holds for all
/// that count here.
pub async fn count_update(write: &mut Write<'_>, stored: i64) -> Result<(), Failure> {
    count(write, Counter::Updates, 1).await?;
    match stored {
        0 => Ok(()),
        stored => count(write, Counter::Bytes, stored).await,
    }
}

/// Counts a build that is made. Nobody knows yet how long it will run: it is refused when no minute is left.
pub async fn count_build(write: &mut Write<'_>) -> Result<(), Failure> {
    let used = used(write).await?.get(Counter::BuildSeconds);
    allow(write, Counter::BuildSeconds, used, 1).await?;
    count(write, Counter::Builds, 1).await
}

/// Counts the seconds that a build ran. They were spent, so no quota refuses them.
pub async fn count_build_seconds(write: &mut Write<'_>, seconds: i64) -> Result<(), Failure> {
    let month = Month::of(write.now());
    write.org().count_usage(Counter::BuildSeconds, month, seconds).await?;
    Ok(())
}

/// Counts a submission that is made.
pub async fn count_submission(write: &mut Write<'_>) -> Result<(), Failure> {
    count(write, Counter::Submissions, 1).await
}

/// Whether an update with so many bytes could be published now: asked before its package is looked into, which costs.
/// The answer that counts is that of [`count_update`].
pub async fn room_for_update(app: &App, org: OrgId, bytes: i64, now: EpochMs) -> Result<(), Failure> {
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

async fn count(write: &mut Write<'_>, counter: Counter, amount: i64) -> Result<(), Failure> {
    let month = Month::of(write.now());
    let value = write.org().count_usage(counter, month, amount).await?;
    allow(write, counter, value - amount, amount).await
}

async fn used(write: &mut Write<'_>) -> Result<Usage, Failure> {
    let month = Month::of(write.now());
    Ok(write.org().usage_of(month).await?.unwrap_or_else(|| Usage::none(month)))
}

async fn allow(write: &mut Write<'_>, counter: Counter, used: i64, more: i64) -> Result<(), Failure> {
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
) -> Result<(), Failure> {
    if quotas.is_empty() {
        return Ok(());
    }
    let record = org.record().await?;
    let tier = record.ok_or(Failure::NoSuch("organization"))?.tier;
    Ok(quotas.check(tier, counter, month, used, more)?)
}
