//! The usage of an organization in a month, and its quotas.

use launchway_domain::tenancy::Tier;
use launchway_domain::usage::{Counter, Holding, Month, Quotas, Usage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;
use crate::words::UsageStatus;

/// The usage in a calendar month, in UTC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Usage)]
pub struct UsageView {
    /// The month.
    #[schema(example = "2026-11")]
    pub id: String,
    /// `running` for the current month, `complete` for a past one.
    pub status: open::UsageStatus,
    /// The current tier of the organization.
    #[schema(example = "free")]
    pub tier: open::Tier,
    /// The number of builds created.
    pub builds: i64,
    /// The minutes that builds ran; every started minute counts.
    pub build_minutes: i64,
    /// The number of submissions created.
    pub submissions: i64,
    /// The number of over-the-air updates published.
    pub updates: i64,
    /// The number of public checks for the organization's apps, updated every few seconds.
    pub checks: i64,
    /// The bytes of packages stored. Publishing the package of an earlier update again stores none.
    pub bytes: i64,
    /// The bytes currently in object storage, whatever the month: packages, sources, artifacts, logs, files of submissions, and
    /// unused uploads at their announced size.
    #[serde(default)]
    pub stored_bytes: i64,
    /// The number of bundle ids currently claimed, whatever the month. Those of deleted apps stay claimed.
    #[serde(default)]
    pub apps: i64,
    /// The current quotas of the tier.
    pub quotas: QuotasView,
}

/// The quotas for a month, and for what is held at any moment; `null` means unlimited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Quotas)]
pub struct QuotasView {
    /// Builds per month.
    pub builds: Option<u64>,
    /// Build minutes per month.
    pub build_minutes: Option<u64>,
    /// Submissions per month.
    pub submissions: Option<u64>,
    /// Over-the-air updates per month.
    pub updates: Option<u64>,
    /// Bytes of packages per month.
    pub bytes: Option<u64>,
    /// Bytes in object storage, at any moment.
    pub stored_bytes: Option<u64>,
    /// Bundle ids, at any moment.
    pub apps: Option<u64>,
}

/// What an organization currently holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Holdings {
    /// Bytes in object storage.
    pub stored_bytes: i64,
    /// Claimed bundle ids.
    pub apps: i64,
}

impl UsageView {
    /// The view of an organization's usage and holdings in this tier; `present` is the current month.
    pub fn of(usage: &Usage, present: Month, tier: Tier, quotas: &Quotas, held: Holdings) -> Self {
        let running = usage.month >= present;
        Self {
            id: usage.month.to_string(),
            status: if running {
                UsageStatus::Running
            } else {
                UsageStatus::Complete
            }
            .into(),
            tier: tier.into(),
            builds: usage.get(Counter::Builds),
            build_minutes: usage.build_minutes(),
            submissions: usage.get(Counter::Submissions),
            updates: usage.get(Counter::Updates),
            checks: usage.get(Counter::Checks),
            bytes: usage.get(Counter::Bytes),
            stored_bytes: held.stored_bytes,
            apps: held.apps,
            quotas: QuotasView {
                builds: quotas.monthly_quota(tier, Counter::Builds),
                build_minutes: quotas.monthly_quota(tier, Counter::BuildSeconds),
                submissions: quotas.monthly_quota(tier, Counter::Submissions),
                updates: quotas.monthly_quota(tier, Counter::Updates),
                bytes: quotas.monthly_quota(tier, Counter::Bytes),
                stored_bytes: quotas.holding_quota(tier, Holding::StoredBytes),
                apps: quotas.holding_quota(tier, Holding::Apps),
            },
        }
    }
}
