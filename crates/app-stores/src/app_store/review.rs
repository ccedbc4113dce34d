//! App Store reviews: finds or creates the review submission, fills it, submits it, and waits for the outcome.

use launchway_domain::submission::SubmissionStatus::{InReview, Processing, Rejected, RollingOut, Success};
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use super::refusal::CallError;
use super::version::{VersionState, other_review, state_of};
use super::{AppStoreConnect, Progress, Stage, Stepped, platform_name, requests};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::release::Release;
use crate::step::{NextStep, Step};
use crate::transport::Method;

/// The states of a review that is not complete.
const OPEN: &str = "READY_FOR_REVIEW,WAITING_FOR_REVIEW,IN_REVIEW,UNRESOLVED_ISSUES,CANCELING,COMPLETING";

impl AppStoreConnect {
    pub(super) async fn review_submission(&self, release: &Release, mut progress: Progress) -> Stepped {
        let platform = platform_name(release.platform);
        let known = self.reviews(release, &progress, OPEN).await?;
        let states = known.list("/data").iter();
        let states = states.map(|review| {
            Ok((
                review.need("/id")?,
                review.text("/attributes/state").unwrap_or_default(),
            ))
        });
        let reviews = states.collect::<Result<Vec<(String, &str)>, AppStoreError>>()?;
        let of = |wanted: &[&str]| {
            reviews
                .iter()
                .find(|(_, state)| wanted.contains(state))
                .map(|(id, _)| id)
        };
        // A rejected review blocks the version until it is closed.
        if let Some(id) = of(&["UNRESOLVED_ISSUES"]) {
            let path = format!("/v1/reviewSubmissions/{id}");
            self.call(Method::Patch, &path, Some(&requests::canceled(id))).await?;
            return Ok(Step::proceed(progress, Processing, "The rejected review is closed"));
        }
        if of(&["CANCELING", "COMPLETING"]).is_some() {
            return Ok(Step::wait(progress, Processing));
        }
        if of(&["WAITING_FOR_REVIEW", "IN_REVIEW"]).is_some() {
            return Ok(other_review(progress));
        }
        if let Some(id) = of(&["READY_FOR_REVIEW"]) {
            progress.review_submission_id.clone_from(id);
            return Ok(Step::proceed_quietly(progress.at(Stage::ReviewItem), Processing));
        }
        let body = requests::review_submission(&progress.app_id, platform);
        let made = self.call(Method::Post, "/v1/reviewSubmissions", Some(&body)).await?;
        progress.review_submission_id = made.need("/data/id")?;
        Ok(Step::proceed_quietly(progress.at(Stage::ReviewItem), Processing))
    }

    /// The app's reviews in one of these states.
    async fn reviews(&self, release: &Release, progress: &Progress, states: &str) -> Result<Value, CallError> {
        let platform = platform_name(release.platform);
        self.get(&format!(
            "/v1/reviewSubmissions?filter[app]={}&filter[platform]={platform}&filter[state]={states}&limit=50",
            progress.app_id
        ))
        .await
    }

    /// The ids and states of the reviews that are not complete, also of one that is not listed yet.
    pub(super) async fn open_reviews(
        &self,
        release: &Release,
        progress: &Progress,
    ) -> Result<Vec<(String, String)>, AppStoreError> {
        let known = self.reviews(release, progress, OPEN).await?;
        let state_of = |review: &Value| review.text("/attributes/state").unwrap_or_default().to_owned();
        let listed = known.list("/data").iter();
        let listed = listed.map(|review| Ok((review.need("/id")?, state_of(review))));
        let mut reviews = listed.collect::<Result<Vec<(String, String)>, AppStoreError>>()?;
        let own = &progress.review_submission_id;
        if !own.is_empty() && !reviews.iter().any(|(id, _)| id == own) {
            let review = self.find(&format!("/v1/reviewSubmissions/{own}")).await?;
            let state = review.map(|review| state_of(&review["data"]));
            reviews.extend(
                state
                    .filter(|state| state != "COMPLETE")
                    .map(|state| (own.clone(), state)),
            );
        }
        Ok(reviews)
    }

    /// The ids of a review's items that contain a version.
    pub(super) async fn items_of(&self, review_id: &str, version_id: &str) -> Result<Vec<String>, AppStoreError> {
        let path = format!("/v1/reviewSubmissions/{review_id}/items?include=appStoreVersion&limit=50");
        let known = self.get(&path).await?;
        let own = |item: &&Value| {
            item.text("/relationships/appStoreVersion/data/id") == Some(version_id)
                && item.text("/attributes/state") != Some("REMOVED")
        };
        known
            .list("/data")
            .iter()
            .filter(own)
            .map(|item| item.need("/id"))
            .collect()
    }

    pub(super) async fn review_item(&self, progress: Progress) -> Stepped {
        let items = self
            .items_of(&progress.review_submission_id, &progress.version_id)
            .await?;
        if items.is_empty() {
            let body = requests::review_item(&progress.review_submission_id, &progress.version_id);
            match self.call(Method::Post, "/v1/reviewSubmissionItems", Some(&body)).await {
                Ok(_) => {}
                Err(CallError::Refused(refused)) if matches!(refused.status, 409 | 422) => {
                    return Err(refused.into_failure(Code::MetadataMissing));
                }
                Err(other) => return Err(other.into()),
            }
        }
        Ok(Step::proceed_quietly(progress.at(Stage::SubmitReview), Processing))
    }

    pub(super) async fn submit_review(&self, release: &Release, progress: Progress) -> Stepped {
        let path = format!("/v1/reviewSubmissions/{}", progress.review_submission_id);
        let known = self.get(&path).await?;
        if known.text("/data/attributes/state") == Some("READY_FOR_REVIEW") {
            // The last chance to check that the version still contains what was submitted here.
            self.own_version(release, &progress).await?;
            let body = requests::submitted(&progress.review_submission_id);
            match self.call(Method::Patch, &path, Some(&body)).await {
                Ok(_) => {}
                Err(CallError::Refused(refused)) if matches!(refused.status, 409 | 422) => {
                    // The cause may be another review that began meanwhile.
                    let reviews = self.reviews(release, &progress, "WAITING_FOR_REVIEW,IN_REVIEW").await?;
                    if reviews
                        .list("/data")
                        .iter()
                        .any(|other| other.text("/id") != Some(&progress.review_submission_id))
                    {
                        return Ok(other_review(progress));
                    }
                    return Err(refused.into_failure(Code::MetadataMissing));
                }
                Err(other) => return Err(other.into()),
            }
        }
        let message = "The version is submitted for App Store review";
        Ok(Step::proceed(progress.at(Stage::AwaitReview), InReview, message))
    }

    pub(super) async fn await_review(&self, release: &Release, progress: Progress) -> Stepped {
        let version = self.own_version(release, &progress).await?;
        match state_of(&version) {
            VersionState::Live if release.rollout.is_some_and(|percent| percent < 100) => {
                let message = "The version is approved, and the phased release starts";
                Ok(Step::proceed(progress.at(Stage::Rollout), RollingOut, message))
            }
            VersionState::Live => {
                let message = "The version is approved, and available in the App Store";
                Ok(Step::end(progress.at(Stage::Done), Success, message))
            }
            VersionState::Rejected => Ok(Step::end(progress, Rejected, "App Store review rejected the version")),
            VersionState::Open if version.text("/attributes/appVersionState") == Some("DEVELOPER_REJECTED") => Err(
                AppStoreError::new(Code::Conflict, "The review was canceled in App Store Connect"),
            ),
            VersionState::Approved if progress.releases_when_approved => {
                self.request_release(&progress).await?;
                let message = "The version is approved, and its release is requested";
                Ok(Step::wait_for(progress, InReview, message))
            }
            VersionState::Approved => Ok(Step {
                next: NextStep::Later,
                ..Step::proceed(progress, InReview, "The version is approved, and waits for its release")
            }),
            VersionState::Open | VersionState::UnderWay => Ok(Step::wait(progress, InReview)),
        }
    }
}
