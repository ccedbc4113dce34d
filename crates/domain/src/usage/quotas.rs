//! How much an organization of each tier may use in a month, run at once, and hold.

use std::collections::HashMap;

use super::{Counter, Month};
use crate::tenancy::Tier;

/// A quantity that is limited at any moment, not per month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Concurrency {
    /// Running builds.
    RunningBuilds,
    /// Queued builds.
    QueuedBuilds,
}

/// A quantity that an organization holds, limited regardless of the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holding {
    /// Bytes in object storage.
    StoredBytes,
    /// Claimed bundle ids.
    Apps,
}

/// The quotas of each tier. A missing entry means no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    by_month: HashMap<(Tier, Counter), u64>,
    at_once: HashMap<(Tier, Concurrency), u64>,
    held: HashMap<(Tier, Holding), u64>,
}

/// The quota leaves too little for the request. The message tells the caller what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "This organization {} {most} {} of {} (tier {tier}). Wait for the next month, which starts {}-01, or ask the \
     operator to change --quotas or the tier.",
    if *.used_up { "used its" } else { "would use more than its" },
    .counter.noun(*.most),
    .month.in_words(),
    .month.next()
)]
pub struct QuotaError {
    tier: Tier,
    counter: Counter,
    month: Month,
    most: u64,
    used_up: bool,
}

/// The quota leaves too little room to hold the request's data. The message tells the caller what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HoldingQuotaError {
    /// The quota of bytes.
    #[error(
        "This organization stores {held} of its {most} bytes (tier {tier}), so {more} more do not fit. Delete \
         unneeded updates, builds or submissions, or ask the operator to change --quotas or the tier."
    )]
    StoredBytes {
        /// The tier.
        tier: Tier,
        /// Bytes stored, announced uploads included.
        held: u64,
        /// Bytes allowed.
        most: u64,
        /// Bytes requested.
        more: u64,
    },
    /// The quota of bundle ids.
    #[error(
        "This organization has claimed its {most} bundle ids (tier {tier}), including those of deleted apps. Ask the \
         operator to change --quotas or the tier, or to transfer an app to another organization."
    )]
    Apps {
        /// The tier.
        tier: Tier,
        /// Bundle ids that may be claimed.
        most: u64,
    },
}

impl Quotas {
    /// Sets how much a tier may hold of something.
    pub fn set_holding_quota(&mut self, tier: Tier, holding: Holding, most: u64) {
        self.held.insert((tier, holding), most);
    }

    /// How much a tier may hold of something; `None` for no limit.
    pub fn holding_quota(&self, tier: Tier, holding: Holding) -> Option<u64> {
        self.held.get(&(tier, holding)).copied()
    }

    /// Checks that an organization that holds `held` may hold `more`.
    ///
    /// # Errors
    /// [`HoldingQuotaError`] if the sum exceeds the tier's quota.
    pub fn check_holding(&self, tier: Tier, holding: Holding, held: i64, more: i64) -> Result<(), HoldingQuotaError> {
        let Some(most) = self.holding_quota(tier, holding) else {
            return Ok(());
        };
        let (held, more) = (u64::try_from(held).unwrap_or(0), u64::try_from(more).unwrap_or(0));
        if held.saturating_add(more) <= most {
            return Ok(());
        }
        Err(match holding {
            Holding::StoredBytes => HoldingQuotaError::StoredBytes { tier, held, most, more },
            Holding::Apps => HoldingQuotaError::Apps { tier, most },
        })
    }

    /// Sets how much a tier may use of something in a month: build minutes where build seconds are counted.
    pub fn set_monthly_quota(&mut self, tier: Tier, counter: Counter, most: u64) {
        self.by_month.insert((tier, counter), most);
    }

    /// How much a tier may use of something in a month (build minutes, not seconds); `None` for no limit.
    pub fn monthly_quota(&self, tier: Tier, counter: Counter) -> Option<u64> {
        self.by_month.get(&(tier, counter)).copied()
    }

    /// Sets how much of something a tier may have at once.
    pub fn set_concurrency_quota(&mut self, tier: Tier, what: Concurrency, most: u64) {
        self.at_once.insert((tier, what), most);
    }

    /// How much of something a tier may have at once; `None` for no limit.
    pub fn concurrency_quota(&self, tier: Tier, what: Concurrency) -> Option<u64> {
        self.at_once.get(&(tier, what)).copied()
    }

    /// Whether there is no monthly quota.
    pub fn is_empty(&self) -> bool {
        self.by_month.is_empty()
    }

    /// Checks that a month's counter may grow from `used` to `used + more`.
    ///
    /// # Errors
    /// [`QuotaError`] if the sum exceeds the tier's quota.
    pub fn check(&self, tier: Tier, counter: Counter, month: Month, used: i64, more: i64) -> Result<(), QuotaError> {
        let Some(most) = self.monthly_quota(tier, counter) else {
            return Ok(());
        };
        let room = most.saturating_mul(counter.unit());
        let (used, more) = (u64::try_from(used).unwrap_or(0), u64::try_from(more).unwrap_or(0));
        if used.saturating_add(more) <= room {
            return Ok(());
        }
        Err(QuotaError {
            tier,
            counter,
            month,
            most,
            used_up: used >= room,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn month(text: &str) -> Month {
        text.parse().expect(text)
    }

    #[test]
    fn a_quota_is_reached_and_not_passed() {
        let mut quotas = Quotas::default();
        quotas.set_monthly_quota(Tier::Free, Counter::Updates, 20);
        quotas.set_monthly_quota(Tier::Free, Counter::BuildSeconds, 2);
        let november = month("2026-11");
        let check = |counter, used, more| quotas.check(Tier::Free, counter, november, used, more);
        assert_eq!(check(Counter::Updates, 19, 1), Ok(()));
        assert_eq!(check(Counter::BuildSeconds, 119, 1), Ok(()));
        assert_eq!(check(Counter::Checks, i64::MAX, i64::MAX), Ok(()), "not limited");
        assert_eq!(
            quotas.check(Tier::Pro, Counter::Updates, november, 99, 1),
            Ok(()),
            "another tier"
        );
        assert_eq!(
            check(Counter::Updates, 20, 1).expect_err("full").to_string(),
            "This organization used its 20 updates of November 2026 (tier free). Wait for the next month, which \
             starts 2026-12-01, or ask the operator to change --quotas or the tier."
        );
        let minutes = check(Counter::BuildSeconds, 120, 1).expect_err("full").to_string();
        assert!(
            minutes.starts_with("This organization used its 2 build minutes of November 2026"),
            "{minutes}"
        );
    }

    #[test]
    fn what_is_held_may_reach_its_quota_and_not_pass_it() {
        let mut quotas = Quotas::default();
        quotas.set_holding_quota(Tier::Free, Holding::StoredBytes, 100);
        quotas.set_holding_quota(Tier::Free, Holding::Apps, 2);
        let check = |holding, held, more| quotas.check_holding(Tier::Free, holding, held, more);
        assert_eq!(check(Holding::StoredBytes, 60, 40), Ok(()));
        assert_eq!(check(Holding::Apps, 1, 1), Ok(()));
        assert_eq!(
            quotas.check_holding(Tier::Pro, Holding::Apps, i64::MAX, i64::MAX),
            Ok(()),
            "not limited"
        );
        assert_eq!(
            check(Holding::StoredBytes, 60, 41).expect_err("too many").to_string(),
            "This organization stores 60 of its 100 bytes (tier free), so 41 more do not fit. Delete unneeded \
             updates, builds or submissions, or ask the operator to change --quotas or the tier."
        );
        check(Holding::StoredBytes, i64::MAX, i64::MAX).expect_err("no overflow");
        let apps = check(Holding::Apps, 2, 1).expect_err("too many").to_string();
        assert!(
            apps.starts_with("This organization has claimed its 2 bundle ids (tier free)"),
            "{apps}"
        );
    }

    #[test]
    fn what_does_not_fit_is_told_from_what_is_used_up() {
        let mut quotas = Quotas::default();
        quotas.set_monthly_quota(Tier::Pro, Counter::Bytes, 1000);
        let refused = quotas.check(Tier::Pro, Counter::Bytes, month("2026-12"), 900, 101);
        let told = refused.expect_err("too many").to_string();
        assert!(
            told.starts_with("This organization would use more than its 1000 bytes of December 2026 (tier pro)")
                && told.contains("2027-01-01"),
            "{told}"
        );
    }
}
