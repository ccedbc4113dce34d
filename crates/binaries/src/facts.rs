//! The facts that a binary states about itself. They serialize to the fields of the API; none is secret, and none is
//! verified.

use launchway_credentials::{ProfileType, SigningCertificate};
use launchway_domain::platform::Platform;
use launchway_domain::time::{EpochMs, from_iso, iso};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::MAX_TEXT;

/// The facts that a binary states about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BinaryFacts {
    /// The format of the file.
    pub format: Format,
    /// The bundle id, or Android's application id.
    pub bundle_id: String,
    /// The version for people: `versionName`, `CFBundleShortVersionString`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The build number: `versionCode`, `CFBundleVersion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_number: Option<String>,
    /// The minimum system version: Android's API level such as `24`, or Apple's version such as `15.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_os: Option<String>,
    /// Android's target API level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_sdk: Option<u32>,
    /// The version of Apple's SDK that the app was built with, such as `26.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdk: Option<String>,
    /// Whether an IPA has an icon: an asset catalog, and the icon's name in Info.plist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<bool>,
    /// Whether a debugger may attach; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debuggable: Option<bool>,
    /// The supported platforms, as far as they are known here.
    pub platforms: Vec<Platform>,
    /// Whether the binary runs only in Apple's simulators.
    pub simulator: bool,
    /// The architectures of the native code, such as `arm64-v8a` or Apple's `arm64`. Empty: no native code. Absent:
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architectures: Option<Vec<String>>,
    /// The system classes that require a purpose string and that an IPA's code refers to. Absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_classes: Option<Vec<String>>,
    /// The keys of the purpose strings in an IPA's Info.plist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub purpose_strings: Vec<String>,
    /// The signer, if the binary names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<Signer>,
    /// The provisioning profile of an IPA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// What the code signature of an IPA claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entitlements: Option<Entitlements>,
    /// The libraries of an IPA that contain code for simulators.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub simulator_code: Vec<String>,
    /// The extensions, watch apps and app clips in an IPA.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
    /// Messages about optional parts that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The format of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Android's installable package.
    Apk,
    /// Android's bundle for Google Play.
    Aab,
    /// Apple's archive of an app.
    Ipa,
}

/// The certificate that a binary claims to be signed with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signer {
    /// The subject, in the format of RFC 4514.
    pub subject: String,
    /// The SHA-256 of the certificate in lower-case hex.
    pub sha256: String,
    /// The end of the validity.
    #[serde(serialize_with = "iso_text", deserialize_with = "time")]
    pub not_after: EpochMs,
    /// The scheme of the signature. Of several in one APK, the newest.
    pub scheme: Scheme,
}

/// The signature scheme of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scheme {
    /// A signed JAR: AABs, and APKs for Android 6 and older.
    #[serde(rename = "v1")]
    V1,
    /// The APK Signature Scheme v2.
    #[serde(rename = "v2")]
    V2,
    /// The APK Signature Scheme v3, which supports key rotation.
    #[serde(rename = "v3")]
    V3,
    /// The APK Signature Scheme v3.1, for Android 13 and newer.
    #[serde(rename = "v3.1")]
    V31,
    /// Apple's code signature in the executable.
    #[serde(rename = "codeSignature")]
    CodeSignature,
}

/// The entitlements in a code signature.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entitlements {
    /// The identifier of the app: a prefix, a dot, and the bundle id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_id: Option<String>,
    /// Whether a debugger may attach.
    pub debuggable: bool,
    /// The names of those that the provisioning profile must grant and does not. Empty without a profile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_granted: Vec<String>,
}

/// An extension, watch app or app clip: a bundle with code of its own in an IPA. Absent: unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Extension {
    /// The path in the app, such as `PlugIns/Share.appex`.
    pub path: String,
    /// The bundle id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle_id: Option<String>,
    /// The architectures of the executable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architectures: Option<Vec<String>>,
    /// Whether all code in the executable is signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<bool>,
    /// The provisioning profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// What the code signature claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entitlements: Option<Entitlements>,
}

/// The provisioning profile of an IPA.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// The UUID.
    pub uuid: String,
    /// The display name.
    pub name: String,
    /// The team id of 10 characters.
    pub team_id: String,
    /// The distribution that the profile allows.
    pub profile_type: ProfileType,
    /// The bundle id that it covers, or a pattern that ends in `*`.
    pub bundle_id_pattern: String,
    /// The end of the validity.
    #[serde(serialize_with = "iso_or_null", deserialize_with = "time_or_null")]
    pub expires_at: Option<EpochMs>,
}

impl Format {
    /// The display name, such as `APK`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Apk => "APK",
            Format::Aab => "AAB",
            Format::Ipa => "IPA",
        }
    }
}

impl Signer {
    pub(crate) fn new(certificate: SigningCertificate, scheme: Scheme) -> Self {
        Self {
            subject: certificate.subject.chars().take(MAX_TEXT).collect(),
            sha256: certificate.sha256,
            not_after: certificate.not_after,
            scheme,
        }
    }
}

fn iso_text<S: Serializer>(time: &EpochMs, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&iso(*time))
}

fn iso_or_null<S: Serializer>(time: &Option<EpochMs>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(iso).serialize(serializer)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<EpochMs, D::Error> {
    let text = String::deserialize(deserializer)?;
    from_iso(&text).ok_or_else(|| D::Error::custom("no time"))
}

fn time_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EpochMs>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let time = text.map(|text| from_iso(&text).ok_or_else(|| D::Error::custom("no time")));
    time.transpose()
}
