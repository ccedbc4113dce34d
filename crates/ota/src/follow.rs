//! Follows the database: a change by any process reaches this process's index within a second.

use std::sync::Arc;
use std::time::Duration;

use launchway_store::{Db, StoreError};

use crate::Index;

const RETRY: Duration = Duration::from_millis(250);

/// Follows until the process ends. While the database is unreachable, the index answers from its last state.
pub async fn run(db: Db, index: Arc<Index>) {
    let mut away = false;
    loop {
        match follow(&db, &index, &mut away).await {
            Ok(never) => match never {},
            Err(error) => {
                if !std::mem::replace(&mut away, true) {
                    tracing::warn!(%error, "the database is not available; checks are answered from memory");
                }
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

async fn follow(db: &Db, index: &Index, away: &mut bool) -> Result<std::convert::Infallible, StoreError> {
    let mut watch = db.watch().await?;
    loop {
        index.catch_up(db).await?;
        if std::mem::take(away) {
            tracing::info!("the database is available again");
        }
        watch.changed().await?;
    }
}
