//! Releases after approval: watches, halts, resumes and completes phased releases, releases approved versions, cancels
//! submissions.

use launchway_domain::submission::SubmissionStatus::{Halted, RollingOut, Success};
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use super::version::{VersionState, state_of};
use super::{AppStoreConnect, Progress, Stage, Stepped, requests};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::step::Step;
use crate::transport::Method;

/// A change to an approved or released version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Release a version that waits for a manual release.
    Release,
    /// Stop giving it to more users.
    Halt,
    /// Continue a halted release.
    Resume,
    /// Release to all users at once.
    Complete,
}

impl AppStoreConnect {
    pub(super) async fn rollout(&self, progress: Progress) -> Stepped {
        let path = format!(
            "/v1/appStoreVersions/{}/appStoreVersionPhasedRelease",
            progress.version_id
        );
        let phased = self.get(&path).await?;
        match phased.text("/data/attributes/phasedReleaseState") {
            Some("COMPLETE") => Ok(Step::end(
                progress.at(Stage::Done),
                Success,
                "The version is released to all users",
            )),
            Some("PAUSED") => Ok(Step::wait(progress, Halted)),
            _ => Ok(Step::wait(progress, RollingOut)),
        }
    }

    /// Makes a change. Idempotent.
    ///
    /// # Errors
    /// Why the change failed.
    pub async fn change(&self, progress: &Progress, change: Change) -> Result<(), AppStoreError> {
        if change == Change::Release {
            let version = self
                .get(&format!("/v1/appStoreVersions/{}", progress.version_id))
                .await?;
            return match state_of(&version["data"]) {
                VersionState::Approved => {
                    let named = version.text("/data/attributes/versionString").unwrap_or_default();
                    self.holds_own_build(progress, named).await?;
                    let body = requests::release(&progress.version_id);
                    self.call(Method::Post, "/v1/appStoreVersionReleaseRequests", Some(&body))
                        .await?;
                    Ok(())
                }
                VersionState::Live => Ok(()),
                // The release was already requested, and the version is being distributed.
                _ if version.text("/data/attributes/appVersionState") == Some("PROCESSING_FOR_DISTRIBUTION") => Ok(()),
                _ => Err(AppStoreError::new(
                    Code::StoreRefused,
                    "The version is not approved yet",
                )),
            };
        }
        let path = format!(
            "/v1/appStoreVersions/{}/appStoreVersionPhasedRelease",
            progress.version_id
        );
        let phased = self.get(&path).await?;
        let wanted = match change {
            Change::Halt => "PAUSED",
            Change::Complete => "COMPLETE",
            Change::Resume | Change::Release => "ACTIVE",
        };
        if phased.text("/data/attributes/phasedReleaseState") != Some(wanted) {
            let id = phased.need("/data/id")?;
            let body = requests::changed_phased_release(&id, wanted);
            let path = format!("/v1/appStoreVersionPhasedReleases/{id}");
            self.call(Method::Patch, &path, Some(&body)).await?;
        }
        Ok(())
    }

    /// Cancels a submission. `false`: it is too late, as customers or testers already have it. Call again until it
    /// returns without an error.
    ///
    /// # Errors
    /// Why the result is unknown.
    pub async fn cancel(&self, progress: &Progress) -> Result<bool, AppStoreError> {
        if matches!(progress.stage, Stage::Rollout | Stage::Done) {
            return Ok(false);
        }
        if !progress.review_submission_id.is_empty() {
            let path = format!("/v1/reviewSubmissions/{}", progress.review_submission_id);
            let review = self.find(&path).await?.unwrap_or(Value::Null);
            match review.text("/data/attributes/state") {
                Some("COMPLETING" | "COMPLETE") => {
                    let version = self
                        .get(&format!("/v1/appStoreVersions/{}", progress.version_id))
                        .await?;
                    if state_of(&version["data"]) == VersionState::Live {
                        return Ok(false);
                    }
                }
                None | Some("CANCELING") => {}
                Some(_) => {
                    let body = requests::canceled(&progress.review_submission_id);
                    self.call(Method::Patch, &path, Some(&body)).await?;
                }
            }
        }
        if progress.build_id.is_empty() && !progress.build_upload_id.is_empty() {
            let path = format!("/v1/buildUploads/{}", progress.build_upload_id);
            let upload = self.find(&path).await?.unwrap_or(Value::Null);
            if upload.text("/data/attributes/state/state") == Some("AWAITING_UPLOAD") {
                self.call(Method::Delete, &path, None).await?;
            }
        }
        Ok(true)
    }
}
