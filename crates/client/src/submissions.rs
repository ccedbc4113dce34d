//! The calls on submissions (contract part 5), and waiting for what becomes of one.

use std::time::Duration;

use launchway_api::lists::{Deleted, Page};
use launchway_api::submissions::{ChangeSubmission, CreateSubmission, SubmissionView};
use reqwest::Method;

use crate::answer::Answer;
use crate::calls::{NOTHING, query_of};
use crate::client::Client;
use crate::error::Error;
use crate::retry::{Reason, Tries};

/// The first pause before a submission is looked at again; each next one is twice as long, until something changes.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// What a list of submissions is narrowed to (contract part 5). What is absent narrows nothing.
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
    /// How many at most; the server gives 10 unless told, and never more than 100.
    pub limit: Option<u32>,
    /// How many to skip.
    pub offset: Option<u64>,
}

/// A submission that is waited for.
#[derive(Debug)]
pub struct Watching {
    client: Client,
    id: String,
    known: Option<SubmissionView>,
    pause: Duration,
}

impl Client {
    /// `POST /submit`: asks for a submission.
    pub async fn create_submission(&self, wanted: &CreateSubmission) -> Result<Answer<SubmissionView>, Error> {
        self.call(Method::POST, "/submit", &[], Some(wanted)).await?.read()
    }

    /// `GET /submit`: one page of the submissions, newest first.
    pub async fn submissions(&self, filter: &SubmissionFilter) -> Result<Answer<Page<SubmissionView>>, Error> {
        let (limit, offset) = (
            filter.limit.map(|limit| limit.to_string()),
            filter.offset.map(|offset| offset.to_string()),
        );
        let known = [
            ("status", &filter.status),
            ("platform", &filter.platform),
            ("bundleId", &filter.bundle_id),
            ("buildId", &filter.build_id),
            ("limit", &limit),
            ("offset", &offset),
        ];
        self.call(Method::GET, "/submit", &query_of(&known), NOTHING)
            .await?
            .read()
    }

    /// `GET /submit?id=`: one submission.
    pub async fn submission(&self, id: &str) -> Result<Answer<SubmissionView>, Error> {
        self.call(Method::GET, "/submit", &[("id", id)], NOTHING).await?.read()
    }

    /// `PATCH /submit?id=`: changes who gets a released version.
    pub async fn change_submission(
        &self,
        id: &str,
        change: &ChangeSubmission,
    ) -> Result<Answer<SubmissionView>, Error> {
        self.call(Method::PATCH, "/submit", &[("id", id)], Some(change))
            .await?
            .read()
    }

    /// `POST /submit/cancel?id=`: stops a submission where the store still allows it.
    pub async fn cancel_submission(&self, id: &str) -> Result<Answer<SubmissionView>, Error> {
        self.call(Method::POST, "/submit/cancel", &[("id", id)], NOTHING)
            .await?
            .read()
    }

    /// `POST /submit/retry?id=`: has a failed or rejected submission go on where it stopped.
    pub async fn retry_submission(&self, id: &str) -> Result<Answer<SubmissionView>, Error> {
        self.call(Method::POST, "/submit/retry", &[("id", id)], NOTHING)
            .await?
            .read()
    }

    /// `DELETE /submit?id=`: stops a submission if it can be, and removes its record.
    pub async fn delete_submission(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.call(Method::DELETE, "/submit", &[("id", id)], NOTHING)
            .await?
            .read()
    }

    /// Waits for what becomes of a submission.
    pub fn watch_submission(&self, id: &str) -> Watching {
        Watching {
            client: self.clone(),
            id: id.to_owned(),
            known: None,
            pause: FIRST_PAUSE,
        }
    }
}

impl Watching {
    /// The submission as it is at first, then each time after something about it has changed. It is not over by itself:
    /// the caller sees when nothing more will change.
    ///
    /// # Errors
    /// The server refuses, or is gone for ten minutes.
    pub async fn next(&mut self) -> Result<Answer<SubmissionView>, Error> {
        let mut tries = Tries::patient();
        loop {
            if self.known.is_some() {
                self.client.world.pause(self.pause, Reason::Unchanged).await;
            }
            let answer = match self.client.submission(&self.id).await {
                Ok(answer) => answer,
                Err(error) => {
                    let delay = reason_of(&error).and_then(|reason| Some((tries.after(reason, None, true)?, reason)));
                    let Some((delay, reason)) = delay else {
                        return Err(error);
                    };
                    self.client.world.pause(delay, reason).await;
                    continue;
                }
            };
            tries = Tries::patient();
            if self.known.as_ref() != Some(&answer.value) {
                self.pause = FIRST_PAUSE;
                self.known = Some(answer.value.clone());
                return Ok(answer);
            }
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Why another look may be worth it after an error; `None` when it is not.
fn reason_of(error: &Error) -> Option<Reason> {
    match error {
        Error::Network { .. } => Some(Reason::Broken),
        Error::Api { status: 429, .. } => Some(Reason::RateLimited),
        Error::Api { status: 502..=504, .. } | Error::Unexpected { status: 502..=504, .. } => Some(Reason::Unavailable),
        _ => None,
    }
}
