//! The progress of a submission in Google Play: the stage, the edit, the upload, and the target state of the track.

use std::fmt;

use launchway_domain::submission::SubmissionStatus;
use launchway_domain::words;
use serde::{Deserialize, Serialize};

use crate::release::Release;

/// The progress, which the submission's owner saves between steps as JSON. It is sealed like a secret, as `session` is
/// one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Progress {
    /// The next stage.
    pub stage: Stage,
    /// The id of the open edit.
    pub edit_id: String,
    /// How many times another edit was opened, or another upload in it started.
    pub redone: u32,
    /// The upload in progress.
    pub session: Session,
    /// The edit that received the binary. The binary in it with the version code is the submission's.
    pub sent_into: String,
    /// Whether a commit of it was ever tried.
    pub tried_to_commit: bool,
    /// The number of symbol files that are stored.
    pub symbols_done: usize,
    /// The target state of the track; `None` until the first edit is open.
    pub target: Option<Target>,
    /// Whether the percentage of users in the track counts instead of the target's: a person may have changed it.
    pub keeps_percent: bool,
    /// Whether users already have it.
    pub released: bool,
    /// Whether the track has listed the committed release.
    pub listed: bool,
    /// Whether a release that the review rejected is resubmitted.
    pub resend: bool,
    /// The last reported reason for waiting.
    pub waits_for: String,
}

/// The URL of an upload in progress. It is a secret that allows sending; `Debug` omits it.
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

/// The target state of a release in a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Google's status of the release.
    pub status: TargetStatus,
    /// The percentage of users, 1 to 99, of a staged release.
    pub percent: Option<u8>,
}

words! {
    /// Google's status of a release.
    TargetStatus:
    /// Prepared only.
    Draft = "draft",
    /// For a percentage of the users.
    InProgress = "inProgress",
    /// For no further users.
    Halted = "halted",
    /// For all users.
    Completed = "completed",
}

/// The next stage. Each stage first checks whether it was already done, where repeating it would matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Open an edit.
    #[default]
    OpenEdit,
    /// Check what already exists.
    Look,
    /// Start the upload of the binary.
    StartUpload,
    /// Send the binary.
    SendBinary,
    /// Start the upload of symbols.
    StartSymbols,
    /// Send the symbols.
    SendSymbols,
    /// Put the release into the track.
    SetTrack,
    /// Validate the edit.
    Validate,
    /// Commit the edit.
    Commit,
    /// Wait for the review.
    AwaitReview,
    /// Wait until the rollout is complete.
    Rollout,
    /// The submission is complete.
    Done,
}

impl Target {
    /// The target of a new submission.
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
    /// The same progress at another stage.
    #[must_use]
    pub(super) fn at(self, stage: Stage) -> Progress {
        Progress { stage, ..self }
    }

    /// The target state of the track.
    pub(super) fn target(&self, release: &Release) -> Target {
        self.target.unwrap_or_else(|| Target::of(release))
    }

    /// The status for the record: a release that users have does not go back.
    pub(super) fn status(&self, usual: SubmissionStatus) -> SubmissionStatus {
        match self.target {
            Some(target) if self.released && target.status == TargetStatus::Halted => SubmissionStatus::Halted,
            _ if self.released => SubmissionStatus::RollingOut,
            _ => usual,
        }
    }

    /// The initial progress for a change of a committed release: another percentage of users, halted, resumed,
    /// completed. The steps continue from there.
    #[must_use]
    pub fn for_change(&self, target: Target) -> Progress {
        Progress {
            stage: Stage::OpenEdit,
            edit_id: String::new(),
            redone: 0,
            target: Some(target),
            keeps_percent: false,
            listed: false,
            ..self.clone()
        }
    }

    /// The same for a change that names no percentage, such as a halt: the one in the track stays, whoever set it.
    #[must_use]
    pub fn for_change_of_status(&self, target: Target) -> Progress {
        Progress {
            keeps_percent: true,
            ..self.for_change(target)
        }
    }

    /// The initial progress for a retry of a failed or rejected submission. The first check finds what Google Play has.
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

    /// The ids in the form of the record, by name.
    pub fn external(&self) -> Vec<(&'static str, &str)> {
        let edit = (!self.edit_id.is_empty()).then_some(("editId", self.edit_id.as_str()));
        edit.into_iter().collect()
    }
}
