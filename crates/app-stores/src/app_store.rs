//! App Store Connect: its client, and the steps of a submission to TestFlight or the App Store. Requests have the
//! published format of the App Store Connect API 4.4.1.

mod cancel;
mod client;
mod own_builds;
mod progress;
mod refusal;
pub mod requests;
mod review;
mod rollout;
mod survey;
mod testflight;
mod upload;
mod version;
pub mod webhook;

use launchway_domain::platform::Platform;
use launchway_domain::submission::SubmissionStatus;
use launchway_domain::submission::destination::Destination;

use crate::failure::AppStoreError;
use crate::release::Release;
use crate::step::Step;

pub use client::{AppStoreConnect, Credential};
pub use progress::{Progress, Stage, Turn, VersionBefore};
pub use rollout::Change;

/// The base URL of App Store Connect.
pub const ADDRESS: &str = "https://api.appstoreconnect.apple.com";

type Stepped = Result<Step<Progress>, AppStoreError>;

impl AppStoreConnect {
    /// Performs the next step of a submission with this progress. Reads first, to find what was done before a crash.
    ///
    /// # Errors
    /// Why the step failed; the same step may be retried.
    pub async fn step(&self, release: &Release, progress: &Progress) -> Stepped {
        let progress = progress.clone();
        let step = match progress.stage {
            Stage::FindApp => self.find_app(release, progress).await,
            Stage::CreateUpload => self.create_upload(release, progress).await,
            Stage::CreateFile => self.create_file(release, progress).await,
            Stage::SendParts => self.send_parts(release, progress).await,
            Stage::CommitFile => self.commit_file(release, progress).await,
            Stage::AwaitUpload => self.await_upload(release, progress).await,
            Stage::AwaitBuild => self.await_build(release, progress).await,
            Stage::TestNotes => self.test_notes(release, progress).await,
            Stage::Groups => self.groups(release, progress).await,
            Stage::BetaReview => self.beta_review(release, progress).await,
            Stage::Version => self.version(release, progress).await,
            Stage::AttachBuild => self.attach_build(progress).await,
            Stage::WhatsNew => self.whats_new(release, progress).await,
            Stage::PhasedRelease => self.phased_release(release, progress).await,
            Stage::ReviewSubmission => self.review_submission(release, progress).await,
            Stage::ReviewItem => self.review_item(progress).await,
            Stage::SubmitReview => self.submit_review(release, progress).await,
            Stage::AwaitReview => self.await_review(release, progress).await,
            Stage::Rollout => self.rollout(progress).await,
            Stage::Done => Ok(Step::end(progress, SubmissionStatus::Success, "Done.")),
        };
        Ok(step?.report_once(|progress| &mut progress.waits_for))
    }
}

impl Progress {
    /// The initial progress for a retry of a failed or rejected submission: what App Store Connect already has is kept.
    #[must_use]
    pub fn for_retry(&self, release: &Release) -> Progress {
        let fresh = Progress {
            app_id: self.app_id.clone(),
            build_upload_id: self.build_upload_id.clone(),
            build_upload_file_id: self.build_upload_file_id.clone(),
            spoiled_uploads: self.spoiled_uploads.clone(),
            build_id: self.build_id.clone(),
            new_groups: self.new_groups.clone(),
            notes_done: self.notes_done,
            ..Progress::default()
        };
        if self.build_id.is_empty() {
            return fresh;
        }
        let stage = match (self.stage, &release.destination) {
            (Stage::Rollout | Stage::Done, _) => self.stage,
            (Stage::TestNotes | Stage::Groups | Stage::BetaReview, Destination::TestFlight) => self.stage,
            // The version can be changed again, and its review starts over.
            (stage, Destination::AppStore) if stage > Stage::AwaitBuild => Stage::Version,
            _ => Stage::AwaitBuild,
        };
        Progress {
            stage,
            version_id: self.version_id.clone(),
            releases_when_approved: self.releases_when_approved,
            notes_done: if stage == Stage::Version { 0 } else { self.notes_done },
            ..fresh
        }
    }
}

/// Apple's name of a platform.
fn platform_name(platform: Platform) -> &'static str {
    match platform {
        Platform::Visionos => "VISION_OS",
        _ => "IOS",
    }
}
