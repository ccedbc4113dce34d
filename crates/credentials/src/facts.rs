//! The facts about an accepted credential. They serialize to the fields of the API; none is secret.

use launchway_domain::time::{EpochMs, iso};
use serde::{Deserialize, Serialize, Serializer};

/// The facts about a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// The SHA-256 in lower-case hex: of the certificate; of the public key (SubjectPublicKeyInfo) if there is no
    /// certificate; of the whole file of a provisioning profile.
    pub fingerprint: String,
    /// The end of the validity, for kinds that expire.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "iso_or_null")]
    pub expires_at: Option<EpochMs>,
    /// The facts that only its kind has.
    #[serde(flatten)]
    pub details: Details,
}

/// The facts that only one kind of credential has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Details {
    /// Authenticates calls of the App Store Connect API.
    AppStoreConnectKey(AppStoreConnectKey),
    /// Authenticates calls of the Google Play Developer API.
    GoogleServiceAccount(GoogleServiceAccount),
    /// Signs Android apps.
    AndroidKeystore(AndroidKeystore),
    /// Signs apps for Apple's platforms.
    AppleCertificate(AppleCertificate),
    /// Binds apps, devices and certificates together.
    ProvisioningProfile(ProvisioningProfile),
}

/// A key for the App Store Connect API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppStoreConnectKey {
    /// The key id.
    pub key_id: String,
    /// The issuer id, which identifies the team, in lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_id: Option<String>,
    /// Whether it is an individual key, which has no issuer.
    pub individual: bool,
}

/// A key of a Google service account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GoogleServiceAccount {
    /// The address of the service account.
    pub client_email: String,
    /// The project of the service account.
    pub project_id: String,
    /// The id of the key.
    pub private_key_id: String,
    /// The URL that issues tokens.
    pub token_uri: String,
    /// Whether the token URL is on this machine, as with a simulator.
    pub local_token_uri: bool,
    /// The size of the RSA key in bits.
    pub key_size: usize,
}

/// The format of a keystore file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeystoreFormat {
    /// PKCS#12.
    Pkcs12,
    /// Java's own format.
    Jks,
}

/// A private key in a keystore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AndroidKeystore {
    /// The format of the file.
    pub format: KeystoreFormat,
    /// The name of the key, as in the file.
    pub alias: String,
    /// The subject of the certificate, in the format of RFC 4514.
    pub subject: String,
    /// The SHA-1 of the certificate in lower-case hex, as some consoles show it.
    pub sha1_fingerprint: String,
    /// The start of the certificate's validity.
    #[serde(serialize_with = "iso_text")]
    pub not_before: EpochMs,
    /// `RSA` or `EC`.
    pub key_algorithm: &'static str,
    /// The size of the key in bits.
    pub key_size: usize,
}

/// The purpose of an Apple certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CertificateUse {
    /// Development on registered devices.
    Development,
    /// The App Store, testers and enterprises.
    Distribution,
}

/// A private key with its certificate from Apple.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppleCertificate {
    /// The team id of 10 characters.
    pub team_id: String,
    /// The common name, such as `Apple Distribution: Example GmbH (ABCDE12345)`.
    pub common_name: String,
    /// The purpose of the certificate.
    pub certificate_use: CertificateUse,
    /// The issuer of the certificate.
    pub issuer: String,
    /// The serial number in lower-case hex.
    pub serial_number: String,
    /// The SHA-1 of the certificate in lower-case hex, which identifies it in Apple's tools.
    pub sha1_fingerprint: String,
    /// The start of the validity.
    #[serde(serialize_with = "iso_text")]
    pub not_before: EpochMs,
    /// `RSA` or `EC`.
    pub key_algorithm: &'static str,
    /// The size of the key in bits.
    pub key_size: usize,
}

/// The distribution that a provisioning profile allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileType {
    /// Debugging on registered devices.
    Development,
    /// Registered devices.
    AdHoc,
    /// The App Store and TestFlight.
    AppStore,
    /// All devices of an enterprise.
    Enterprise,
}

/// A provisioning profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProvisioningProfile {
    /// The UUID, as in the file.
    pub uuid: String,
    /// The display name.
    pub name: String,
    /// The team id of 10 characters.
    pub team_id: String,
    /// The display name of the team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
    /// The application identifier: a prefix, a dot, and the bundle id or a pattern.
    pub app_id: String,
    /// The bundle id that it covers, or a pattern that ends in `*`.
    pub bundle_id_pattern: String,
    /// Platforms by Apple's names, such as `iOS`.
    pub platforms: Vec<String>,
    /// The distribution that it allows.
    pub profile_type: ProfileType,
    /// The number of registered devices.
    pub device_count: usize,
    /// The SHA-256 in lower-case hex of each certificate that may sign with it.
    pub certificate_fingerprints: Vec<String>,
    /// The sorted names of the entitlements that it grants.
    pub entitlements: Vec<String>,
    /// The common name of the signer.
    pub signer: String,
    /// The common name at the top of the signer's chain.
    pub root: String,
    /// Whether that is the name of Apple's root. A name proves nothing: the chain is not verified.
    pub root_is_named_apple: bool,
    /// When the profile was created.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "iso_or_null")]
    pub created_at: Option<EpochMs>,
}

fn iso_text<S: Serializer>(time: &EpochMs, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&iso(*time))
}

fn iso_or_null<S: Serializer>(time: &Option<EpochMs>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(iso).serialize(serializer)
}
