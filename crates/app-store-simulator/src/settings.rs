//! What the simulated stores hold at first, and how they behave.

use std::collections::VecDeque;
use std::sync::Arc;

use launchway_domain::time::{DAY, EpochMs, MINUTE};
use serde::Deserialize;

/// Reads what a binary says of itself, out of as much of its beginning as is kept. `None`: it is no app.
pub type ReadBinary = dyn Fn(&[u8]) -> Option<Said> + Send + Sync;

/// What a binary says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The bundle id, or the package name.
    pub bundle_id: String,
    /// The version that people see.
    pub version: String,
    /// The build number, or the version code.
    pub build_number: String,
}

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
    /// How reviews end after those.
    pub outcome: Outcome,
    /// Reads binaries. `None`: what they say is not known; Google Play then takes version code 1.
    pub read_binary: Option<Arc<ReadBinary>>,
    /// Bytes of a binary that are kept to be read and hashed. Of a larger one Google Play reads the beginning, and the App
    /// Store nothing.
    pub kept: usize,
    /// Whether an app that is asked for and not there is made: with the groups `Team` (internal) and `Friends`, and with
    /// the tracks that every app has.
    pub makes_apps: bool,
    /// Who is told of changes of state in App Store Connect.
    pub webhook: Option<Webhook>,
    /// How fast the time in the stores goes: 1 as in the world.
    pub speed: u32,
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

/// Who is told of changes of state.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// Where events go.
    pub url: String,
    /// What signs them.
    pub secret: String,
}

/// What a person does with a build in App Store Connect.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ByHand {
    /// The app.
    pub bundle_id: String,
    /// `ios` or `visionos`.
    #[serde(default = "ios")]
    pub platform: String,
    /// The version of the build.
    pub version: String,
    /// Its number. A build that the store does not have is uploaded.
    pub build_number: String,
    /// Whether it is attached to the App Store's version of that name, in whatever state that is.
    #[serde(default)]
    pub attach: bool,
}

fn ios() -> String {
    "ios".to_owned()
}

/// How a review ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Passed.
    Pass,
    /// Refused.
    Reject,
}

impl Settings {
    /// How the review ends that is due now.
    pub(crate) fn next_outcome(&mut self) -> Outcome {
        self.outcomes.pop_front().unwrap_or(self.outcome)
    }
}

impl AppStoreApp {
    /// An app that was never released, as those are that are made when somebody asks for them.
    pub fn usual(bundle_id: &str) -> AppStoreApp {
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
    /// An app that was never released, as those are that are made when somebody asks for them.
    pub fn usual(package: &str) -> GooglePlayApp {
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
            webhook: None,
            speed: 1,
        }
    }
}
