//! Usage: what an organization used in a month, and its quotas.

use launchway_domain::tenancy::Tier;
use launchway_domain::usage::{Counter, Holding, Month, Quotas, Usage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;
use crate::words::UsageStatus;

/// What was used in a calendar month, in UTC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Usage)]
pub struct UsageView {
    /// The month.
    #[schema(example = "2026-11")]
    pub id: String,
    /// `running` for the present month, `complete` for one that is over.
    pub status: open::UsageStatus,
    /// The tier of the organization, as it is now.
    #[schema(example = "free")]
    pub tier: open::Tier,
    /// Builds that were made.
    pub builds: i64,
    /// Minutes that builds ran; one that began counts.
    pub build_minutes: i64,
    /// Submissions that were made.
    pub submissions: i64,
    /// Over-the-air updates that were published.
    pub updates: i64,
    /// Public checks of the organization's apps; some seconds late.
    pub checks: i64,
    /// Bytes of packages that were stored. Publishing the bytes of an earlier update anew stores none.
    pub bytes: i64,
    /// Bytes in object storage now, whatever the month: packages, sources, artifacts, logs, files of submissions, and uploads that
    /// are not used yet at their announced size.
    #[serde(default)]
    pub stored_bytes: i64,
    /// Bundle ids that are claimed now, whatever the month; those of deleted apps stay claimed.
    #[serde(default)]
    pub apps: i64,
    /// What the tier may use in a month and hold at any moment, as it is now.
    pub quotas: QuotasView,
}

/// What may be used in a month and held at any moment; `null` is without limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Quotas)]
pub struct QuotasView {
    /// Builds.
    pub builds: Option<u64>,
    /// Minutes that builds run.
    pub build_minutes: Option<u64>,
    /// Submissions.
    pub submissions: Option<u64>,
    /// Over-the-air updates.
    pub updates: Option<u64>,
    /// Bytes of packages.
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
    /// The usage and holdings of an organization of this tier; `present` is the current month.
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
