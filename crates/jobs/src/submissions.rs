//! The work on submissions: claims one whose step is due, runs steps until it has to wait for the app store, and stores
//! the result of each before the next (`docs/reference/submissions.md#crash-safety`).
//!
//! A claim is durable before any work under it, is renewed during long steps, and expires by itself: after `kill -9`
//! another claim resumes from the stored progress. Each step first reads whether its work is done, so nothing is
//! uploaded or released twice. For an app of Google Play the claim also locks the app.
//!
//! Changes of a release and cancellations have separate places and interrupt steps that would delay them; so a halt
//! never waits for uploads, not even for one of the same app.

mod clients;
mod failed;
mod places;
mod preflight;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::SubmissionId;
use launchway_domain::submission::{Store, Submission};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::submissions::report::{self, LEASE};
use launchway_store::Lane;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use clients::Clients;
use places::{Place, Places};

/// How often to look for due submissions, apart from those that this process itself makes due.
const EVERY: Duration = Duration::from_secs(1);
/// Submissions considered in one round.
const LOOK: i64 = 200;
/// Steps in a row before others have their turn.
const IN_A_ROW: usize = 200;
/// How often a claim is renewed.
const RENEWAL: Duration = Duration::from_secs(20);
/// How long a step may continue after the process gets the signal to stop.
const GRACE: Duration = Duration::from_secs(20);
const REASON: &str = "submissions of every tenant go through one queue";

/// Works on submissions. One of them runs in each process with the role `worker`.
pub struct Submitter {
    app: Arc<App>,
    clients: Arc<Clients>,
    running: JoinSet<()>,
    places: Places,
    stop: CancellationToken,
}

impl Submitter {
    /// A submitter without running work. After `stop` it begins no step.
    pub fn new(app: Arc<App>, stop: CancellationToken) -> Submitter {
        Submitter {
            app,
            clients: Arc::default(),
            running: JoinSet::new(),
            places: Places::default(),
            stop,
        }
    }

    /// Works until it gets the signal to stop, and then lets running steps finish, for a while.
    pub async fn run(mut self) {
        while !self.stop.is_cancelled() {
            if let Err(failure) = self.round().await {
                tracing::warn!(error = %failure, "cannot claim submissions; retrying later");
            }
            tokio::select! {
                () = self.stop.cancelled() => break,
                Some(ended) = self.running.join_next_with_id() => self.gather(ended),
                () = self.app.submissions.notified() => {}
                () = tokio::time::sleep(EVERY) => {}
            }
        }
        let finish = async { while self.running.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, finish).await.is_err() {
            // Their claims expire, and the next claim finds what they did by reading.
            tracing::info!("interrupting steps of submissions, which continue later");
            self.running.shutdown().await;
        }
    }

    /// Works on what is due now, until nothing is, and returns the number of claims. For tests, which control the time.
    pub async fn work_due(&mut self) -> Result<usize, ApiError> {
        let mut claims = 0;
        loop {
            let claimed = self.round().await?;
            claims += claimed;
            match self.running.join_next_with_id().await {
                Some(ended) => self.gather(ended),
                None if claimed == 0 => return Ok(claims),
                None => {}
            }
        }
    }

    fn gather(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = match ended {
            Ok((id, ())) => id,
            // The claim expires, and the work resumes from the stored progress.
            Err(error) => {
                tracing::error!(%error, "the work on a submission failed unexpectedly");
                error.id()
            }
        };
        self.places.remove(&id);
    }

    /// Starts the due submissions that have room; returns how many it started.
    async fn round(&mut self) -> Result<usize, ApiError> {
        while let Some(ended) = self.running.try_join_next_with_id() {
            self.gather(ended);
        }
        let mut started = 0;
        for lane in [Lane::Urgent, Lane::Usual] {
            started += self.start(lane).await?;
        }
        self.make_way().await?;
        Ok(started)
    }

    async fn start(&mut self, lane: Lane) -> Result<usize, ApiError> {
        if !self.places.has_room(lane) {
            return Ok(0);
        }
        let now = self.app.clock.now();
        let mut tx = self.app.db.read().await?;
        let of_org = places::of_org(lane) as i64;
        let due = tx.system(REASON).due_submissions(lane, now, of_org, LOOK).await?;
        drop(tx);
        let mut started = 0;
        for (org, id) in due {
            if !self.places.has_room_for(lane, org) {
                continue;
            }
            if let Some(claimed) = claim(&self.app, id).await? {
                let place = Place::of(lane, &claimed);
                let work = work(
                    self.app.clone(),
                    self.clients.clone(),
                    claimed,
                    place.clone(),
                    self.stop.clone(),
                );
                let task = self.running.spawn(work);
                self.places.insert(task.id(), place);
                started += 1;
            }
        }
        Ok(started)
    }

    /// Interrupts steps that would delay something urgent: of the same submission, or of another one of the same app of
    /// Google Play.
    async fn make_way(&self) -> Result<(), ApiError> {
        if self.places.is_empty() {
            return Ok(());
        }
        let now = self.app.clock.now();
        let mut tx = self.app.db.read().await?;
        let mut system = tx.system(REASON);
        for change in system.changes_for_claimed(now).await? {
            self.places.interrupt_for(&change);
        }
        for id in system.blocking_submissions(now).await? {
            self.places.interrupt_usual(id);
        }
        Ok(())
    }
}

/// Claims the work on a submission, and its app in Google Play. `None`: another claim was first.
async fn claim(app: &App, id: SubmissionId) -> Result<Option<Submission>, ApiError> {
    let now = app.clock.now();
    let mut tx = app.db.write().await?;
    let mut system = tx.system(REASON);
    let Some(claimed) = system.claim_submission(id, now, now + LEASE).await? else {
        return Ok(None);
    };
    if claimed.store() == Store::GooglePlay {
        let bundle: Result<BundleId, _> = claimed.bundle_id.parse();
        let bundle = bundle.map_err(|error| ApiError::Internal(format!("the bundle id of {id}: {error}")))?;
        if !system.lock_package(&bundle, id, now, now + LEASE).await? {
            return Ok(None);
        }
    }
    tx.commit().await?;
    Ok(Some(claimed))
}

/// Runs steps until the app store has to work, or others have their turn.
async fn work(app: Arc<App>, clients: Arc<Clients>, claimed: Submission, place: Place, stop: CancellationToken) {
    let (id, claim) = (claimed.id, claimed.work.claim);
    let mut next = Some(claimed);
    let mut steps = 0;
    while let Some(held) = next {
        steps += 1;
        place.works_on(&held);
        let goes_on = || steps < IN_A_ROW && !stop.is_cancelled();
        let one = async {
            let report = steps::make(&app, &clients, &held).await?;
            report::record(&app, &held, report, goes_on()).await
        };
        next = tokio::select! {
            biased;
            () = place.interrupted() => {
                give_up(&app, &held).await;
                None
            }
            kept = one => kept.unwrap_or_else(|failure| {
                // The claim expires, and the work resumes from the stored progress.
                tracing::warn!(submission = %id, error = %failure, "a step of a submission failed; retrying later");
                None
            }),
            () = until_lost(&app, id, claim) => {
                tracing::warn!(submission = %id, "lost the claim of a submission");
                None
            }
        };
        // Work that is no longer urgent does not keep a place of the urgent lane.
        if let Some(usual) = next.take_if(|next| place.lane == Lane::Urgent && !next.is_urgent()) {
            give_up(&app, &usual).await;
        }
    }
}

async fn give_up(app: &App, held: &Submission) {
    if let Err(failure) = report::give_up(app, held).await {
        // Then the claim expires.
        tracing::warn!(submission = %held.id, error = %failure, "cannot release a claim");
    }
}

/// Renews a claim, and returns when it is lost.
async fn until_lost(app: &App, id: SubmissionId, claim: i64) {
    loop {
        tokio::time::sleep(RENEWAL).await;
        match renew(app, id, claim).await {
            Ok(true) => {}
            Ok(false) => return,
            // The claim remains valid for a while.
            Err(failure) => tracing::warn!(submission = %id, error = %failure, "cannot renew a claim; retrying later"),
        }
    }
}

async fn renew(app: &App, id: SubmissionId, claim: i64) -> Result<bool, ApiError> {
    let mut tx = app.db.write().await?;
    let until = app.clock.now() + LEASE;
    let renewed = tx.system(REASON).renew_submission(id, claim, until).await?;
    tx.commit().await?;
    Ok(renewed)
}
