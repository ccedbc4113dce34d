//! The last reasons that devices reported of an update, equal ones together.

use launchway_api::open;
use launchway_api::reports::ReportReason;

/// Equal reasons.
#[derive(Debug, PartialEq, Eq)]
pub struct Reasons {
    pub kind: open::ReportKind,
    /// The device's own text.
    pub reason: String,
    /// How many of the last reasons are equal.
    pub count: usize,
    /// When the first of them was reported.
    pub first: String,
    /// When the last of them was reported.
    pub last: String,
}

/// Groups the last reasons, newest first: the most frequent first, and of equally frequent ones the newest.
pub fn grouped(reasons: &[ReportReason]) -> Vec<Reasons> {
    let mut groups: Vec<Reasons> = Vec::new();
    for one in reasons {
        let same = groups
            .iter_mut()
            .find(|group| group.kind == one.kind && group.reason == one.reason);
        match same {
            Some(group) => {
                group.count += 1;
                group.first.clone_from(&one.at);
            }
            None => groups.push(Reasons {
                kind: one.kind.clone(),
                reason: one.reason.clone(),
                count: 1,
                first: one.at.clone(),
                last: one.at.clone(),
            }),
        }
    }
    // The order of equal counts stays.
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    groups
}

#[cfg(test)]
mod tests {
    use launchway_domain::report::ReportKind;

    use super::{ReportReason, grouped};

    #[test]
    fn equal_reasons_are_one_and_the_frequent_come_first() {
        let reason = |kind: ReportKind, at: &str, reason: &str| ReportReason {
            kind: kind.into(),
            at: at.to_owned(),
            reason: reason.to_owned(),
        };
        let groups = grouped(&[
            reason(ReportKind::Failed, "6", "disk full"),
            reason(ReportKind::RolledBack, "5", "TypeError"),
            reason(ReportKind::Failed, "4", "TypeError"),
            reason(ReportKind::RolledBack, "3", "TypeError"),
            reason(ReportKind::RolledBack, "1", "TypeError"),
        ]);
        let seen: Vec<_> = groups
            .iter()
            .map(|group| {
                (
                    group.kind.as_str(),
                    group.reason.as_str(),
                    group.count,
                    group.first.as_str(),
                    group.last.as_str(),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("rolled_back", "TypeError", 3, "1", "5"),
                ("failed", "disk full", 1, "6", "6"),
                ("failed", "TypeError", 1, "4", "4"),
            ]
        );
        assert_eq!(grouped(&[]), []);
    }
}
