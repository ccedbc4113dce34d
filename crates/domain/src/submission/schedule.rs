//! When the next step of a submission is due: after a failure, and while the app store works
//! (`docs/reference/submissions.md#waiting-for-a-store`).

use super::SubmissionStatus;
use crate::time::{DAY, EpochMs, HOUR, MINUTE, SECOND};

/// The delay before a failed step is tried again: after the first failure in a row, the second, and so on. The last one
/// applies to all further failures.
pub const RETRIES: [EpochMs; 8] = [
    2 * SECOND,
    5 * SECOND,
    15 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
];
/// A step that fails for this long is given up. The submission can be retried.
pub const FAILING_LIMIT: EpochMs = DAY;
/// The longest `Retry-After` of an app store that is respected.
pub const LONGEST_WAIT: EpochMs = HOUR;
/// How long an app store may process a binary before it is considered lost.
pub const PROCESSING_LIMIT: EpochMs = 2 * DAY;
/// How long a submission waits for another review of the same app to end.
pub const OTHER_REVIEW_LIMIT: EpochMs = 14 * DAY;

/// When a step that failed at `now` is tried again. `failures` counts the failures in a row, this one included;
/// `failing_since` is the time of the first of them; `retry_after` is the delay that the app store asked for. `None` means
/// to give up.
pub fn after_failure(
    failures: u32,
    failing_since: EpochMs,
    retry_after: Option<EpochMs>,
    now: EpochMs,
) -> Option<EpochMs> {
    if now - failing_since >= FAILING_LIMIT {
        return None;
    }
    let place = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    let pause = RETRIES.get(place).copied().unwrap_or(RETRIES[RETRIES.len() - 1]);
    let asked = retry_after.unwrap_or(0).clamp(0, LONGEST_WAIT);
    Some(now + pause.max(asked))
}

/// How long to wait before the app store is polled again, if the submission has been in `status` for `since`.
pub fn poll(status: SubmissionStatus, since: EpochMs) -> EpochMs {
    match status {
        SubmissionStatus::InReview if since >= HOUR => 10 * MINUTE,
        SubmissionStatus::InReview => MINUTE,
        SubmissionStatus::RollingOut | SubmissionStatus::Halted => 30 * MINUTE,
        _ if since >= HOUR => 5 * MINUTE,
        _ if since >= 10 * MINUTE => MINUTE,
        _ => 10 * SECOND,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: EpochMs = 1_795_255_200_000;

    #[test]
    fn pauses_grow_and_obey_the_store() {
        for (failures, retry_after, wanted) in [
            (0, None, Some(2 * SECOND)),
            (1, None, Some(2 * SECOND)),
            (4, None, Some(MINUTE)),
            (8, None, Some(30 * MINUTE)),
            (u32::MAX, None, Some(30 * MINUTE)),
            (1, Some(90 * SECOND), Some(90 * SECOND)),
            (1, Some(-1), Some(2 * SECOND)),
            (1, Some(9 * DAY), Some(HOUR)),
            (8, Some(SECOND), Some(30 * MINUTE)),
        ] {
            let next = after_failure(failures, NOW, retry_after, NOW).map(|at| at - NOW);
            assert_eq!(next, wanted, "{failures} {retry_after:?}");
        }
        assert_eq!(after_failure(9, NOW - DAY, None, NOW), None);
        assert_eq!(after_failure(9, NOW - DAY + 1, None, NOW), Some(NOW + 30 * MINUTE));
    }

    proptest! {
        #[test]
        fn trouble_always_ends(retry_after in prop::option::of(any::<i64>())) {
            let (mut now, mut failures) = (NOW, 0);
            while let Some(next) = { failures += 1; after_failure(failures, NOW, retry_after, now) } {
                prop_assert!(next > now);
                now = next;
            }
            prop_assert!(failures < 70 && now - NOW < 2 * DAY);
        }

        #[test]
        fn a_store_is_not_asked_more_and_more_often(status in prop::sample::select(&SubmissionStatus::ALL), since in 0..DAY) {
            prop_assert!(poll(status, since) >= 10 * SECOND);
            prop_assert!(poll(status, since) <= poll(status, since + HOUR));
        }
    }
}
