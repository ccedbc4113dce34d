//! Waits for a server that has just got many rows at once.

use std::time::Duration;

use anyhow::Context;
use launchway_store::Db;

/// How long a server may take.
const LIMIT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(100);

/// Returns once the server has folded the totals of all lists in this database, as it would have while the rows came one by one.
///
/// # Errors
/// When the database fails, or the server takes too long.
pub async fn wait(database: &str) -> anyhow::Result<()> {
    let db = Db::open(database).await?;
    let folded = async {
        while !db
            .read()
            .await?
            .system("a benchmark")
            .unfolded_lists(1)
            .await?
            .is_empty()
        {
            tokio::time::sleep(PAUSE).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(LIMIT, folded)
        .await
        .context("the server does not fold the totals of lists")??;
    db.close().await;
    Ok(())
}
