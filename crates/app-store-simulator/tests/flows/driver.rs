//! Drives the steps of a submission as the service does: it saves the progress between steps as JSON, creates a new client
//! after each failure, and waits according to the schedule.

use crate::stand::Stand;
use launchway_app_stores::{AppStoreError, Clock, NextStep, Release, Step, app_store, google_play};
use launchway_domain::submission::error::SubmissionError;
use launchway_domain::submission::{SubmissionState, SubmissionStatus, Transition, schedule};
use launchway_domain::time::MINUTE;

/// No flow has this many steps: more of them are a loop.
const MAX_STEPS: usize = 3_000;

/// The end of a flow.
#[derive(Debug)]
pub struct Ended<P> {
    pub status: SubmissionStatus,
    pub progress: P,
    pub error: Option<SubmissionError>,
    pub messages: Vec<String>,
}

/// The steps of an app store, for the driver.
pub trait Flow {
    type Progress: serde::Serialize + serde::de::DeserializeOwned + Default + PartialEq + std::fmt::Debug + Send;

    fn begin(stand: &Stand) -> Self;

    fn step(
        &self,
        release: &Release,
        progress: &Self::Progress,
    ) -> impl Future<Output = Result<Step<Self::Progress>, AppStoreError>>;
}

impl Flow for app_store::AppStoreConnect {
    type Progress = app_store::Progress;

    fn begin(stand: &Stand) -> Self {
        stand.app_store()
    }

    async fn step(&self, release: &Release, progress: &Self::Progress) -> Result<Step<Self::Progress>, AppStoreError> {
        self.step(release, progress).await
    }
}

impl Flow for google_play::GooglePlay {
    type Progress = google_play::Progress;

    fn begin(stand: &Stand) -> Self {
        stand.google_play()
    }

    async fn step(&self, release: &Release, progress: &Self::Progress) -> Result<Step<Self::Progress>, AppStoreError> {
        self.step(release, progress).await
    }
}

/// Steps until the status is final, or until `until` is true for a step that waits.
pub async fn drive<F: Flow>(
    stand: &Stand,
    release: &Release,
    progress: F::Progress,
    status: SubmissionStatus,
    until: impl Fn(&Step<F::Progress>) -> bool,
) -> Ended<F::Progress> {
    let mut client = F::begin(stand);
    let mut state = SubmissionState {
        status,
        cancel_requested: false,
    };
    let mut ended = Ended {
        status,
        progress,
        error: None,
        messages: Vec::new(),
    };
    let (mut failures, mut failing_since, mut since) = (0, 0, stand.clock.now());
    for number in 0..MAX_STEPS {
        // The progress is saved as text.
        let kept = serde_json::to_string(&ended.progress).unwrap();
        let progress: F::Progress = serde_json::from_str(&kept).unwrap();
        assert_eq!(progress, ended.progress);
        match client.step(release, &progress).await {
            _ if stand.crash_after == Some(number) => {
                stand.clock.set(stand.clock.now() + MINUTE);
                client = F::begin(stand);
            }
            Ok(step) => {
                failures = 0;
                let step_move = match step.status {
                    SubmissionStatus::Rejected => Transition::Reject,
                    status => Transition::Advance(status),
                };
                let next = state.apply(step_move).unwrap_or_else(|refused| {
                    panic!("{refused}: {step_move:?} at {:?}", step.progress);
                });
                if next.status != state.status {
                    since = stand.clock.now();
                }
                state = next;
                let stop = step.next == NextStep::Never || until(&step);
                let wait = match step.next {
                    NextStep::Now | NextStep::Never => 0,
                    NextStep::Later => schedule::poll(step.status, stand.clock.now() - since),
                    NextStep::AfterOtherReview => 10 * MINUTE,
                };
                ended.messages.extend(step.message);
                ended.progress = step.progress;
                ended.status = step.status;
                if stop {
                    return ended;
                }
                stand.clock.set(stand.clock.now() + wait);
            }
            Err(failure) => {
                let now = stand.clock.now();
                failing_since = if failures == 0 { now } else { failing_since };
                failures += 1;
                let next = failure
                    .is_worth_another_try(failures)
                    .then(|| schedule::after_failure(failures, failing_since, failure.retry_after(), now))
                    .flatten();
                let Some(next) = next else {
                    ended.status = SubmissionStatus::Failed;
                    ended.error = Some(failure.into_error());
                    return ended;
                };
                stand.clock.set(next);
                // As after a crash: only the saved progress is left.
                client = F::begin(stand);
            }
        }
    }
    panic!("the flow does not end: {:?} {:?}", ended.progress, ended.messages);
}

pub async fn to_end<F: Flow>(stand: &Stand, release: &Release) -> Ended<F::Progress> {
    drive::<F>(stand, release, F::Progress::default(), SubmissionStatus::Queued, |_| {
        false
    })
    .await
}
