//! Waiting for something that another process does: looks again and again until a deadline.

use std::time::{Duration, Instant};

const GLANCE: Duration = Duration::from_millis(5);

/// Looks until `look` sees something; gives it, and how long that took.
///
/// # Panics
/// When nothing was seen within `limit`.
pub async fn until<T>(limit: Duration, what: &str, look: impl AsyncFnMut() -> Option<T>) -> (T, Duration) {
    until_paced(GLANCE, limit, what, look).await
}

/// As [`until`], for looks that the server counts against a limit of calls: with this pause between them.
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
        tokio::time::sleep(pause).await;
    }
}
