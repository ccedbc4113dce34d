//! The initial state and the behavior of the simulated app stores.

use std::collections::VecDeque;
use std::sync::Arc;

use launchway_credentials::jwt::VerifyingKey;
use launchway_domain::time::{DAY, EpochMs, MINUTE};
use serde::Deserialize;

/// Reads the facts of a binary from its first bytes, as many as are kept. `None`: not an app.
pub type ReadBinary = dyn Fn(&[u8]) -> Option<AppInfo> + Send + Sync;

/// The facts of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppInfo {
    /// The bundle id, or the package name.
    pub bundle_id: String,
    /// The version for people.
    pub version: String,
    /// The build number, or the version code.
    pub build_number: String,
}

/// The behavior of the app stores.
#[derive(Clone)]
pub struct Settings {
    /// The accounts with access. Empty: any key may sign a well-formed token, and signatures are not verified.
    pub accounts: Vec<Account>,
    /// Apps in App Store Connect.
    pub app_store: Vec<AppStoreApp>,
    /// Apps in the Play Console.
    pub google_play: Vec<GooglePlayApp>,
    /// How long the processing of a binary takes.
    pub processing: EpochMs,
    /// How long a review takes.
    pub review: EpochMs,
    /// The length of a day of a phased release.
    pub phased_day: EpochMs,
    /// The size of an upload part in bytes.
    pub part: u64,
    /// The outcomes of the next reviews, in order.
    pub outcomes: VecDeque<Outcome>,
    /// Whether responses contain checksums.
    pub checksums: bool,
    /// The outcome of all later reviews.
    pub outcome: Outcome,
    /// Reads binaries. `None`: their facts are unknown, and Google Play assumes version code 1.
    pub read_binary: Option<Arc<ReadBinary>>,
    /// The number of bytes of a binary that are kept for reading and hashing. Google Play reads the beginning of a
    /// larger one; the App Store does not read it.
    pub kept: usize,
    /// Whether a missing app is created on demand: with the groups `Team` (internal) and `Friends`, and with the
    /// default tracks.
    pub makes_apps: bool,
    /// Whether App Store Connect lets a client take back an approval.
    pub takes_back_approvals: bool,
    /// The receiver of App Store Connect's webhook events.
    pub webhook: Option<Webhook>,
    /// The speed of the time in the app stores: 1 is real time.
    pub speed: u32,
}

/// An account with access.
#[derive(Clone)]
pub enum Account {
    /// A key of App Store Connect.
    AppStore {
        /// The key id.
        key_id: String,
        /// The issuer; an individual key has none.
        issuer_id: Option<String>,
        /// The public key.
        public: VerifyingKey,
    },
    /// A Google service account.
    Google {
        /// The address of the account.
        client_email: String,
        /// The public key.
        public: VerifyingKey,
    },
}

/// An app in App Store Connect.
#[derive(Clone)]
pub struct AppStoreApp {
    /// The bundle id.
    pub bundle_id: String,
    /// The groups of testers.
    pub groups: Vec<Group>,
    /// The version that customers have.
    pub live: Option<String>,
    /// Whether Info.plist answers the encryption question.
    pub answers_encryption: bool,
}

/// A group of testers.
#[derive(Clone)]
pub struct Group {
    /// The name of the group.
    pub name: String,
    /// Whether its testers belong to the team.
    pub internal: bool,
    /// Whether it gets every build automatically.
    pub all_builds: bool,
}

/// An app in the Play Console.
#[derive(Clone)]
pub struct GooglePlayApp {
    /// The package name.
    pub package: String,
    /// Tracks in addition to the default ones.
    pub tracks: Vec<String>,
    /// The version code that is fully rolled out in `production`.
    pub live: Option<i64>,
    /// Whether it was never released.
    pub draft: bool,
    /// Whether changes must be sent for review manually.
    pub review_by_hand: bool,
}

/// The receiver of webhook events.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// The target URL of events.
    pub url: String,
    /// The secret that signs them.
    pub secret: String,
}

/// A manual action on a build in App Store Connect.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ByHand {
    /// The bundle id of the app.
    pub bundle_id: String,
    /// `ios` or `visionos`.
    #[serde(default = "ios")]
    pub platform: String,
    /// The version of the build.
    pub version: String,
    /// The build number. A missing build is uploaded.
    pub build_number: String,
    /// Whether to attach it to the App Store version with the same version string, whatever its state.
    #[serde(default)]
    pub attach: bool,
}

fn ios() -> String {
    "ios".to_owned()
}

/// The outcome of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The review passes.
    Pass,
    /// The review is rejected.
    Reject,
}

impl Settings {
    /// The outcome of the review that is due now.
    pub(crate) fn next_outcome(&mut self) -> Outcome {
        self.outcomes.pop_front().unwrap_or(self.outcome)
    }
}

impl AppStoreApp {
    /// An app that was never released, as apps are created on demand.
    pub fn unreleased(bundle_id: &str) -> AppStoreApp {
        let group = |name: &str, internal| Group {
            name: name.to_owned(),
            internal,
            all_builds: false,
        };
        AppStoreApp {
            bundle_id: bundle_id.to_owned(),
            groups: vec![group("Team", true), group("Friends", false)],
            live: None,
            answers_encryption: true,
        }
    }
}

impl GooglePlayApp {
    /// An app that was never released, as apps are created on demand.
    pub fn unreleased(package: &str) -> GooglePlayApp {
        GooglePlayApp {
            package: package.to_owned(),
            tracks: Vec::new(),
            live: None,
            draft: false,
            review_by_hand: false,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            accounts: Vec::new(),
            app_store: Vec::new(),
            google_play: Vec::new(),
            processing: 5 * MINUTE,
            review: 6 * 60 * MINUTE,
            phased_day: DAY,
            part: 5 << 20,
            outcomes: VecDeque::new(),
            checksums: true,
            outcome: Outcome::Pass,
            read_binary: None,
            kept: 32 << 20,
            makes_apps: false,
            takes_back_approvals: false,
            webhook: None,
            speed: 1,
        }
    }
}
