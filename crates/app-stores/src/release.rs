//! What is submitted, in the form that the steps need. Its owner creates and validates it.

use std::sync::Arc;

use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::Destination;
use serde::{Deserialize, Serialize};

use crate::transport::Source;

/// The release notes in one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The language in the app store's spelling, such as `en-US`.
    pub locale: String,
    /// The text.
    pub text: String,
}

/// What earlier submissions of this service sent of a binary's bytes. Version and build number alone do not identify a
/// binary: anybody may have uploaded another one with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierSubmissions {
    /// Uploads to App Store Connect.
    pub uploads: Vec<OwnUpload>,
    /// Whether a release with these bytes was committed to Google Play.
    pub is_committed: bool,
}

/// An upload to App Store Connect, with the ids that were saved before its bytes were committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnUpload {
    /// The id of the upload.
    pub upload_id: String,
    /// The id of its file.
    pub file_id: String,
    /// The id of the resulting build; empty if it is unknown.
    pub build_id: String,
}

/// A binary and its destination.
#[derive(Clone)]
pub struct Release {
    /// The bundle id of the app.
    pub bundle_id: String,
    /// The platform.
    pub platform: Platform,
    /// The version for people.
    pub version: String,
    /// The build number.
    pub build_number: String,
    /// Where it is submitted to.
    pub destination: Destination,
    /// The file name, whose extension determines the format.
    pub file_name: String,
    /// The bytes of the file.
    pub source: Arc<dyn Source>,
    /// The SHA-256 of the file in lower-case hex.
    pub sha256: String,
    /// What the app store received of it before.
    pub earlier: EarlierSubmissions,
    /// The release notes.
    pub notes: Vec<Note>,
    /// The percentage of users that get it first; `None` is all. In the App Store anything below 100 means Apple's
    /// phased release over seven days.
    pub rollout: Option<u8>,
    /// Further options.
    pub options: Options,
}

/// Further options of a submission. Those of other destinations are ignored.
#[derive(Clone, Default)]
pub struct Options {
    /// The names of TestFlight groups.
    pub groups: Vec<String>,
    /// The answer to Apple's encryption question.
    pub uses_non_exempt_encryption: Option<bool>,
    /// Whether an approved version waits for a manual release.
    pub manual_release: bool,
    /// Whether a Google Play release stays a draft.
    pub draft: bool,
    /// Google Play's priority of an update, 0 to 5.
    pub priority: Option<u8>,
    /// The countries of a staged release in `production`, as two-letter codes.
    pub countries: Vec<String>,
    /// The name of a Google Play release.
    pub name: Option<String>,
    /// Whether changes are not sent for review automatically in Google Play.
    pub changes_not_sent_for_review: bool,
    /// Files that make crash reports readable: ProGuard mappings, native symbols.
    pub symbols: Vec<Symbols>,
}

/// A file that makes crash reports readable.
#[derive(Clone)]
pub struct Symbols {
    /// Whether it contains native symbols; otherwise it is a ProGuard mapping.
    pub native: bool,
    /// The bytes of the file.
    pub source: Arc<dyn Source>,
}
