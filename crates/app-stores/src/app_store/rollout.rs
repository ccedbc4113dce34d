//! Releases after approval: watches, halts, resumes and completes phased releases, releases approved versions.

use launchway_domain::submission::SubmissionStatus::{Halted, RollingOut, Success};

use super::version::{VersionState, state_of};
use super::{AppStoreConnect, Progress, Stage, Stepped, requests};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::step::Step;
use crate::transport::Method;

/// A change of a phased release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
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

    /// Requests the release of a version that waits for a manual one. `false`: it is not approved yet. Idempotent.
    ///
    /// # Errors
    /// Why the request failed.
    pub async fn release(&self, progress: &Progress) -> Result<bool, AppStoreError> {
        if progress.stage < Stage::AwaitReview {
            return Ok(false);
        }
        let version = self
            .get(&format!("/v1/appStoreVersions/{}", progress.version_id))
            .await?;
        match state_of(&version["data"]) {
            VersionState::Approved => {
                let named = version.text("/data/attributes/versionString").unwrap_or_default();
                self.holds_own_build(progress, named).await?;
                self.request_release(progress).await?;
                Ok(true)
            }
            VersionState::Live => Ok(true),
            // The release was already requested, and the version is being distributed.
            _ => Ok(version.text("/data/attributes/appVersionState") == Some("PROCESSING_FOR_DISTRIBUTION")),
        }
    }

    pub(super) async fn request_release(&self, progress: &Progress) -> Result<(), AppStoreError> {
        let body = requests::release(&progress.version_id);
        self.call(Method::Post, "/v1/appStoreVersionReleaseRequests", Some(&body))
            .await?;
        Ok(())
    }

    /// Makes a change of a phased release. Idempotent.
    ///
    /// # Errors
    /// Why the change failed.
    pub async fn change(&self, progress: &Progress, change: Change) -> Result<(), AppStoreError> {
        let path = format!(
            "/v1/appStoreVersions/{}/appStoreVersionPhasedRelease",
            progress.version_id
        );
        let phased = self.get(&path).await?;
        let wanted = match change {
            Change::Halt => "PAUSED",
            Change::Complete => "COMPLETE",
            Change::Resume => "ACTIVE",
        };
        if phased.text("/data/attributes/phasedReleaseState") != Some(wanted) {
            let id = phased.need("/data/id")?;
            let body = requests::changed_phased_release(&id, wanted);
            let path = format!("/v1/appStoreVersionPhasedReleases/{id}");
            self.call(Method::Patch, &path, Some(&body)).await?;
        }
        Ok(())
    }
}
