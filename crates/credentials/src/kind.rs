//! The kinds of credentials, by the names of the contract (part 5).

use std::fmt;
use std::str::FromStr;

/// What a credential is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Calls the App Store Connect API.
    AppStoreConnectKey,
    /// Calls the Google Play Developer API.
    GoogleServiceAccount,
    /// Signs Android apps.
    AndroidKeystore,
    /// Signs apps for Apple's platforms.
    AppleCertificate,
    /// Says which apps, devices and certificates go together on Apple's platforms.
    ProvisioningProfile,
}

/// The text names no kind of credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be app_store_connect_key, google_service_account, android_keystore, apple_certificate or provisioning_profile"
)]
pub struct UnknownKind;

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 5] = [
        Kind::AppStoreConnectKey,
        Kind::GoogleServiceAccount,
        Kind::AndroidKeystore,
        Kind::AppleCertificate,
        Kind::ProvisioningProfile,
    ];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::AppStoreConnectKey => "app_store_connect_key",
            Kind::GoogleServiceAccount => "google_service_account",
            Kind::AndroidKeystore => "android_keystore",
            Kind::AppleCertificate => "apple_certificate",
            Kind::ProvisioningProfile => "provisioning_profile",
        }
    }

    /// What people call it, to follow "the".
    pub const fn title(self) -> &'static str {
        match self {
            Kind::AppStoreConnectKey => "App Store Connect key",
            Kind::GoogleServiceAccount => "Google service account key",
            Kind::AndroidKeystore => "Android keystore",
            Kind::AppleCertificate => "Apple certificate",
            Kind::ProvisioningProfile => "provisioning profile",
        }
    }

    /// The title after "a" or "an".
    pub(crate) const fn one(self) -> &'static str {
        match self {
            Kind::AppStoreConnectKey => "an App Store Connect key (.p8)",
            Kind::GoogleServiceAccount => "a Google service account key (JSON)",
            Kind::AndroidKeystore => "an Android keystore (JKS or PKCS#12)",
            Kind::AppleCertificate => "an Apple certificate with its private key (.p12)",
            Kind::ProvisioningProfile => "a provisioning profile",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or(UnknownKind)
    }
}
