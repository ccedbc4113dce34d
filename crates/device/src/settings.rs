//! What an app says about itself and about how it wants to be updated.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_trust::TrustFile;

/// The settings of an app, which its store binary carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address of the service's API, such as `https://host/api`.
    pub server_url: String,
    /// The app's bundle id.
    pub bundle_id: BundleId,
    /// The platform of the binary.
    pub platform: Platform,
    /// The version of the content inside the binary.
    pub version: String,
    /// The fingerprint of the binary.
    pub fingerprint: Option<String>,
    /// The configuration whose updates the app takes.
    pub configuration: Option<Configuration>,
    /// The root of trust that the app carries. `None`: it takes whatever the server offers.
    pub trust: Option<EmbeddedTrust>,
    /// The file that the app starts with, which every package must hold.
    pub entry_file: String,
    /// How many installed packages are kept, if fewer are needed.
    pub keep_slots: usize,
    /// Whether packages are downloaded without metering only.
    pub wifi_only: bool,
}

/// What a binary carries so that it runs signed updates only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedTrust {
    /// `launchway.trust.json`.
    pub file: TrustFile,
    /// When the binary was built, in milliseconds since 1970. It is never earlier than that.
    pub built_at: u64,
}
