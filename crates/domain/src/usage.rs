//! What an organization uses in a calendar month, in UTC, what it currently holds, and how much of both a quota leaves.

mod month;
mod quotas;

use std::collections::HashMap;

pub use month::{Month, MonthError};
pub use quotas::{Concurrency, Holding, HoldingQuotaError, QuotaError, Quotas};

words! {
    /// A quantity that is counted per month.
    Counter, error = "there is no such counter",
    /// Builds created.
    Builds = "builds",
    /// Seconds of build time.
    BuildSeconds = "build_seconds",
    /// Submissions created.
    Submissions = "submissions",
    /// Over-the-air updates published.
    Updates = "updates",
    /// Public checks of the organization's apps.
    Checks = "checks",
    /// Bytes of stored packages.
    Bytes = "bytes",
}

impl Counter {
    /// The unit of a quota in a sentence: build minutes, not seconds.
    fn noun(self, most: u64) -> &'static str {
        let many = match self {
            Counter::BuildSeconds => "build minutes",
            other => other.as_str(),
        };
        if most == 1 { many.trim_end_matches('s') } else { many }
    }

    /// How many counted units make one unit of the quota.
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
    /// No usage in a month.
    pub fn none(month: Month) -> Usage {
        Usage {
            month,
            counts: HashMap::new(),
        }
    }

    /// Sets the value of a counter.
    pub fn set(&mut self, counter: Counter, value: i64) {
        self.counts.insert(counter, value);
    }

    /// The value of a counter.
    pub fn get(&self, counter: Counter) -> i64 {
        self.counts.get(&counter).copied().unwrap_or(0)
    }

    /// The build time in minutes, rounded up.
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
