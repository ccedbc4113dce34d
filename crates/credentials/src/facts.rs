//! What is known of a credential that was accepted. It serializes to the fields of the wire; nothing in it is secret.

use launchway_domain::time::{EpochMs, iso};
use serde::{Deserialize, Serialize, Serializer};

/// What is known of a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Lower-case hex SHA-256: of the certificate, of the public key (SubjectPublicKeyInfo) where there is no
    /// certificate, and of the whole file of a provisioning profile.
    pub fingerprint: String,
    /// When it ends, for kinds that do.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "iso_or_null")]
    pub expires_at: Option<EpochMs>,
    /// What only its kind has.
    #[serde(flatten)]
    pub details: Details,
}

/// What only one kind of credential has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Details {
    /// Calls the App Store Connect API.
    AppStoreConnectKey(AppStoreConnectKey),
    /// Calls the Google Play Developer API.
    GoogleServiceAccount(GoogleServiceAccount),
    /// Signs Android apps.
    AndroidKeystore(AndroidKeystore),
    /// Signs apps for Apple's platforms.
    AppleCertificate(AppleCertificate),
    /// Ties apps, devices and certificates together.
    ProvisioningProfile(ProvisioningProfile),
}

/// A key for the App Store Connect API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppStoreConnectKey {
    /// Its id.
    pub key_id: String,
    /// Who issued it: the team; lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_id: Option<String>,
    /// Whether it is one person's key, which has no issuer.
    pub individual: bool,
}

/// A key of a Google service account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GoogleServiceAccount {
    /// Who it is.
    pub client_email: String,
    /// The project that it belongs to.
    pub project_id: String,
    /// The id of the key.
    pub private_key_id: String,
    /// Where tokens come from.
    pub token_uri: String,
    /// Whether tokens come from this machine, as with a simulator.
    pub local_token_uri: bool,
    /// Bits of the RSA key.
    pub key_size: usize,
}

/// The format of a keystore file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeystoreFormat {
    /// PKCS#12.
    Pkcs12,
    /// Java's own.
    Jks,
}

/// A private key in a keystore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AndroidKeystore {
    /// The format of the file.
    pub format: KeystoreFormat,
    /// The name of the key, as the file has it.
    pub alias: String,
    /// Who the certificate is for, as RFC 4514 writes it.
    pub subject: String,
    /// Lower-case hex SHA-1 of the certificate, as some consoles show it.
    pub sha1_fingerprint: String,
    /// From when on the certificate is valid.
    #[serde(serialize_with = "iso_text")]
    pub not_before: EpochMs,
    /// `RSA` or `EC`.
    pub key_algorithm: &'static str,
    /// Bits of the key.
    pub key_size: usize,
}

/// What an Apple certificate signs apps for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CertificateUse {
    /// For one's own devices.
    Development,
    /// For the App Store, testers and enterprises.
    Distribution,
}

/// A private key with its certificate from Apple.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppleCertificate {
    /// The team's 10 characters.
    pub team_id: String,
    /// Who it is for, such as `Apple Distribution: Example GmbH (ABCDE12345)`.
    pub common_name: String,
    /// What it signs apps for.
    pub certificate_use: CertificateUse,
    /// Who issued it.
    pub issuer: String,
    /// Lower-case hex.
    pub serial_number: String,
    /// Lower-case hex SHA-1 of the certificate, which Apple's tools know it by.
    pub sha1_fingerprint: String,
    /// From when on it is valid.
    #[serde(serialize_with = "iso_text")]
    pub not_before: EpochMs,
    /// `RSA` or `EC`.
    pub key_algorithm: &'static str,
    /// Bits of the key.
    pub key_size: usize,
}

/// What a provisioning profile allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileType {
    /// Debugging on named devices.
    Development,
    /// Named devices.
    AdHoc,
    /// The App Store and TestFlight.
    AppStore,
    /// Every device of an enterprise.
    Enterprise,
}

/// A provisioning profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProvisioningProfile {
    /// Its UUID, as the file has it.
    pub uuid: String,
    /// What people call it.
    pub name: String,
    /// The team's 10 characters.
    pub team_id: String,
    /// What people call the team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
    /// The application identifier: a prefix, a dot, and the bundle id or a pattern.
    pub app_id: String,
    /// The bundle id that it covers, or a pattern that ends in `*`.
    pub bundle_id_pattern: String,
    /// Platforms by Apple's names, such as `iOS`.
    pub platforms: Vec<String>,
    /// What it allows.
    pub profile_type: ProfileType,
    /// How many devices it names.
    pub device_count: usize,
    /// Lower-case hex SHA-256 of each certificate that may sign under it.
    pub certificate_fingerprints: Vec<String>,
    /// The names of the entitlements that it grants, sorted.
    pub entitlements: Vec<String>,
    /// The name of who signed it.
    pub signer: String,
    /// The name at the top of the signer's chain.
    pub root: String,
    /// Whether that name is that of Apple's root. A name proves nothing: the chain is not checked.
    pub root_is_named_apple: bool,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "iso_or_null")]
    pub created_at: Option<EpochMs>,
}

fn iso_text<S: Serializer>(time: &EpochMs, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&iso(*time))
}

fn iso_or_null<S: Serializer>(time: &Option<EpochMs>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(iso).serialize(serializer)
}
