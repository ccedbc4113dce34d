//! What a submission has reached in App Store Connect: the stage, and the id of everything that was made.

use serde::{Deserialize, Serialize};

/// Kept by the submission's owner between steps, as JSON. An empty id is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Progress {
    /// What comes next.
    pub stage: Stage,
    /// The app.
    pub app_id: String,
    /// The upload of the build.
    pub build_upload_id: String,
    /// The file of that upload.
    pub build_upload_file_id: String,
    /// Offsets of the parts that have arrived.
    pub parts_sent: Vec<u64>,
    /// How often all addresses of parts were refused in a row.
    pub parts_refused: u32,
    /// How often the upload was begun anew.
    pub uploads_restarted: u32,
    /// Uploads that hold other bytes than were sent.
    pub spoiled_uploads: Vec<String>,
    /// The build that came of it.
    pub build_id: String,
    /// How many notes are in the store.
    pub notes_done: usize,
    /// The version of the app in the App Store.
    pub version_id: String,
    /// The review.
    pub review_submission_id: String,
    /// What was last said of what it waits for.
    pub waits_for: String,
}

/// What comes next. Each stage first reads whether it was done before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Find the app by its bundle id.
    #[default]
    FindApp,
    /// Announce the build.
    CreateUpload,
    /// Announce its file, and get the addresses of the parts.
    CreateFile,
    /// Send the parts.
    SendParts,
    /// Say that all is there.
    CommitFile,
    /// Wait until the upload has become a build.
    AwaitUpload,
    /// Wait until the build is processed, and answer the question about cryptography.
    AwaitBuild,
    /// TestFlight: say what to test.
    TestNotes,
    /// TestFlight: give it to groups.
    Groups,
    /// TestFlight: have it reviewed, and wait for that.
    BetaReview,
    /// App Store: find or make the version.
    Version,
    /// App Store: give it the build.
    AttachBuild,
    /// App Store: say what is new.
    WhatsNew,
    /// App Store: ask for a release in seven days.
    PhasedRelease,
    /// App Store: find or make a review.
    ReviewSubmission,
    /// App Store: put the version into it.
    ReviewItem,
    /// App Store: begin the review.
    SubmitReview,
    /// App Store: wait for it.
    AwaitReview,
    /// App Store: wait until everybody has it.
    Rollout,
    /// Nothing.
    Done,
}

/// What only one submission of an app and platform may do at a time: App Store Connect holds one build of a number, and
/// one version that is not released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Upload a build of one version and number.
    Upload,
    /// Prepare a version, and have it reviewed.
    Version,
}

impl Stage {
    /// The turn that a submission must have at this stage, for it changes what others would change too.
    pub fn needs(self) -> Option<Turn> {
        self.within(Stage::CommitFile, Stage::SubmitReview)
    }

    /// The turn that a submission keeps at this stage. What it began is not over yet.
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
    /// At another stage.
    #[must_use]
    pub(crate) fn at(self, stage: Stage) -> Progress {
        Progress { stage, ..self }
    }

    /// The ids as the record shows them, by name.
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
