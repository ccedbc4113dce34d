//! When a delivery is attempted again (`docs/reference/webhooks.md#retries`), when it is given up, and when its webhook is
//! disabled (`docs/reference/webhooks.md#disabling`).

use crate::time::{DAY, EpochMs, HOUR, MINUTE, SECOND};

/// The delay before the next attempt: after the first failure, the second, and so on.
pub const RETRIES: [EpochMs; 9] = [
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
];
/// A webhook whose attempts have all failed for this long is disabled.
pub const FAILING_LIMIT: EpochMs = 5 * DAY;
/// The status by which a receiver unsubscribes: 410 Gone.
pub const GONE: u16 = 410;

/// What follows an attempt of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The receiver accepted it.
    Done,
    /// The next attempt is due at this time.
    RetryAt(EpochMs),
    /// It is given up.
    GivenUp,
}

/// Why the service disables a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DisableReason {
    /// The receiver answered 410.
    #[error("The receiver responded with 410 Gone")]
    Gone,
    /// Every attempt has failed for five days.
    #[error("Every attempt has failed for five days")]
    Failing,
}

/// Whether a status means that the receiver accepted it: only 2xx. A redirect is not followed.
pub const fn is_success(response_status: Option<u16>) -> bool {
    matches!(response_status, Some(200..=299))
}

/// Decides what follows an attempt that ended at `now` with `response_status`, or without a response. `tries` includes this
/// attempt.
pub fn after_attempt(response_status: Option<u16>, tries: i64, now: EpochMs) -> NextStep {
    if is_success(response_status) {
        return NextStep::Done;
    }
    if response_status == Some(GONE) {
        return NextStep::GivenUp;
    }
    let place = usize::try_from(tries.saturating_sub(1)).unwrap_or(0);
    RETRIES
        .get(place)
        .map_or(NextStep::GivenUp, |pause| NextStep::RetryAt(now + pause))
}

/// Decides whether a webhook is disabled after an attempt that ended at `now`. `failing_since` is the time of the first
/// failed attempt since the last success, this one included.
pub fn disabled_by(
    response_status: Option<u16>,
    failing_since: Option<EpochMs>,
    now: EpochMs,
) -> Option<DisableReason> {
    if is_success(response_status) {
        None
    } else if response_status == Some(GONE) {
        Some(DisableReason::Gone)
    } else {
        failing_since
            .filter(|since| now - since >= FAILING_LIMIT)
            .map(|_| DisableReason::Failing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: EpochMs = 1_795_255_200_000;

    #[test]
    fn the_schedule_is_that_of_the_reference() {
        let pauses: Vec<EpochMs> = (1..)
            .map_while(|tries| match after_attempt(Some(500), tries, NOW) {
                NextStep::RetryAt(at) => Some((at - NOW) / SECOND),
                _ => None,
            })
            .collect();
        assert_eq!(pauses, [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
        for tries in [10, 11, i64::MAX] {
            assert_eq!(after_attempt(None, tries, NOW), NextStep::GivenUp);
        }
        // An impossible count is no reason to give up.
        for tries in [0, -1, i64::MIN] {
            assert_eq!(after_attempt(None, tries, NOW), NextStep::RetryAt(NOW + 5 * SECOND));
        }
    }

    #[test]
    fn only_2xx_is_success() {
        for (status, success) in [
            (None, false),
            (Some(100), false),
            (Some(199), false),
            (Some(200), true),
            (Some(204), true),
            (Some(299), true),
            (Some(301), false),
            (Some(400), false),
            (Some(410), false),
            (Some(500), false),
        ] {
            assert_eq!(is_success(status), success, "{status:?}");
            assert_eq!(after_attempt(status, 1, NOW) == NextStep::Done, success, "{status:?}");
        }
    }

    #[test]
    fn a_webhook_is_disabled_at_410_or_after_five_days() {
        assert_eq!(after_attempt(Some(410), 1, NOW), NextStep::GivenUp);
        assert_eq!(disabled_by(Some(410), Some(NOW), NOW), Some(DisableReason::Gone));
        for (status, since, disabled) in [
            (Some(200), Some(NOW - 9 * DAY), None),
            (Some(500), Some(NOW), None),
            (None, Some(NOW - 5 * DAY + 1), None),
            (None, Some(NOW - 5 * DAY), Some(DisableReason::Failing)),
            (Some(404), Some(NOW - 6 * DAY), Some(DisableReason::Failing)),
            (Some(404), None, None),
        ] {
            assert_eq!(disabled_by(status, since, NOW), disabled, "{status:?} {since:?}");
        }
    }

    proptest! {
        #[test]
        fn every_delivery_ends(status in prop::option::of(100u16..600)) {
            let (mut now, mut tries) = (NOW, 0);
            let end = loop {
                tries += 1;
                match after_attempt(status, tries, now) {
                    NextStep::RetryAt(at) => {
                        prop_assert!(at > now);
                        now = at;
                    }
                    end => break end,
                }
            };
            prop_assert_eq!(end == NextStep::Done, is_success(status));
            prop_assert!(tries <= 10 && now - NOW <= 4 * DAY);
        }

        #[test]
        fn success_and_disabling_exclude_each_other(status in prop::option::of(100u16..600), since in prop::option::of(0..NOW)) {
            let disabled = disabled_by(status, since, NOW);
            prop_assert!(disabled.is_none() || after_attempt(status, 1, NOW) != NextStep::Done);
        }
    }
}
