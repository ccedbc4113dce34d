//! When a delivery is tried again (`docs/reference/webhooks.md#retries`), when it is given up, and when its webhook is
//! disabled (`docs/reference/webhooks.md#disabling`).

use crate::time::{DAY, EpochMs, HOUR, MINUTE, SECOND};

/// How long after a failed try comes the next: after the first, the second, and so on.
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
/// A webhook whose tries have all failed for so long is disabled.
pub const FAILING_LIMIT: EpochMs = 5 * DAY;
/// The status by which a receiver says that it wants nothing more: 410 Gone.
pub const GONE: u16 = 410;

/// What becomes of a delivery after a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The receiver took it.
    Done,
    /// It is tried again at this time.
    Again(EpochMs),
    /// It is given up.
    GivenUp,
}

/// Why a webhook is disabled by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disabled {
    /// The receiver answered 410.
    #[error("The receiver answered 410 Gone")]
    Gone,
    /// Every try has failed for five days.
    #[error("Every try has failed for five days")]
    Failing,
}

/// Whether a status says that the receiver took it: 2xx, and nothing else. A redirect is not followed.
pub const fn is_success(response_status: Option<u16>) -> bool {
    matches!(response_status, Some(200..=299))
}

/// What comes after a try that ended at `now`, answered with `response_status` or not at all. `tries` counts this one.
pub fn after_try(response_status: Option<u16>, tries: i64, now: EpochMs) -> Next {
    if is_success(response_status) {
        return Next::Done;
    }
    if response_status == Some(GONE) {
        return Next::GivenUp;
    }
    let place = usize::try_from(tries.saturating_sub(1)).unwrap_or(0);
    RETRIES
        .get(place)
        .map_or(Next::GivenUp, |pause| Next::Again(now + pause))
}

/// Whether a webhook is disabled after a try that ended at `now`. `failing_since` is when the first try failed after the
/// last that succeeded, this one included.
pub fn disabled_by(response_status: Option<u16>, failing_since: Option<EpochMs>, now: EpochMs) -> Option<Disabled> {
    if is_success(response_status) {
        None
    } else if response_status == Some(GONE) {
        Some(Disabled::Gone)
    } else {
        failing_since
            .filter(|since| now - since >= FAILING_LIMIT)
            .map(|_| Disabled::Failing)
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
            .map_while(|tries| match after_try(Some(500), tries, NOW) {
                Next::Again(at) => Some((at - NOW) / SECOND),
                _ => None,
            })
            .collect();
        assert_eq!(pauses, [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
        for tries in [10, 11, i64::MAX] {
            assert_eq!(after_try(None, tries, NOW), Next::GivenUp);
        }
        // A count that cannot be is no reason to give up.
        for tries in [0, -1, i64::MIN] {
            assert_eq!(after_try(None, tries, NOW), Next::Again(NOW + 5 * SECOND));
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
            assert_eq!(after_try(status, 1, NOW) == Next::Done, success, "{status:?}");
        }
    }

    #[test]
    fn a_webhook_is_disabled_at_410_or_after_five_days() {
        assert_eq!(after_try(Some(410), 1, NOW), Next::GivenUp);
        assert_eq!(disabled_by(Some(410), Some(NOW), NOW), Some(Disabled::Gone));
        for (status, since, disabled) in [
            (Some(200), Some(NOW - 9 * DAY), None),
            (Some(500), Some(NOW), None),
            (None, Some(NOW - 5 * DAY + 1), None),
            (None, Some(NOW - 5 * DAY), Some(Disabled::Failing)),
            (Some(404), Some(NOW - 6 * DAY), Some(Disabled::Failing)),
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
                match after_try(status, tries, now) {
                    Next::Again(at) => {
                        prop_assert!(at > now);
                        now = at;
                    }
                    end => break end,
                }
            };
            prop_assert_eq!(end == Next::Done, is_success(status));
            prop_assert!(tries <= 10 && now - NOW <= 4 * DAY);
        }

        #[test]
        fn success_and_disabling_exclude_each_other(status in prop::option::of(100u16..600), since in prop::option::of(0..NOW)) {
            let disabled = disabled_by(status, since, NOW);
            prop_assert!(disabled.is_none() || after_try(status, 1, NOW) != Next::Done);
        }
    }
}
