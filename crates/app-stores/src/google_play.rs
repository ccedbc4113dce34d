//! Google Play: its client, and the steps of a submission to a track. Requests have the format of the discovery
//! document of the Google Play Developer API v3.
//!
//! Everything happens in an edit. Google discards it when somebody else changes the app, and after some time; then the
//! steps start over in a new one. Whether a commit without a response happened is read from the track.

mod client;
mod edit;
mod progress;
mod refusal;
pub mod requests;
mod review;
mod survey;
mod track;
mod upload;

use launchway_domain::percent;
use launchway_domain::submission::SubmissionStatus;
use launchway_domain::submission::error::SubmissionErrorCode as Code;

use crate::failure::AppStoreError;
use crate::release::Release;
use crate::step::Step;

pub use client::{Credential, GooglePlay};
pub use progress::{Progress, Session, Stage, Target, TargetStatus};

/// The base URL of Google Play.
pub const ADDRESS: &str = "https://androidpublisher.googleapis.com";

type Stepped = Result<Step<Progress>, AppStoreError>;

impl GooglePlay {
    /// Performs the next step of a submission with this progress. Reads first, to find what was done before a crash.
    /// Only one submission of an app may run steps at a time: the one whose owner holds the lock of the package.
    ///
    /// # Errors
    /// Why the step failed; the same step may be retried.
    pub async fn step(&self, release: &Release, progress: &Progress) -> Stepped {
        let code = version_code(release)?;
        let place = Place { release, code };
        let progress = progress.clone();
        let step = match progress.stage {
            Stage::OpenEdit => self.open_edit(place, progress).await,
            Stage::Look => self.inspect(place, progress).await,
            Stage::StartUpload => self.start_upload(place, progress).await,
            Stage::SendBinary => self.send_binary(place, progress).await,
            Stage::StartSymbols => self.start_symbols(place, progress).await,
            Stage::SendSymbols => self.send_symbols(place, progress).await,
            Stage::SetTrack => self.set_track(place, progress).await,
            Stage::Validate => self.validate(place, progress).await,
            Stage::Commit => self.commit(place, progress).await,
            Stage::AwaitReview => self.await_review(place, progress).await,
            Stage::Rollout => self.watch_rollout(place, progress).await,
            Stage::Done => Ok(Step::end(progress, SubmissionStatus::Success, "Done.")),
        };
        Ok(step?.report_once(|progress| &mut progress.waits_for))
    }
}

/// What is submitted, with its version code.
#[derive(Clone, Copy)]
struct Place<'r> {
    release: &'r Release,
    code: i64,
}

impl Place<'_> {
    /// The path of the app.
    fn app(&self) -> String {
        let package = percent::encode(&self.release.bundle_id);
        format!("/androidpublisher/v3/applications/{package}")
    }

    /// The path of an edit, or of something in it.
    fn edit(&self, progress: &Progress, rest: &str) -> String {
        format!("{}/edits/{}{rest}", self.app(), progress.edit_id)
    }

    /// The name of the track, encoded for a path.
    fn track(&self) -> String {
        percent::encode(self.release.destination.as_str()).to_string()
    }

    /// Whether the binary is an APK; otherwise it is a bundle.
    fn is_apk(&self) -> bool {
        self.release.file_name.to_ascii_lowercase().ends_with(".apk")
    }
}

fn version_code(release: &Release) -> Result<i64, AppStoreError> {
    let code = release.build_number.parse::<i64>().ok().filter(|code| *code > 0);
    code.ok_or_else(|| {
        AppStoreError::new(
            Code::VersionMalformed,
            "The build number is not an Android version code",
        )
    })
}
