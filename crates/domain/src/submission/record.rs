//! The record of a submission (`docs/reference/submissions.md#submission-record`), and what is stored between the steps of its
//! work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::destination::Destination;
use super::error::SubmissionError;
use super::{Store, SubmissionState, SubmissionStatus};
use crate::id::{BuildId, CredentialId, OrgId, SubmissionId};
use crate::platform::Platform;
use crate::time::EpochMs;

/// The maximum number of events of a submission; beyond it, the oldest but the first are dropped.
pub const MAX_EVENTS: usize = 200;

/// A submission.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// `submission_…`.
    pub id: SubmissionId,
    /// The organization it belongs to.
    pub org_id: OrgId,
    /// Its current state.
    pub state: SubmissionState,
    /// The build that produced the app; `None` if the app was uploaded.
    pub build_id: Option<BuildId>,
    /// The bundle id as the binary spells it: the app stores are case-sensitive.
    pub bundle_id: String,
    /// The platform.
    pub platform: Platform,
    /// The destination.
    pub destination: Destination,
    /// The version stated in the app.
    pub version: Option<String>,
    /// The build number stated in the app.
    pub build_number: Option<String>,
    /// Lower-case hex SHA-256 of the app.
    pub sha256: String,
    /// Percentage of the users who receive it, 1 to 100.
    pub rollout: u8,
    /// The other parameters of the request.
    pub spec: Spec,
    /// The credential for the app store.
    pub credential_id: Option<CredentialId>,
    /// The app store's own ids by name.
    pub external: BTreeMap<String, String>,
    /// The requested change of its rollout, until the app store has been told.
    pub change: Option<Change>,
    /// Why it failed, or why its last step did. See [`Submission::present_error`].
    pub error: Option<SubmissionError>,
    /// What has happened, oldest first.
    pub events: Vec<Event>,
    /// The state that its work resumes from.
    pub work: Work,
    /// The actor that requested it, as text.
    pub created_by: String,
    /// When it was requested.
    pub created_at: EpochMs,
    /// When it ended.
    pub finished_at: Option<EpochMs>,
}

/// The parameters of a request that lists do not use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Release notes, one for each language.
    pub notes: Vec<Note>,
    /// Options for the app store.
    pub options: Options,
}

/// Release notes in one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The language, as the app store names it.
    pub locale: String,
    /// The text.
    pub text: String,
}

/// Options for an app store. `None` means not specified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// TestFlight groups, by name.
    pub groups: Option<Vec<String>>,
    /// The answer to Apple's export compliance question.
    pub uses_non_exempt_encryption: Option<bool>,
    /// Whether an approved version waits for a manual release.
    pub manual_release: Option<bool>,
    /// Whether a Google Play release is only created as a draft.
    pub draft: Option<bool>,
    /// Google Play's in-app update priority, 0 to 5.
    pub priority: Option<u8>,
    /// The countries of a staged release in `production`, as two-letter codes.
    pub countries: Option<Vec<String>>,
    /// The name of a Google Play release.
    pub release_name: Option<String>,
    /// Whether Google Play is told that the review will be requested manually.
    pub changes_not_sent_for_review: Option<bool>,
}

/// A requested change of a rollout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Percentage of the users, 1 to 100.
    pub rollout: Option<u8>,
    /// Whether the rollout is halted; `false` resumes it.
    pub halted: Option<bool>,
}

impl Change {
    /// Merges this change into an earlier one that has not reached the app store yet.
    #[must_use]
    pub fn merge_into(self, earlier: Option<Change>) -> Change {
        let earlier = earlier.unwrap_or_default();
        Change {
            rollout: self.rollout.or(earlier.rollout),
            halted: self.halted.or(earlier.halted),
        }
    }
}

/// An entry in the history of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it happened.
    pub at: EpochMs,
    /// The status of the submission at that time.
    pub status: String,
    /// What happened, as a sentence.
    pub message: String,
}

/// The state that the work on a submission resumes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Its progress in the app store, sealed; `None` until the binary has been checked.
    pub sealed_progress: Option<String>,
    /// When its next step is due; `None` if there is none.
    pub due_at: Option<EpochMs>,
    /// The number of the last claim of its work.
    pub claim: i64,
    /// How many steps have failed in a row.
    pub failures: u32,
    /// When the first of them failed.
    pub failing_since: EpochMs,
    /// When it last made progress.
    pub since: EpochMs,
    /// Whether it is removed as soon as it is canceled.
    pub is_deleted: bool,
    /// Whether a change of its release is in progress.
    pub is_urgent: bool,
}

/// A file of a submission in object storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionFile {
    /// Its purpose.
    pub kind: FileKind,
    /// Its key in object storage.
    pub blob_key: String,
    /// Its original file name.
    pub file_name: String,
    /// Size in bytes.
    pub size: i64,
    /// Lower-case hex SHA-256.
    pub sha256: String,
}

words! {
    /// The purpose of a submission's file.
    FileKind, error = "must be one of mapping, native",
    /// The app.
    App = "app",
    /// The mapping of ProGuard or R8, which makes crash reports readable.
    Mapping = "mapping",
    /// Symbols that make crash reports of native code readable.
    Native = "native",
}

words! {
    /// The kind of a symbol file.
    SymbolKind:
    /// The mapping of ProGuard or R8.
    Mapping = "mapping",
    /// Symbols of native code.
    Native = "native",
}

impl From<SymbolKind> for FileKind {
    fn from(kind: SymbolKind) -> Self {
        match kind {
            SymbolKind::Mapping => FileKind::Mapping,
            SymbolKind::Native => FileKind::Native,
        }
    }
}

impl Submission {
    /// The app store it is sent to.
    pub fn store(&self) -> Store {
        self.destination.store()
    }

    /// Whether its version is to wait in App Store Connect for a manual release, which may be requested before the version
    /// is approved.
    pub fn may_be_released(&self) -> bool {
        let status = self.state.status;
        let is_out = matches!(status, SubmissionStatus::RollingOut | SubmissionStatus::Halted);
        let is_manual = self.spec.options.manual_release == Some(true);
        self.destination == Destination::AppStore && is_manual && !is_out && !status.is_final()
    }

    /// Whether its step failed, and is retried.
    pub fn is_retrying(&self) -> bool {
        !self.state.status.is_final() && self.work.failures > 0
    }

    /// What is wrong now: why it failed or was rejected, or why its step is retried. A node of an older release leaves
    /// the error of a step in the record when a later try succeeds.
    pub fn present_error(&self) -> Option<&SubmissionError> {
        let has_one = matches!(self.state.status, SubmissionStatus::Failed | SubmissionStatus::Rejected);
        self.error.as_ref().filter(|_| has_one || self.is_retrying())
    }

    /// When a failed step is retried.
    pub fn retry_at(&self) -> Option<EpochMs> {
        self.work.due_at.filter(|_| self.is_retrying())
    }

    /// Whether its next step takes precedence over others: a change of its release, or its cancellation.
    pub fn is_urgent(&self) -> bool {
        self.change.is_some() || self.state.cancel_requested || self.work.is_urgent
    }

    /// Adds an event at `at`. A message equal to the last one is not repeated.
    pub fn add_event(&mut self, at: EpochMs, message: impl Into<String>) {
        let (status, message) = (self.state.status.to_string(), message.into());
        let said = self.events.last();
        if said.is_some_and(|last| last.status == status && last.message == message) {
            return;
        }
        self.events.push(Event { at, status, message });
        if self.events.len() > MAX_EVENTS {
            // The first event records who requested it.
            self.events.remove(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_adds_to_one_that_waits() {
        let change = |rollout, halted| Change { rollout, halted };
        for (earlier, new, wanted) in [
            (None, change(Some(50), None), change(Some(50), None)),
            (
                Some(change(Some(50), None)),
                change(None, Some(true)),
                change(Some(50), Some(true)),
            ),
            (
                Some(change(Some(50), Some(true))),
                change(Some(60), Some(false)),
                change(Some(60), Some(false)),
            ),
        ] {
            assert_eq!(new.merge_into(earlier), wanted);
        }
    }
}
