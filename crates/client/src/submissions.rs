//! The calls for submissions, and waiting for a submission to finish.

use std::time::Duration;

use launchway_api::lists::{Deleted, Page};
use launchway_api::submissions::{ChangeSubmission, CreateSubmission, SubmissionView};
use reqwest::Method;

use crate::answer::Answer;
use crate::calls::{Paging, query_of};
use crate::client::Client;
use crate::error::Error;
use crate::retry::{Reason, Tries};

/// The first delay before a submission is polled again; each further one is twice as long, until something changes.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest delay.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Filters for a list of submissions. An absent filter matches every submission.
#[derive(Clone, Debug, Default)]
pub struct SubmissionFilter {
    /// Only with this status.
    pub status: Option<String>,
    /// Only for this platform.
    pub platform: Option<String>,
    /// Only of this app.
    pub bundle_id: Option<String>,
    /// Only of this build.
    pub build_id: Option<String>,
}

/// A watched submission.
#[derive(Debug)]
pub struct SubmissionWatcher {
    client: Client,
    id: String,
    known: Option<SubmissionView>,
    pause: Duration,
}

impl Client {
    /// `POST /submit`: requests a submission.
    pub async fn create_submission(&self, wanted: &CreateSubmission) -> Result<Answer<SubmissionView>, Error> {
        self.create("/submit", wanted).await
    }

    /// `GET /submit`: one page of the submissions, newest first.
    pub async fn submissions(
        &self,
        filter: &SubmissionFilter,
        paging: Paging,
    ) -> Result<Answer<Page<SubmissionView>>, Error> {
        let known = [
            ("status", &filter.status),
            ("platform", &filter.platform),
            ("bundleId", &filter.bundle_id),
            ("buildId", &filter.build_id),
        ];
        self.page("/submit", paging, &query_of(&known)).await
    }

    /// `GET /submit?id=`: one submission.
    pub async fn submission(&self, id: &str) -> Result<Answer<SubmissionView>, Error> {
        self.one(Method::GET, "/submit", id).await
    }

    /// `PATCH /submit?id=`: changes the rollout of a released version.
    pub async fn change_submission(
        &self,
        id: &str,
        change: &ChangeSubmission,
    ) -> Result<Answer<SubmissionView>, Error> {
        self.call(Method::PATCH, "/submit", &[("id", id)], Some(change))
            .await?
            .read()
    }

    /// `POST /submit/cancel?id=`: cancels a submission where the app store still allows it.
    pub async fn cancel_submission(&self, id: &str) -> Result<Answer<SubmissionView>, Error> {
        self.one(Method::POST, "/submit/cancel", id).await
    }

    /// `POST /submit/retry?id=`: resumes a failed or rejected submission where it stopped.
    pub async fn retry_submission(&self, id: &str) -> Result<Answer<SubmissionView>, Error> {
        self.one(Method::POST, "/submit/retry", id).await
    }

    /// `DELETE /submit?id=`: cancels a submission if possible, and deletes its record.
    pub async fn delete_submission(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.one(Method::DELETE, "/submit", id).await
    }

    /// Watches a submission for changes.
    pub fn watch_submission(&self, id: &str) -> SubmissionWatcher {
        SubmissionWatcher {
            client: self.clone(),
            id: id.to_owned(),
            known: None,
            pause: FIRST_PAUSE,
        }
    }
}

impl SubmissionWatcher {
    /// The submission in its current state, then again after each change. It does not end by itself: the caller recognizes
    /// when nothing more will change.
    ///
    /// # Errors
    /// The server refuses, or is unavailable for ten minutes.
    pub async fn next(&mut self) -> Result<Answer<SubmissionView>, Error> {
        let mut tries = Tries::persistent();
        loop {
            if self.known.is_some() {
                self.client.environment.pause(self.pause, Reason::Unchanged).await;
            }
            let answer = match self.client.submission(&self.id).await {
                Ok(answer) => answer,
                Err(error) => {
                    let delay =
                        reason_of(&error).and_then(|reason| Some((tries.next_delay(reason, None, true)?, reason)));
                    let Some((delay, reason)) = delay else {
                        return Err(error);
                    };
                    self.client.environment.pause(delay, reason).await;
                    continue;
                }
            };
            tries = Tries::persistent();
            if self.known.as_ref() != Some(&answer.value) {
                self.pause = FIRST_PAUSE;
                self.known = Some(answer.value.clone());
                return Ok(answer);
            }
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Why polling again may help after an error; `None` if it will not.
fn reason_of(error: &Error) -> Option<Reason> {
    match error {
        Error::Network { .. } => Some(Reason::Broken),
        Error::Api { status: 429, .. } => Some(Reason::RateLimited),
        Error::Api { status: 502..=504, .. } | Error::Unexpected { status: 502..=504, .. } => Some(Reason::Unavailable),
        _ => None,
    }
}
