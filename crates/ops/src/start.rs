//! The start of a node whose database does not answer: it answers checks from its local snapshot, and becomes whole later
//! (`docs/reference/operation.md#local-snapshot`).

use launchway_config::ConfigError;
use launchway_store::{Db, StoreError};
use launchway_vault::MASTER_KEY_CHECK;

use crate::app::{App, StartError, open_vault};
use crate::patience::{self, wait_for_database};

/// Fills the index from the database or, while that does not answer, from the local snapshot. Returns whether the database
/// has answered.
///
/// # Errors
/// [`StartError`]: the node cannot answer checks.
pub async fn fill_index(app: &App) -> Result<bool, StartError> {
    let has_snapshot = || {
        app.local_snapshot
            .as_ref()
            .is_some_and(|local| local.has_one(&*app.random))
    };
    let filled = wait_for_database(patience::FILLING, app.index.catch_up(&app.db), has_snapshot);
    let away = match filled.await {
        Ok(()) => return Ok(true),
        Err(error @ StoreError::Unavailable(_)) => StartError::from(error),
        Err(error) => return Err(error.into()),
    };
    let Some(local) = &app.local_snapshot else {
        return Err(away);
    };
    let refused = |refusal| StartError::no_snapshot(&away, refusal);
    let Some((_, found)) = local.find(&*app.random).map_err(refused)? else {
        return Err(away);
    };
    let filled = app.index.start_from(&local.keeper, &found).await;
    filled.map_err(|refusal| StartError::no_snapshot(&away, refusal.into()))?;
    let age = local.age(&app.index, app.clock.now()).map_or(0, |age| age.seconds);
    tracing::warn!(error = %away, age, "the database is not available; checks are answered from the local snapshot");
    Ok(false)
}

/// Tries the database once after a start without it. When this returns, the index follows it.
///
/// # Errors
/// [`StartError`]; see [`StartError::may_pass`].
pub async fn arrive(app: &App) -> Result<(), StartError> {
    if !app.db.has_arrived() {
        let db = Db::open(app.config.database_url.reveal()).await?;
        if let Err(error) = confirm(app, &db).await {
            db.close().await;
            return Err(error);
        }
        app.db.arrive(&db);
    }
    Ok(app.index.catch_up(&app.db).await?)
}

/// Refuses a database of another installation than the snapshot's, as a start refuses another master key.
async fn confirm(app: &App, db: &Db) -> Result<(), StartError> {
    let mut tx = db.read().await?;
    let known = tx.system("the installation's own facts").meta(MASTER_KEY_CHECK).await?;
    drop(tx);
    let is_same = known.is_some()
        && open_vault(&app.config, db, &app.clock, &app.random)
            .await?
            .is_of_installation(&app.vault);
    if is_same {
        return Ok(());
    }
    let problem = "is not the database from which the snapshot in --snapshot-dir was written; delete the snapshot";
    Err(ConfigError::new("--database-url", problem).into())
}
