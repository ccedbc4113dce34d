//! Waiting for what another process does, of which no event tells: it looks again and again until a deadline. What happens in
//! the test's own process is waited for itself, or by its clock.

use std::thread;
use std::time::{Duration, Instant};

const GLANCE: Duration = Duration::from_millis(5);

/// Looks until `look` sees something; returns it, and how long that took.
///
/// # Panics
/// If it sees nothing within `limit`.
pub async fn until<T>(limit: Duration, what: &str, look: impl AsyncFnMut() -> Option<T>) -> (T, Duration) {
    until_paced(GLANCE, limit, what, look).await
}

/// As [`until`], for looks that the server counts against a limit of calls: with this pause between them.
///
/// # Panics
/// If it sees nothing within `limit`.
pub async fn until_paced<T>(
    pause: Duration,
    limit: Duration,
    what: &str,
    mut look: impl AsyncFnMut() -> Option<T>,
) -> (T, Duration) {
    let start = Instant::now();
    loop {
        if let Some(seen) = look().await {
            return (seen, start.elapsed());
        }
        assert!(start.elapsed() < limit, "after {limit:?} still not: {what}");
        pass(pause).await;
    }
}

/// As [`until_paced`], blocking the thread; `None` if it sees nothing within `limit`.
pub fn until_blocking<T>(pause: Duration, limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let seen = look();
        if seen.is_some() || start.elapsed() >= limit {
            return seen;
        }
        thread::sleep(pause);
    }
}

/// Lets time pass where it is the point: the moment at which a process is killed, a slow network, the pace of calls.
pub async fn pass(length: Duration) {
    tokio::time::sleep(length).await;
}
