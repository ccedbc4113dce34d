//! The record of a submission (`docs/reference/submissions.md#submission-record`), and what is stored between the steps of
//! its work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::destination::Destination;
use super::error::SubmissionError;
use super::{Store, SubmissionState, SubmissionStatus};
use crate::id::{BuildId, CredentialId, OrgId, SubmissionId};
use crate::platform::Platform;
use crate::time::EpochMs;

/// A submission tells of at most so many events; the oldest but the first go.
pub const MAX_EVENTS: usize = 200;

/// A submission.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// `submission_…`.
    pub id: SubmissionId,
    /// Whose it is.
    pub org_id: OrgId,
    /// Where it stands.
    pub state: SubmissionState,
    /// The build whose app it is; `None` when the app was uploaded.
    pub build_id: Option<BuildId>,
    /// The app, as the binary writes it: the stores tell letter case apart.
    pub bundle_id: String,
    /// What it is for.
    pub platform: Platform,
    /// Where it goes.
    pub destination: Destination,
    /// The version that the app says it has.
    pub version: Option<String>,
    /// The build number that the app says it has.
    pub build_number: Option<String>,
    /// Lower-case hex SHA-256 of the app.
    pub sha256: String,
    /// Percent of the users who get it, 1 to 100.
    pub rollout: u8,
    /// What was asked for besides.
    pub spec: Spec,
    /// The credential that the store knows.
    pub credential_id: Option<CredentialId>,
    /// The store's own ids by name.
    pub external: BTreeMap<String, String>,
    /// What somebody wants of its rollout, as long as the store was not told.
    pub change: Option<Change>,
    /// Why it did not get there.
    pub error: Option<SubmissionError>,
    /// What happened so far, oldest first.
    pub events: Vec<Event>,
    /// What its work goes on from.
    pub work: Work,
    /// Who asked for it.
    pub created_by: String,
    /// When.
    pub created_at: EpochMs,
    /// When it ended.
    pub finished_at: Option<EpochMs>,
}

/// What was asked for, beside what lists look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// What is new, once a language.
    pub notes: Vec<Note>,
    /// What else is asked of the store.
    pub options: Options,
}

/// What is new, in one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The language as the store names it.
    pub locale: String,
    /// The text.
    pub text: String,
}

/// What else is asked of a store. `None` was not said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Groups of TestFlight's testers, by name.
    pub groups: Option<Vec<String>>,
    /// The answer to Apple's question about cryptography.
    pub uses_non_exempt_encryption: Option<bool>,
    /// Whether an approved version waits until it is released by hand.
    pub manual_release: Option<bool>,
    /// Whether a Google Play release is only drafted.
    pub draft: Option<bool>,
    /// Google Play's priority of an update, 0 to 5.
    pub priority: Option<u8>,
    /// The countries of a staged release in `production`, as two letters.
    pub countries: Option<Vec<String>>,
    /// The name of a Google Play release.
    pub release_name: Option<String>,
    /// Whether Google Play is told that the review is asked for by hand.
    pub changes_not_sent_for_review: Option<bool>,
}

/// What somebody wants of a rollout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Percent of the users, 1 to 100.
    pub rollout: Option<u8>,
    /// Whether nobody else gets it for now; `false` has it go on.
    pub halted: Option<bool>,
}

impl Change {
    /// This change after one that the store was not told of yet.
    #[must_use]
    pub fn after(self, earlier: Option<Change>) -> Change {
        let earlier = earlier.unwrap_or_default();
        Change {
            rollout: self.rollout.or(earlier.rollout),
            halted: self.halted.or(earlier.halted),
        }
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: EpochMs,
    /// The status that the submission had then.
    pub status: String,
    /// What happened, as a sentence.
    pub message: String,
}

/// What the work on a submission goes on from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// What it has reached in the store, sealed; `None` until the binary was checked.
    pub sealed_progress: Option<String>,
    /// When its next step is due; `None`: never.
    pub due_at: Option<EpochMs>,
    /// The number of the last claim of its work.
    pub claim: i64,
    /// How many steps failed in a row.
    pub failures: u32,
    /// When the first of them did.
    pub failing_since: EpochMs,
    /// When it got ahead last.
    pub since: EpochMs,
    /// Whether it is removed as soon as it is canceled.
    pub is_deleted: bool,
    /// Whether a change of its release is under way.
    pub is_urgent: bool,
}

/// A file of a submission in object storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionFile {
    /// What it is for.
    pub kind: FileKind,
    /// Where it lies.
    pub blob_key: String,
    /// The name it was given under.
    pub file_name: String,
    /// Bytes.
    pub size: i64,
    /// Lower-case hex SHA-256.
    pub sha256: String,
}

words! {
    /// What a file of a submission is for.
    FileKind, "mapping, native",
    /// The app.
    App = "app",
    /// Makes crash reports of ProGuard's and R8's output readable.
    Mapping = "mapping",
    /// Makes crash reports of native code readable.
    Native = "native",
}

words! {
    /// What makes crash reports readable.
    SymbolKind, "mapping, native",
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
    /// The store it goes to.
    pub fn store(&self) -> Store {
        self.destination.store()
    }

    /// Whether it waits in App Store Connect for somebody to release it, as far as was asked.
    pub fn may_be_released(&self) -> bool {
        self.destination == Destination::AppStore
            && self.state.status == SubmissionStatus::InReview
            && self.spec.options.manual_release == Some(true)
    }

    /// Whether its next step must not wait behind others: a change of its release, or an end to it.
    pub fn is_urgent(&self) -> bool {
        self.change.is_some() || self.state.cancel_requested || self.work.is_urgent
    }

    /// Notes that something happened now. What was said last is not said again.
    pub fn tell(&mut self, at: EpochMs, message: impl Into<String>) {
        let (status, message) = (self.state.status.to_string(), message.into());
        let said = self.events.last();
        if said.is_some_and(|last| last.status == status && last.message == message) {
            return;
        }
        self.events.push(Event { at, status, message });
        if self.events.len() > MAX_EVENTS {
            // The first one says who began it.
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
            assert_eq!(new.after(earlier), wanted);
        }
    }
}
