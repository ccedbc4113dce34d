//! Waiting for something that another process does: looks again and again until a deadline.

use std::time::{Duration, Instant};

const GLANCE: Duration = Duration::from_millis(5);

/// Looks until `look` sees something; gives it, and how long that took.
///
/// # Panics
/// When nothing was seen within `limit`.
pub async fn until<T>(limit: Duration, what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> (T, Duration) {
    let start = Instant::now();
    loop {
        if let Some(seen) = look().await {
            return (seen, start.elapsed());
        }
        assert!(start.elapsed() < limit, "after {limit:?} still not: {what}");
        tokio::time::sleep(GLANCE).await;
    }
}
