//! Device reports on their way to the database: many in one transaction, each answered when it is durable.

use launchway_store::{CrashReport, Db, Report, StoreError};
use tokio::sync::{mpsc, oneshot};

use crate::api_error::ApiError;

/// The maximum number of waiting calls; beyond it a device has to retry.
const WAITING: usize = 4096;
/// The maximum number of calls in one transaction.
const BATCH: usize = 256;

struct Job {
    reports: Vec<Report>,
    crash: Option<CrashReport>,
    done: oneshot::Sender<Result<u64, ()>>,
}

/// Accepts reports and counts them.
pub struct ReportQueue {
    jobs: mpsc::Sender<Job>,
}

impl ReportQueue {
    /// A queue in front of a database. Its writer ends with the queue.
    pub fn new(db: Db) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        tokio::spawn(write_batches(db, waiting));
        Self { jobs }
    }

    /// Counts the reports of one call; returns how many were new. They are durable when this returns.
    pub async fn count(&self, reports: Vec<Report>) -> Result<u64, ApiError> {
        self.count_with_crash(reports, None).await
    }

    /// The same with at most one crash: a stack is much larger than a report, and the queue must not fill the memory.
    pub async fn count_with_crash(&self, reports: Vec<Report>, crash: Option<CrashReport>) -> Result<u64, ApiError> {
        let (done, answer) = oneshot::channel();
        let busy = || ApiError::Unavailable("Reports cannot be accepted now. Try again in a moment.".to_owned());
        self.jobs.try_send(Job { reports, crash, done }).map_err(|_| busy())?;
        answer.await.ok().and_then(Result::ok).ok_or_else(busy)
    }
}

async fn write_batches(db: Db, mut waiting: mpsc::Receiver<Job>) {
    let mut batch = Vec::with_capacity(BATCH);
    while waiting.recv_many(&mut batch, BATCH).await > 0 {
        let result = write(&db, &batch).await;
        if let Err(error) = &result {
            tracing::warn!(%error, "cannot save reports of devices");
        }
        let mut counts = result.ok().map(Vec::into_iter);
        for job in batch.drain(..) {
            // The caller may be gone; the report counts all the same.
            let _ = job.done.send(counts.as_mut().and_then(Iterator::next).ok_or(()));
        }
    }
}

/// Counts a batch; returns for each call how many of its reports were new. Updates rows in a fixed order, so that two
/// nodes never deadlock: reports before crashes, and both in the order of their rows.
async fn write(db: &Db, batch: &[Job]) -> Result<Vec<u64>, StoreError> {
    let mut all: Vec<(usize, &Report)> = batch
        .iter()
        .enumerate()
        .flat_map(|(at, job)| job.reports.iter().map(move |report| (at, report)))
        .collect();
    all.sort_by_key(|(_, report)| (report.update_id, report.kind, report.device));
    let reports: Vec<Report> = all.iter().map(|(_, report)| (*report).clone()).collect();
    let crashes: Vec<(usize, &CrashReport)> = batch
        .iter()
        .enumerate()
        .filter_map(|(at, job)| Some((at, job.crash.as_ref()?)))
        .collect();
    let mut tx = db.write().await?;
    let mut system = tx.system("a token names its update, which has its tenant");
    let counted = system.count_reports(&reports).await?;
    let stacks: Vec<&CrashReport> = crashes.iter().map(|(_, crash)| *crash).collect();
    let crashed = system.count_crashes(&stacks).await?;
    tx.commit().await?;
    let mut counts = vec![0; batch.len()];
    let calls = all.iter().map(|(at, _)| at).chain(crashes.iter().map(|(at, _)| at));
    for (at, new) in calls.zip(counted.into_iter().chain(crashed)) {
        counts[*at] += u64::from(new);
    }
    Ok(counts)
}
