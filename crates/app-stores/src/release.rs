//! What is submitted, as the steps need it. Formed and checked by its owner.

use std::sync::Arc;

use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::Destination;
use serde::{Deserialize, Serialize};

use crate::transport::Source;

/// What is new, in one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The language as the store names it, such as `en-US`.
    pub locale: String,
    /// The text.
    pub text: String,
}

/// What the stores got of a binary's bytes by earlier submissions of the same service. Version and build number alone do
/// not tell what a binary is: anybody may have uploaded another one under them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Uploads to App Store Connect.
    pub uploads: Vec<OwnUpload>,
    /// Whether a release with these bytes was committed to Google Play.
    pub is_committed: bool,
}

/// An upload to App Store Connect, by the ids that were kept before its bytes were committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnUpload {
    /// The upload.
    pub upload_id: String,
    /// Its file.
    pub file_id: String,
    /// The build that came of it; empty when that was not seen.
    pub build_id: String,
}

/// A binary, and where it goes.
#[derive(Clone)]
pub struct Release {
    /// The app.
    pub bundle_id: String,
    /// Its platform.
    pub platform: Platform,
    /// The version that people see.
    pub version: String,
    /// The number that the store counts by.
    pub build_number: String,
    /// Where it goes.
    pub destination: Destination,
    /// The name of the file; its ending says its form.
    pub file_name: String,
    /// Its bytes.
    pub source: Arc<dyn Source>,
    /// Their SHA-256, lower-case hex.
    pub sha256: String,
    /// What the store got of them before.
    pub earlier: Earlier,
    /// What is new.
    pub notes: Vec<Note>,
    /// Percent of the users that get it at first; `None` is everybody. In the App Store anything below 100 means the
    /// store's own release in seven days.
    pub rollout: Option<u8>,
    /// What else is asked.
    pub options: Options,
}

/// What else can be asked of a store. What does not concern the destination is not looked at.
#[derive(Clone, Default)]
pub struct Options {
    /// Groups of TestFlight's testers, by name.
    pub groups: Vec<String>,
    /// The answer to Apple's question about cryptography.
    pub uses_non_exempt_encryption: Option<bool>,
    /// Whether an approved version waits until it is released by hand.
    pub manual_release: bool,
    /// Whether a Google Play release is only drafted.
    pub draft: bool,
    /// Google Play's priority of an update, 0 to 5.
    pub priority: Option<u8>,
    /// The countries of a staged release in `production`, as two letters.
    pub countries: Vec<String>,
    /// The name of a Google Play release.
    pub name: Option<String>,
    /// Whether Google Play is told that the review is asked for by hand.
    pub changes_not_sent_for_review: bool,
    /// Files that make crash reports readable: ProGuard's mapping, native symbols.
    pub symbols: Vec<Symbols>,
}

/// A file that makes crash reports readable.
#[derive(Clone)]
pub struct Symbols {
    /// Whether it is of native code; ProGuard's mapping otherwise.
    pub native: bool,
    /// Its bytes.
    pub source: Arc<dyn Source>,
}
