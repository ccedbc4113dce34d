//! Clean-up: expired uploads, unused copies, packages without updates, files of old builds and submissions, updates that
//! nobody signed, old bookkeeping. Every step can be repeated and interrupted. It runs on the node that holds its lease.

use std::sync::Arc;
use std::time::Duration;

use launchway_blob::Key;
use launchway_domain::app::{Package, SIGNED_URL_LIFE, UPLOAD_LIFE, Upload};
use launchway_domain::crash::CRASH_DAYS;
use launchway_domain::device_login::DEVICE_LOGIN_LIFE;
use launchway_domain::report::REPORT_DAYS;
use launchway_domain::time::{DAY, EpochMs, HOUR, MINUTE};
use launchway_domain::webhook::DELIVERY_LIFE;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::uploads::{copies_of, staging_key};
use launchway_ops::webhook_urls;
use launchway_ops::write::ANSWER_LIFE;
use launchway_store::{FORGOTTEN_AT_ONCE, day_of};

use crate::sweep::sweep;
use crate::{old_builds, old_submissions, unsigned_updates};

const EVERY: Duration = Duration::from_secs(60);
const BATCH: i64 = 100;
/// Rows of bookkeeping that one transaction deletes.
const MANY: i64 = 1000;
/// Groups (update and kind) whose devices one transaction deletes. Each may have thousands of rows.
const SILENT: i64 = 10;
/// The remains of broken uploads are removed only at every so many clean-ups, because that walks the whole storage.
const ABANDONED: u64 = 60;
/// How long a package is kept after its last update is deleted: a signed URL may still be in use.
const PACKAGE_GRACE: i64 = SIGNED_URL_LIFE + HOUR;
const REASON: &str = "clean-up serves every tenant";

/// Cleans up every minute.
pub async fn run(app: Arc<App>) {
    let mut tick = tokio::time::interval(EVERY);
    for round in 0u64.. {
        tick.tick().await;
        if let Err(failure) = clean_up(&app).await {
            tracing::warn!(error = %failure, "clean-up failed; retrying later");
        }
        if let Err(failure) = sweep(&app).await {
            tracing::warn!(error = %failure, "the sweep of the object storage was interrupted; it continues later");
        }
        if round.is_multiple_of(ABANDONED)
            && let Err(error) = app.blob.remove_abandoned(app.clock.now() - UPLOAD_LIFE).await
        {
            tracing::warn!(%error, "cannot remove remains of uploads; retrying later");
        }
    }
}

/// Cleans up once. Everything with its own retention period has a line here. Each step runs even if others fail: an
/// object that cannot be removed must not let tables grow. Returns the first failure.
pub async fn clean_up(app: &App) -> Result<(), ApiError> {
    let now = app.clock.now();
    let done = [
        remove_uploads(app, now).await,
        remove_packages(app, now - PACKAGE_GRACE).await,
        old_builds::expire(app, now).await,
        old_builds::clear(app, now).await,
        old_submissions::clear(app, now).await,
        unsigned_updates::withdraw(app, now).await,
        fill_holdings(app).await,
        webhook_urls::seal_plain(app).await.map(drop),
        forget_told(app, now - DELIVERY_LIFE).await,
        forget_crashes(app, now - CRASH_DAYS * DAY).await,
        forget_bookkeeping(app, now).await,
    ];
    done.into_iter().collect()
}

/// Removes expired uploads.
async fn remove_uploads(app: &App, now: EpochMs) -> Result<(), ApiError> {
    loop {
        let mut tx = app.db.read().await?;
        let expired = tx.system(REASON).expired_uploads(now, BATCH).await?;
        drop(tx);
        for upload in &expired {
            remove_upload(app, upload).await?;
        }
        if expired.len() < BATCH as usize {
            return Ok(());
        }
    }
}

/// Removes an upload, its staged bytes, and copies that no package, build or submission names. First marks it as used:
/// from then on no concurrent publish can use it and name a copy that is about to be removed.
async fn remove_upload(app: &App, upload: &Upload) -> Result<(), ApiError> {
    let mut tx = app.db.write().await?;
    tx.org(upload.org_id).use_upload(upload.id).await?;
    tx.commit().await?;
    app.blob.delete(&staging_key(upload.id)?).await?;
    for folder in copies_of(upload.id)? {
        for copy in app.blob.list(Some(&folder)).await? {
            let mut tx = app.db.read().await?;
            let named = tx.system(REASON).is_blob_referenced(copy.as_str()).await?;
            drop(tx);
            if !named {
                app.blob.delete(&copy).await?;
            }
        }
    }
    let mut tx = app.db.write().await?;
    tx.system(REASON).forget_upload(upload.id).await?;
    tx.commit().await?;
    Ok(())
}

/// Removes packages that no update has named since before `time`.
async fn remove_packages(app: &App, time: EpochMs) -> Result<(), ApiError> {
    let mut tx = app.db.read().await?;
    let unused = tx.system(REASON).unused_packages(time, BATCH).await?;
    drop(tx);
    for package in &unused {
        remove_package(app, package).await?;
    }
    Ok(())
}

/// Removes the bytes of a package. First its row stops naming them, so that nothing offers missing bytes.
async fn remove_package(app: &App, package: &Package) -> Result<(), ApiError> {
    let mut tx = app.db.write().await?;
    let retired = tx.system(REASON).retire_package(package.id).await?;
    tx.commit().await?;
    if let (true, Ok(key)) = (retired, Key::new(&package.blob_key)) {
        app.blob.delete(&key).await?;
    }
    Ok(())
}

/// Fills in the columns that a node of an older release left at their defaults, so that its rows count towards the
/// quotas. After an upgrade these may be all rows. Each batch is a transaction, so that other writers run in between
/// and a crash loses at most one batch.
async fn fill_holdings(app: &App) -> Result<(), ApiError> {
    loop {
        let mut tx = app.db.write().await?;
        let filled = tx.system(REASON).fill_holdings(MANY).await?;
        tx.commit().await?;
        if filled < MANY as u64 {
            return Ok(());
        }
    }
}

/// Deletes crashes that were last reported before `time`. Each update is a transaction of its own, because it may have
/// thousands of rows.
async fn forget_crashes(app: &App, time: EpochMs) -> Result<(), ApiError> {
    loop {
        let mut tx = app.db.write().await?;
        let updates = tx.system(REASON).forget_crashes_before(time, 1).await?;
        tx.commit().await?;
        if updates == 0 {
            return Ok(());
        }
    }
}

async fn forget_bookkeeping(app: &App, now: EpochMs) -> Result<(), ApiError> {
    loop {
        let mut tx = app.db.write().await?;
        let mut system = tx.system(REASON);
        system.forget_silent_devices(SILENT).await?;
        let forgotten = [
            system.forget_answers_before(now - ANSWER_LIFE).await?,
            system.forget_sessions(now).await?,
            // Kept for a while after expiry, so that a late request is told that it is too late rather than that there
            // is no such login.
            system.forget_device_logins_before(now - DEVICE_LOGIN_LIFE).await?,
            system.forget_changes_before(now - DAY).await?,
            system.forget_counts_before(now / MINUTE - 1).await?,
            system.forget_failed_tries_before(now / DAY - 1).await?,
            system
                .forget_report_days_before(day_of(now - REPORT_DAYS * DAY))
                .await?,
            system.forget_runner_tokens(now).await?,
            system.forget_kept_forms(now).await?,
        ];
        tx.commit().await?;
        if forgotten.iter().all(|rows| *rows < FORGOTTEN_AT_ONCE) {
            return Ok(());
        }
    }
}

/// Deletes events and deliveries that ended long ago, in batches, because there may be very many.
async fn forget_told(app: &App, before: EpochMs) -> Result<(), ApiError> {
    loop {
        let mut tx = app.db.write().await?;
        let mut system = tx.system(REASON);
        let deliveries = system.forget_deliveries_before(before, MANY).await?;
        let events = system.forget_events_before(before, MANY).await?;
        tx.commit().await?;
        if deliveries.max(events) < MANY as u64 {
            return Ok(());
        }
    }
}
