//! How long a start waits for a database that accepts connections, and does not answer.

use std::pin::pin;
use std::time::Duration;

use launchway_store::StoreError;
use tokio::time::timeout;

/// To open it, migrations included.
pub const OPENING: Duration = Duration::from_secs(60);
/// To read all updates.
pub const FILLING: Duration = Duration::from_secs(5 * 60);

/// Waits for the database, but no longer than `limit` if `can_do_without` then says that the node can start without it.
///
/// # Errors
/// Those of `work`, or that the database is not available.
pub async fn wait_for_database<T, E: From<StoreError>>(
    limit: Duration,
    work: impl Future<Output = Result<T, E>>,
    can_do_without: impl FnOnce() -> bool,
) -> Result<T, E> {
    let mut work = pin!(work);
    match timeout(limit, &mut work).await {
        Ok(done) => done,
        Err(_) if can_do_without() => Err(StoreError::timed_out().into()),
        Err(_) => work.await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_a_start_that_can_do_without_the_database_gives_up() {
        for (takes, can_do_without, is_done) in [(1, true, true), (61, true, false), (61, false, true)] {
            let work = async {
                sleep(Duration::from_secs(takes)).await;
                Ok::<_, StoreError>(())
            };
            let done = wait_for_database(OPENING, work, || can_do_without).await;
            match done {
                Ok(()) => assert!(is_done, "{takes}"),
                Err(error) => assert!(
                    !is_done && matches!(error, StoreError::Unavailable(_)),
                    "{takes}: {error}"
                ),
            }
        }
    }
}
