//! What a submission has reached in Google Play: the stage, the edit, the upload, and what the track is to hold.

use std::fmt;

use launchway_domain::submission::SubmissionStatus;
use serde::{Deserialize, Serialize};

use crate::release::Release;

/// Kept by the submission's owner between steps, as JSON; what is in it is sealed like a secret, for `session` is one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Progress {
    /// What comes next.
    pub stage: Stage,
    /// The edit that is open.
    pub edit_id: String,
    /// How often another edit, or another upload in it, had to be begun.
    pub redone: u32,
    /// The upload that is under way.
    pub session: Session,
    /// The edit into which the binary was sent. What is in it under the version code is that binary.
    pub sent_into: String,
    /// Whether a commit of it was ever tried.
    pub tried_to_commit: bool,
    /// How many files of symbols are in the store.
    pub symbols_done: usize,
    /// What the track is to hold; none until the first edit is open.
    pub target: Option<Target>,
    /// Whether users have it already.
    pub released: bool,
    /// Whether a release that the review refused is sent to it again.
    pub resend: bool,
    /// What was last said of what it waits for.
    pub waits_for: String,
}

/// The address of an upload that is under way. It is a secret: who has it can send. `Debug` shows nothing of it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session(pub String);

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() {
            "Session(none)"
        } else {
            "Session(…)"
        })
    }
}

/// What a track is to hold of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Google's status of the release.
    pub status: TargetStatus,
    /// Percent of the users, 1 to 99, of a release that is staged.
    pub percent: Option<u8>,
}

/// Google's status of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TargetStatus {
    /// Prepared only.
    Draft,
    /// For a share of the users.
    InProgress,
    /// For nobody else.
    Halted,
    /// For everybody.
    Completed,
}

/// What comes next. Each stage first reads whether it was done before, where doing it twice would matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Open an edit.
    #[default]
    OpenEdit,
    /// See what is there already.
    Look,
    /// Begin to upload the binary.
    StartUpload,
    /// Send it.
    SendBinary,
    /// Begin to upload symbols.
    StartSymbols,
    /// Send them.
    SendSymbols,
    /// Put the release into the track.
    SetTrack,
    /// Have the edit checked.
    Validate,
    /// Commit it.
    Commit,
    /// Wait for the review.
    AwaitReview,
    /// Wait until everybody has it.
    Rollout,
    /// Nothing.
    Done,
}

impl TargetStatus {
    /// Google's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            TargetStatus::Draft => "draft",
            TargetStatus::InProgress => "inProgress",
            TargetStatus::Halted => "halted",
            TargetStatus::Completed => "completed",
        }
    }
}

impl Target {
    /// What a new submission wants.
    pub fn of(release: &Release) -> Target {
        let percent = release.rollout.filter(|percent| (1..100).contains(percent));
        let status = match percent {
            _ if release.options.draft => TargetStatus::Draft,
            Some(_) => TargetStatus::InProgress,
            None => TargetStatus::Completed,
        };
        Target {
            status,
            percent: percent.filter(|_| status == TargetStatus::InProgress),
        }
    }
}

impl Progress {
    /// At another stage.
    #[must_use]
    pub(super) fn at(self, stage: Stage) -> Progress {
        Progress { stage, ..self }
    }

    /// What is wanted of the track.
    pub(super) fn target(&self, release: &Release) -> Target {
        self.target.unwrap_or_else(|| Target::of(release))
    }

    /// The status to show: what users have already does not go back.
    pub(super) fn status(&self, usual: SubmissionStatus) -> SubmissionStatus {
        match self.target {
            Some(target) if self.released && target.status == TargetStatus::Halted => SubmissionStatus::Halted,
            _ if self.released => SubmissionStatus::RollingOut,
            _ => usual,
        }
    }

    /// What a change of a committed release begins with: another share of the users, halted, resumed, for everybody. The
    /// steps then go on from here.
    #[must_use]
    pub fn changed(&self, target: Target) -> Progress {
        Progress {
            stage: Stage::OpenEdit,
            edit_id: String::new(),
            redone: 0,
            target: Some(target),
            ..self.clone()
        }
    }

    /// What a retry of a failed or rejected submission begins with. The first look tells what the store holds.
    #[must_use]
    pub fn for_retry(&self) -> Progress {
        Progress {
            target: self.target,
            released: self.released,
            tried_to_commit: self.tried_to_commit,
            resend: true,
            ..Progress::default()
        }
    }

    /// The ids as the record shows them, by name.
    pub fn external(&self) -> Vec<(&'static str, &str)> {
        let edit = (!self.edit_id.is_empty()).then_some(("editId", self.edit_id.as_str()));
        edit.into_iter().collect()
    }
}
