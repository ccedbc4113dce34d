//! After the commit: the review, and the staged release.

use launchway_domain::submission::SubmissionStatus::{InReview, Processing, Rejected, Success};
use serde_json::Value;

use super::{GooglePlay, Place, Progress, Stage, Stepped, TargetStatus};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::step::{NextStep, Step};
use crate::transport::Method;

/// Google Play lists a release until another one has taken its place.
const REPLACED: &str = "A later release replaced this one";

impl GooglePlay {
    pub(super) async fn await_review(&self, place: Place<'_>, mut progress: Progress) -> Stepped {
        let target = progress.target(place.release);
        if target.status == TargetStatus::Draft {
            let message = "The release is a draft in the Play Console";
            return Ok(Step::end(progress.at(Stage::Done), Success, message));
        }
        let state = self.state(place).await?;
        let in_review = progress.status(InReview);
        let was_listed = progress.listed;
        progress.listed |= state.is_some();
        match state.as_deref() {
            None if was_listed => Ok(Step::end(progress.at(Stage::Done), Success, REPLACED)),
            Some("RELEASE_LIFECYCLE_STATE_PUBLISHED") if target.status == TargetStatus::Completed => {
                let message = "The release is live for all users of the track";
                Ok(Step::end(progress.at(Stage::Done), Success, message))
            }
            Some("RELEASE_LIFECYCLE_STATE_PUBLISHED") => {
                progress.released = true;
                let status = progress.status(InReview);
                let message = match target.percent {
                    Some(percent) if target.status == TargetStatus::InProgress => {
                        format!("The release is live for {percent}% of users")
                    }
                    _ => "The release is halted".to_owned(),
                };
                Ok(Step {
                    next: NextStep::Later,
                    ..Step::proceed(progress.at(Stage::Rollout), status, message)
                })
            }
            Some("RELEASE_LIFECYCLE_STATE_NOT_APPROVED") => {
                Ok(Step::end(progress, Rejected, "Google Play review rejected the release"))
            }
            Some("RELEASE_LIFECYCLE_STATE_IN_REVIEW") => Ok(Step::wait(progress, in_review)),
            Some("RELEASE_LIFECYCLE_STATE_APPROVED_NOT_PUBLISHED") => {
                let message = "Google Play approved the release, and managed publishing holds it back. Publish it in \
                               the Play Console, under Publishing overview.";
                Ok(Step::wait_for(progress, in_review, message))
            }
            Some("RELEASE_LIFECYCLE_STATE_NOT_SENT_FOR_REVIEW") => {
                let message = "The release was not sent for review. Send it in the Play Console, under Publishing \
                               overview.";
                Ok(Step::wait_for(progress, in_review, message))
            }
            _ => {
                let status = progress.status(Processing);
                Ok(Step::wait(progress, status))
            }
        }
    }

    pub(super) async fn watch_rollout(&self, place: Place<'_>, progress: Progress) -> Stepped {
        let status = progress.status(Processing);
        match self.state(place).await?.as_deref() {
            Some("RELEASE_LIFECYCLE_STATE_NOT_APPROVED") => {
                Ok(Step::end(progress, Rejected, "Google Play review rejected the release"))
            }
            // Releases without any users are not listed.
            None => Ok(Step::end(progress.at(Stage::Done), Success, REPLACED)),
            Some(_) => Ok(Step::wait(progress, status)),
        }
    }

    /// Whether the review rejected the release.
    pub(super) async fn is_refused(&self, place: Place<'_>) -> Result<bool, AppStoreError> {
        Ok(self.state(place).await?.as_deref() == Some("RELEASE_LIFECYCLE_STATE_NOT_APPROVED"))
    }

    /// The lifecycle state of the release; `None` if it is not listed.
    async fn state(&self, place: Place<'_>) -> Result<Option<String>, AppStoreError> {
        let path = format!("{}/tracks/{}/releases", place.app(), place.track());
        let known = self.call(Method::Get, &path, None).await?;
        let own = |release: &&Value| {
            release
                .list("/activeArtifacts")
                .iter()
                .any(|artifact| artifact.pointer("/versionCode").and_then(Value::as_i64) == Some(place.code))
        };
        let release = known.list("/releases").iter().find(own);
        release
            .map(|release| release.need("/releaseLifecycleState"))
            .transpose()
    }
}
