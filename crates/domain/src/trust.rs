//! What the server keeps of signed updates: its online keys, its bounds, and when it announces that a role expires
//! (`docs/reference/trust.md#what-the-server-keeps`).

use crate::time::{DAY, EpochMs};

/// The maximum number of delegated roles of an app, including those that were removed: the snapshot lists them too.
pub const MAX_DELEGATED_ROLES: usize = 64;
/// The highest version of a root. Every node holds all roots of an app in memory, for phones that were off for long.
pub const MAX_ROOT_VERSION: u64 = 256;
/// How many days before its expiry a role is announced.
const NOTICE_DAYS: [i64; 2] = [30, 7];

words! {
    /// What a key of the server for snapshot and timestamp is.
    OnlineKeyState:
    /// Made, and named by no root yet.
    Pending = "pending",
    /// Named by the current root.
    Current = "current",
    /// Named by an earlier root.
    Retired = "retired",
}

/// When the first notice about a role that expires then is due. Snapshot and timestamp are renewed by the server, and have none.
pub fn first_notice(role: &str, expires_at: EpochMs) -> Option<EpochMs> {
    let is_online = matches!(role, "snapshot" | "timestamp");
    (!is_online).then(|| expires_at.saturating_sub(NOTICE_DAYS[0] * DAY))
}

/// When the notice after one that is sent now is due. Notices that the server missed are not sent later.
pub fn next_notice(expires_at: EpochMs, now: EpochMs) -> Option<EpochMs> {
    let mut times = NOTICE_DAYS.iter().map(|days| expires_at.saturating_sub(days * DAY));
    times.find(|time| *time > now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_announced_a_month_and_a_week_before_it_expires() {
        let end = 100 * DAY;
        assert_eq!(first_notice("c-production", end), Some(70 * DAY));
        assert_eq!(next_notice(end, 70 * DAY - 1), Some(70 * DAY));
        assert_eq!(next_notice(end, 70 * DAY), Some(93 * DAY));
        assert_eq!(next_notice(end, 93 * DAY - 1), Some(93 * DAY));
        assert_eq!(next_notice(end, 93 * DAY), None);
        assert_eq!(next_notice(end, 200 * DAY), None);
    }

    #[test]
    fn what_the_server_renews_is_not_announced() {
        assert_eq!(first_notice("snapshot", 100 * DAY), None);
        assert_eq!(first_notice("timestamp", 100 * DAY), None);
        assert!(first_notice("root", 100 * DAY).is_some() && first_notice("targets", 100 * DAY).is_some());
    }
}
