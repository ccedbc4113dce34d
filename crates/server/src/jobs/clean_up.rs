//! Clean-up: uploads whose time is over, copies that came to nothing, packages that no update names, old bookkeeping.
//! Every step can be repeated and interrupted.

use std::sync::Arc;
use std::time::Duration;

use launchway_domain::app::{Package, SIGNED_URL_LIFE, UPLOAD_LIFE, Upload};
use launchway_domain::org::SESSION_IDLE;
use launchway_domain::time::{DAY, EpochMs, HOUR, MINUTE};
use launchway_domain::webhook::DELIVERY_LIFE;

use crate::app::App;
use crate::blob::Key;
use crate::failure::Failure;
use crate::ops::uploads::{copies_of, staging_key};
use crate::ops::write::ANSWER_LIFE;

const EVERY: Duration = Duration::from_secs(60);
const BATCH: i64 = 100;
/// Rows of bookkeeping forgotten in one transaction.
const MANY: i64 = 1000;
/// What broken uploads left is looked for at every so many clean-ups, for it means to walk the whole storage.
const SWEEP: u64 = 60;
/// A package is kept so long after its last update is gone: a signed URL may still be in use.
const PACKAGE_GRACE: i64 = SIGNED_URL_LIFE + HOUR;

/// Cleans up every minute.
pub async fn run(app: Arc<App>) {
    let mut tick = tokio::time::interval(EVERY);
    for round in 0u64.. {
        tick.tick().await;
        if let Err(failure) = clean_up(&app).await {
            tracing::warn!(error = %failure, "clean-up will be tried again");
        }
        if round.is_multiple_of(SWEEP)
            && let Err(error) = app.blob.remove_abandoned(app.clock.now() - UPLOAD_LIFE).await
        {
            tracing::warn!(%error, "what broken uploads left will be looked for again");
        }
    }
}

/// Cleans up once.
pub async fn clean_up(app: &App) -> Result<(), Failure> {
    let now = app.clock.now();
    loop {
        let expired = app
            .db
            .read()
            .await?
            .system("clean-up serves every tenant")
            .expired_uploads(now, BATCH)
            .await?;
        for upload in &expired {
            remove_upload(app, upload).await?;
        }
        if expired.len() < BATCH as usize {
            break;
        }
    }
    let unused = app
        .db
        .read()
        .await?
        .system("clean-up serves every tenant")
        .unused_packages(now - PACKAGE_GRACE, BATCH)
        .await?;
    for package in &unused {
        remove_package(app, package).await?;
    }
    forget_told(app, now - DELIVERY_LIFE).await?;
    let mut tx = app.db.write().await?;
    let mut system = tx.system("clean-up serves every tenant");
    system.forget_answers_before(now - ANSWER_LIFE).await?;
    system.forget_sessions_before(now - SESSION_IDLE).await?;
    system.forget_changes_before(now - DAY).await?;
    system.forget_counts_before(now / MINUTE - 1).await?;
    tx.commit().await?;
    Ok(())
}

/// Forgets events and deliveries that ended long ago, some at a time: there may be very many.
async fn forget_told(app: &App, before: EpochMs) -> Result<(), Failure> {
    loop {
        let mut tx = app.db.write().await?;
        let mut system = tx.system("clean-up serves every tenant");
        let deliveries = system.forget_deliveries_before(before, MANY).await?;
        let events = system.forget_events_before(before, MANY).await?;
        tx.commit().await?;
        if deliveries.max(events) < MANY as u64 {
            return Ok(());
        }
    }
}

/// Removes what an upload left: its staged bytes, and copies that no package names.
async fn remove_upload(app: &App, upload: &Upload) -> Result<(), Failure> {
    app.blob.delete(&staging_key(upload.id)?).await?;
    for copy in app.blob.list(Some(&copies_of(upload.id)?)).await? {
        let named = app
            .db
            .read()
            .await?
            .system("clean-up serves every tenant")
            .names_blob(copy.as_str())
            .await?;
        if !named {
            app.blob.delete(&copy).await?;
        }
    }
    let mut tx = app.db.write().await?;
    tx.system("clean-up serves every tenant")
        .forget_upload(upload.id)
        .await?;
    tx.commit().await?;
    Ok(())
}

/// Removes the bytes of a package: first its row stops naming them, so that nothing is offered that is gone.
async fn remove_package(app: &App, package: &Package) -> Result<(), Failure> {
    let mut tx = app.db.write().await?;
    let retired = tx
        .system("clean-up serves every tenant")
        .retire_package(package.id)
        .await?;
    tx.commit().await?;
    if let (true, Ok(key)) = (retired, Key::new(&package.blob_key)) {
        app.blob.delete(&key).await?;
    }
    Ok(())
}
