//! What an organization uses in a calendar month, in UTC, what it holds at this moment, and how much of both a quota leaves.

mod month;
mod quotas;

use std::collections::HashMap;

pub use month::{Month, MonthError};
pub use quotas::{AtOnce, Holding, HoldingQuotaError, QuotaError, Quotas};

words! {
    /// What is counted.
    Counter, error = "there is no such counter",
    /// Builds that were made.
    Builds = "builds",
    /// Seconds that builds ran.
    BuildSeconds = "build_seconds",
    /// Submissions that were made.
    Submissions = "submissions",
    /// Over-the-air updates that were published.
    Updates = "updates",
    /// Public checks of the organization's apps.
    Checks = "checks",
    /// Bytes of packages that were stored.
    Bytes = "bytes",
}

impl Counter {
    /// What a quota of so many counts, in the words of a sentence: build minutes, not seconds.
    fn noun(self, most: u64) -> &'static str {
        let many = match self {
            Counter::BuildSeconds => "build minutes",
            other => other.as_str(),
        };
        if most == 1 { many.trim_end_matches('s') } else { many }
    }

    /// How many of what is counted make one of what a quota names.
    const fn unit(self) -> u64 {
        match self {
            Counter::BuildSeconds => 60,
            _ => 1,
        }
    }
}

/// What an organization used in one month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The month.
    pub month: Month,
    counts: HashMap<Counter, i64>,
}

impl Usage {
    /// Nothing used in a month.
    pub fn none(month: Month) -> Usage {
        Usage {
            month,
            counts: HashMap::new(),
        }
    }

    /// Sets what a counter stands at.
    pub fn set(&mut self, counter: Counter, value: i64) {
        self.counts.insert(counter, value);
    }

    /// What a counter stands at.
    pub fn get(&self, counter: Counter) -> i64 {
        self.counts.get(&counter).copied().unwrap_or(0)
    }

    /// The minutes that builds ran; one that has begun counts.
    pub fn build_minutes(&self) -> i64 {
        (self.get(Counter::BuildSeconds) + 59) / 60
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_that_began_count() {
        let mut usage = Usage::none("2026-11".parse().expect("a month"));
        for (seconds, minutes) in [(0, 0), (1, 1), (60, 1), (61, 2)] {
            usage.set(Counter::BuildSeconds, seconds);
            assert_eq!(usage.build_minutes(), minutes);
        }
    }
}
