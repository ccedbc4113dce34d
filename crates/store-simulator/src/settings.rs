//! What the simulated stores hold at first, and how they behave.

use std::collections::VecDeque;
use std::sync::Arc;

use launchway_domain::time::{DAY, EpochMs, MINUTE};

/// Reads the package name and version code out of the beginning of a binary, at most 32 MiB of it.
pub type ReadBinary = dyn Fn(&[u8]) -> Option<(String, i64)> + Send + Sync;

/// How the stores behave.
#[derive(Clone)]
pub struct Settings {
    /// Who may call. Empty: every key that signs its token in the right form may, and signatures are not checked.
    pub accounts: Vec<Account>,
    /// Apps in App Store Connect.
    pub app_store: Vec<AppStoreApp>,
    /// Apps in the Play Console.
    pub google_play: Vec<GooglePlayApp>,
    /// How long a binary is processed.
    pub processing: EpochMs,
    /// How long a review takes.
    pub review: EpochMs,
    /// How long a day of a phased release is.
    pub phased_day: EpochMs,
    /// Bytes of a part of an upload.
    pub part: u64,
    /// How reviews end, in this order; after them all are passed.
    pub outcomes: VecDeque<Outcome>,
    /// Whether answers tell checksums.
    pub checksums: bool,
    /// Reads binaries for Google Play. `None`: what they say is not known, and the version code is 1.
    pub read_binary: Option<Arc<ReadBinary>>,
}

/// Who may call.
#[derive(Clone)]
pub enum Account {
    /// A key of App Store Connect.
    AppStore {
        /// Its id.
        key_id: String,
        /// The issuer; an individual key has none.
        issuer_id: Option<String>,
        /// Its public half, SEC 1.
        public: Vec<u8>,
    },
    /// A service account of Google.
    Google {
        /// Its address.
        client_email: String,
        /// Its public half, RSAPublicKey of RFC 8017.
        public: Vec<u8>,
    },
}

/// An app in App Store Connect.
#[derive(Clone)]
pub struct AppStoreApp {
    /// Its bundle id.
    pub bundle_id: String,
    /// Groups of testers.
    pub groups: Vec<Group>,
    /// The version that customers have.
    pub live: Option<String>,
    /// Whether Info.plist answers the question about cryptography.
    pub answers_encryption: bool,
}

/// A group of testers.
#[derive(Clone)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Whether its testers are of the team.
    pub internal: bool,
    /// Whether it gets every build by itself.
    pub all_builds: bool,
}

/// An app in the Play Console.
#[derive(Clone)]
pub struct GooglePlayApp {
    /// Its package name.
    pub package: String,
    /// Tracks beside those that every app has.
    pub tracks: Vec<String>,
    /// The version code that everybody has in `production`.
    pub live: Option<i64>,
    /// Whether it was never released.
    pub draft: bool,
    /// Whether the review must be asked for by hand.
    pub review_by_hand: bool,
}

/// How a review ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Passed.
    Pass,
    /// Refused.
    Reject,
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
            read_binary: None,
        }
    }
}
