//! The progress of a submission in App Store Connect: the stage, and the ids of everything that it created.

use serde::{Deserialize, Serialize};

/// The progress, which the submission's owner saves between steps as JSON. An empty id means none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Progress {
    /// The next stage.
    pub stage: Stage,
    /// The id of the app.
    pub app_id: String,
    /// The id of the build's upload.
    pub build_upload_id: String,
    /// The id of the upload's file.
    pub build_upload_file_id: String,
    /// The offsets of the parts that have arrived.
    pub parts_sent: Vec<u64>,
    /// How many times in a row all part URLs were refused.
    pub parts_refused: u32,
    /// How many times the upload was restarted.
    pub uploads_restarted: u32,
    /// Uploads that contain other bytes than were sent.
    pub spoiled_uploads: Vec<String>,
    /// The id of the resulting build.
    pub build_id: String,
    /// The number of notes that are stored.
    pub notes_done: usize,
    /// The TestFlight groups that did not have the build before this submission; `None` until it assigns the build.
    pub new_groups: Option<Vec<String>>,
    /// The id of the App Store version.
    pub version_id: String,
    /// Whether this submission creates the version. Saved before the call.
    pub creates_version: bool,
    /// A version that existed already, as it was before this submission changed it.
    pub version_before: Option<Box<VersionBefore>>,
    /// Whether this submission creates the version's phased release. Saved before the call.
    pub creates_phased_release: bool,
    /// The id of the review submission.
    pub review_submission_id: String,
    /// Whether somebody has already asked for the release of a version that waits for a manual one.
    pub releases_when_approved: bool,
    /// The last reported reason for waiting.
    pub waits_for: String,
    /// How many times a cancellation has waited for App Store Connect.
    pub cancel_waits: u32,
}

/// An App Store version as it was before a submission changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VersionBefore {
    /// Its version string.
    pub name: String,
    /// When it is released after the review.
    pub release_type: String,
    /// The id of its build; empty if it had none.
    pub build_id: String,
}

/// The next stage. Each stage first checks whether it was already done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Find the app by its bundle id.
    #[default]
    FindApp,
    /// Announce the build.
    CreateUpload,
    /// Announce its file, and get the part URLs.
    CreateFile,
    /// Send the parts.
    SendParts,
    /// Commit the file.
    CommitFile,
    /// Wait until the upload has become a build.
    AwaitUpload,
    /// Wait until the build is processed, and answer the encryption question.
    AwaitBuild,
    /// TestFlight: set the test notes.
    TestNotes,
    /// TestFlight: add the build to groups.
    Groups,
    /// TestFlight: submit it for review, and wait for the outcome.
    BetaReview,
    /// App Store: find or create the version.
    Version,
    /// App Store: attach the build.
    AttachBuild,
    /// App Store: set the release notes.
    WhatsNew,
    /// App Store: request a phased release over seven days.
    PhasedRelease,
    /// App Store: find or create a review submission.
    ReviewSubmission,
    /// App Store: add the version to it.
    ReviewItem,
    /// App Store: submit it for review.
    SubmitReview,
    /// App Store: wait for the outcome.
    AwaitReview,
    /// App Store: wait until the rollout is complete.
    Rollout,
    /// The submission is complete.
    Done,
}

/// The exclusive rights that only one submission of an app and platform may hold at a time: App Store Connect accepts
/// one build per number, and one unreleased version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Upload a build of one version and number.
    Upload,
    /// Prepare a version, and submit it for review.
    Version,
}

impl Stage {
    /// The turn that a submission needs at this stage, as the stage changes shared state.
    pub fn needs(self) -> Option<Turn> {
        self.within(Stage::CommitFile, Stage::SubmitReview)
    }

    /// The turn that a submission keeps at this stage, as its changes are not complete.
    pub fn keeps(self) -> Option<Turn> {
        self.within(Stage::AwaitUpload, Stage::AwaitReview)
    }

    fn within(self, last_of_upload: Stage, last_of_version: Stage) -> Option<Turn> {
        if (Stage::CreateUpload..=last_of_upload).contains(&self) {
            Some(Turn::Upload)
        } else if (Stage::Version..=last_of_version).contains(&self) {
            Some(Turn::Version)
        } else {
            None
        }
    }
}

impl Progress {
    /// The same progress at another stage.
    #[must_use]
    pub(crate) fn at(self, stage: Stage) -> Progress {
        Progress { stage, ..self }
    }

    /// The ids in the form of the record, by name.
    pub fn external(&self) -> Vec<(&'static str, &str)> {
        [
            ("appId", &self.app_id),
            ("buildUploadId", &self.build_upload_id),
            ("buildUploadFileId", &self.build_upload_file_id),
            ("buildId", &self.build_id),
            ("appStoreVersionId", &self.version_id),
            ("reviewSubmissionId", &self.review_submission_id),
        ]
        .into_iter()
        .filter(|(_, id)| !id.is_empty())
        .map(|(name, id)| (name, id.as_str()))
        .collect()
    }
}
