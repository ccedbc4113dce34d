//! Folds the kept totals of lists (`docs/adr/0028-totals-of-lists-are-kept.md`): for the job, and after a restore.

use std::time::Duration;

use launchway_store::{Db, FoldCursor, StoreError, UnfoldedList};

/// The rows that one transaction folds. Changes of SQLite wait for it.
const AT_ONCE: i64 = 5_000;
/// Between two transactions: another process that waits for SQLite's writer only looks now and then whether it is free.
const PAUSE: Duration = Duration::from_millis(20);
const BATCH: i64 = 100;
const REASON: &str = "lists of every tenant are folded";

/// Folds each list with many totals. Other changes get their turn between the transactions, and totals are right after each of them: this may
/// be stopped anywhere, and begins again with the lists that are still long.
pub async fn fold(db: &Db) -> Result<(), StoreError> {
    loop {
        let mut tx = db.read().await?;
        let unfolded = tx.system(REASON).unfolded_lists(BATCH).await?;
        drop(tx);
        for list in &unfolded {
            fold_list(db, list).await?;
        }
        if unfolded.len() < BATCH as usize {
            return Ok(());
        }
    }
}

async fn fold_list(db: &Db, list: &UnfoldedList) -> Result<(), StoreError> {
    let mut from = FoldCursor::default();
    loop {
        let mut tx = db.write().await?;
        let cursor = tx.system(REASON).fold_list(list, &from, AT_ONCE).await?;
        tx.commit().await?;
        match cursor {
            Some(cursor) => from = cursor,
            None => return Ok(()),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
