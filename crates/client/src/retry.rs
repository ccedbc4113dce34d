//! When a call is repeated and after which delay. Pure: what happened goes in, the delay comes out.

use std::fmt;
use std::time::Duration;

/// The maximum total delay of one call.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The first delay if the server names none; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The maximum number of attempts of a call.
const MOST_TRIES: u32 = 5;
/// The maximum total delay for something that is followed.
const RETRY_FOR: Duration = Duration::from_secs(600);
/// Delays stop growing after this many doublings, at 16 s.
const MOST_DOUBLINGS: u32 = 6;

/// Why a call is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The organization has used up its rate limit of this minute (429). The call had no effect.
    RateLimited,
    /// The server or a proxy cannot answer now (502, 503, 504).
    Unavailable,
    /// No connection was established. Nothing was sent.
    NotConnected,
    /// The connection broke or stalled; the call may have had an effect.
    Broken,
    /// The awaited change has not happened yet. This is not an error.
    Unchanged,
}

impl Reason {
    /// Whether the call certainly had no effect, so that even one that must not happen twice may be repeated.
    fn nothing_was_done(self) -> bool {
        matches!(self, Reason::RateLimited | Reason::NotConnected)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::RateLimited => "the rate limit of the organization is reached",
            Reason::Unavailable => "the server is not available",
            Reason::NotConnected => "the server cannot be reached",
            Reason::Broken => "the connection broke",
            Reason::Unchanged => "nothing has changed",
        })
    }
}

/// The attempts of one call so far.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    failed: u32,
    waited: Duration,
    persistent: bool,
}

impl Tries {
    /// For long-running followers: waits for a restart of the server, up to [`RETRY_FOR`].
    pub(crate) fn persistent() -> Self {
        Self {
            persistent: true,
            ..Self::default()
        }
    }

    /// Records a failed attempt and returns the delay before the next one; `None` means to give up.
    ///
    /// `asked` is the delay from the server's `Retry-After`. `repeatable` means that the call may happen twice.
    pub(crate) fn next_delay(&mut self, reason: Reason, asked: Option<Duration>, repeatable: bool) -> Option<Duration> {
        self.failed += 1;
        let (most_tries, longest_wait) = match self.persistent {
            true => (u32::MAX, RETRY_FOR),
            false => (MOST_TRIES, LONGEST_WAIT),
        };
        if self.failed >= most_tries || !(repeatable || reason.nothing_was_done()) {
            return None;
        }
        let delay = asked.unwrap_or(FIRST_WAIT * 2_u32.pow((self.failed - 1).min(MOST_DOUBLINGS)));
        let waited = self.waited.checked_add(delay)?;
        if waited > longest_wait {
            return None;
        }
        self.waited = waited;
        Some(delay)
    }
}

/// Parses `Retry-After` in seconds. Our server does not use its other form, a date, which is ignored.
pub(crate) fn retry_after(text: &str) -> Option<Duration> {
    text.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Reason; 4] = [
        Reason::RateLimited,
        Reason::Unavailable,
        Reason::NotConnected,
        Reason::Broken,
    ];

    #[test]
    fn waits_twice_as_long_each_time_and_gives_up_after_five_tries() {
        let mut tries = Tries::default();
        let delays: Vec<_> = (0..5)
            .map(|_| tries.next_delay(Reason::Unavailable, None, true))
            .collect();
        let millis = |number| Some(Duration::from_millis(number));
        assert_eq!(delays, [millis(250), millis(500), millis(1000), millis(2000), None]);
    }

    #[test]
    fn a_call_is_repeated_only_when_nothing_was_done() {
        for reason in ALL {
            let again = Tries::default().next_delay(reason, None, false).is_some();
            assert_eq!(
                again,
                matches!(reason, Reason::RateLimited | Reason::NotConnected),
                "{reason:?}"
            );
        }
    }

    #[test]
    fn does_as_the_server_asks_within_the_limit() {
        let mut tries = Tries::default();
        let seconds = |number| Some(Duration::from_secs(number));
        assert_eq!(tries.next_delay(Reason::RateLimited, seconds(20), false), seconds(20));
        assert_eq!(tries.next_delay(Reason::RateLimited, seconds(11), false), None);
        assert_eq!(
            Tries::default().next_delay(Reason::RateLimited, seconds(u64::MAX), false),
            None
        );
    }

    #[test]
    fn what_is_followed_is_waited_for_ten_minutes() {
        let mut tries = Tries::persistent();
        let delays: Vec<_> = std::iter::from_fn(|| tries.next_delay(Reason::NotConnected, None, true)).collect();
        assert_eq!(delays[6], Duration::from_secs(16));
        assert_eq!(delays.last(), Some(&Duration::from_secs(16)));
        let all: Duration = delays.iter().sum();
        assert!(all <= RETRY_FOR && all + Duration::from_secs(16) > RETRY_FOR, "{all:?}");
    }

    #[test]
    fn reads_seconds_only() {
        assert_eq!(retry_after(" 7 "), Some(Duration::from_secs(7)));
        for text in [
            "",
            "-1",
            "1.5",
            "soon",
            "Sat, 21 Nov 2026 07:28:00 GMT",
            "99999999999999999999",
        ] {
            assert_eq!(retry_after(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_waits_longer_than_thirty_seconds(asked in proptest::collection::vec(proptest::option::of(0_u64..40), 0..12)) {
            let mut tries = Tries::default();
            let waited: Duration = asked
                .into_iter()
                .filter_map(|seconds| tries.next_delay(Reason::RateLimited, seconds.map(Duration::from_secs), true))
                .sum();
            prop_assert!(waited <= LONGEST_WAIT);
        }
    }
}
