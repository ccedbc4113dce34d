//! Finds what an app store would refuse before any call to it, by comparing the metadata of the binary with the request
//! (`docs/reference/submissions.md#preflight`). Each finding names the app store's error that it prevents. A fact that the
//! binary does not state is never a finding.

mod apple;
mod bundles;
mod purpose;

use std::cmp::Ordering;

use super::Store;
use super::destination::Destination;
use super::error::{SubmissionError, SubmissionErrorCode as Code};
use crate::bundle_id::BundleId;
use crate::platform::Platform;
use crate::time::EpochMs;

pub use purpose::{PURPOSE_STRINGS, missing_purpose_strings, purpose_keys};

/// The highest version code that Google Play accepts.
pub const MAX_VERSION_CODE: u64 = 2_100_000_000;
/// The API level that Google Play requires apps to target, unless the operator sets another: 36 since 2026-08-31.
pub const TARGET_SDK_FLOOR: u32 = 36;
/// The major version of the SDKs that App Store Connect requires, unless the operator sets another: 26 since 2026-04-28.
pub const APPLE_SDK_FLOOR: u32 = 26;
/// The subject of the certificates that Android's tools make for debugging.
const DEBUG_SIGNER: &str = "CN=Android Debug";
/// The maximum sizes in bytes of an .apk, an .aab and an .ipa. Google: 10 GiB (`Apk`), 50 GiB (`Bundle`), according to the
/// discovery document; Apple: 4 GB for an app.
const MAX_APK: u64 = 10 << 30;
const MAX_AAB: u64 = 50 << 30;
const MAX_IPA: u64 = 4_000_000_000;

/// The format of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryFormat {
    /// Android's installable package.
    Apk,
    /// Android's bundle for Google Play.
    Aab,
    /// Apple's app archive.
    Ipa,
}

/// The purpose of a provisioning profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileKind {
    /// The App Store and TestFlight.
    AppStore,
    /// Anything else: development, ad hoc, enterprise.
    Other,
}

/// The provisioning profile in a binary.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its purpose.
    pub kind: ProfileKind,
    /// When it expires.
    pub expires_at: Option<EpochMs>,
    /// The bundle id that it covers, or a pattern that ends in `*`.
    pub bundle_id_pattern: String,
}

/// The entitlements in a code signature.
#[derive(Clone, Debug, Default)]
pub struct Entitlements {
    /// A prefix, a dot, and the bundle id.
    pub application_id: Option<String>,
    /// Whether a debugger may attach.
    pub debuggable: bool,
    /// Those that the profile must grant and does not.
    pub not_granted: Vec<String>,
}

/// An extension, watch app or app clip in an app.
#[derive(Clone, Debug, Default)]
pub struct Extension {
    /// Its path in the app, such as `PlugIns/Share.appex`.
    pub path: String,
    /// Its bundle id.
    pub bundle_id: Option<String>,
    /// The architectures of its executable.
    pub architectures: Option<Vec<String>>,
    /// Whether all its code is signed.
    pub signed: Option<bool>,
    /// Its provisioning profile.
    pub profile: Option<Profile>,
    /// What its code signature claims.
    pub entitlements: Option<Entitlements>,
}

/// The metadata of a binary. An absent field is not stated in the binary, or was not read.
#[derive(Clone, Debug)]
pub struct Binary {
    /// Its format.
    pub format: BinaryFormat,
    /// Size in bytes.
    pub size: u64,
    /// Bundle id, or application id.
    pub bundle_id: String,
    /// `CFBundleShortVersionString`, `versionName`.
    pub version: Option<String>,
    /// `CFBundleVersion`, `versionCode`.
    pub build_number: Option<String>,
    /// The platforms it is built for.
    pub platforms: Vec<Platform>,
    /// Whether it runs only in a simulator.
    pub simulator: bool,
    /// Whether a debugger may attach.
    pub debuggable: Option<bool>,
    /// The Android API level it targets.
    pub target_sdk: Option<u32>,
    /// Architectures of its native code, such as `arm64` or `armeabi-v7a`; empty if it has none.
    pub architectures: Option<Vec<String>>,
    /// Lower-case hex SHA-256 of the certificate that signed it. `Some(None)`: it is not signed.
    pub signer: Option<Option<String>>,
    /// When that certificate expires.
    pub signer_not_after: Option<EpochMs>,
    /// The subject of that certificate.
    pub signer_subject: Option<String>,
    /// Its provisioning profile.
    pub profile: Option<Profile>,
    /// What its code signature claims.
    pub entitlements: Option<Entitlements>,
    /// The libraries in it with code that only simulators run.
    pub simulator_code: Vec<String>,
    /// The extensions, watch apps and app clips in it.
    pub extensions: Vec<Extension>,
    /// The version of Apple's SDK that it was built with, such as `26.0`.
    pub sdk: Option<String>,
    /// Whether it has an icon in an asset catalog.
    pub icon: Option<bool>,
    /// System classes that its code refers to, such as `AVCaptureDevice`.
    pub system_classes: Option<Vec<String>>,
    /// Keys of its Info.plist with a nonempty text.
    pub info_keys: Option<Vec<String>>,
}

/// The request, and what is known about the app store.
#[derive(Clone, Debug)]
pub struct Expectations<'a> {
    /// The app.
    pub bundle_id: &'a BundleId,
    /// Its platform.
    pub platform: Platform,
    /// Its destination.
    pub destination: &'a Destination,
    /// The version that the request names.
    pub version: Option<&'a str>,
    /// The build number that the request names.
    pub build_number: Option<&'a str>,
    /// The highest released version, as far as this service knows.
    pub live_version: Option<&'a str>,
    /// The highest uploaded build number, of that version where builds are counted per version.
    pub live_build_number: Option<&'a str>,
    /// Lower-case hex SHA-256 of the certificate of the app's upload key.
    pub upload_key: Option<&'a str>,
    /// The API level that Google Play requires.
    pub target_sdk_floor: u32,
    /// The major version of Apple's SDKs that App Store Connect requires.
    pub apple_sdk_floor: u32,
    /// The current time.
    pub now: EpochMs,
}

/// Everything that the app store would refuse, as far as is known.
pub fn findings(binary: &Binary, asked: &Expectations<'_>) -> Vec<SubmissionError> {
    let mut found = Vec::new();
    let mut report = |code, message: String| found.push(SubmissionError::new(code, message));
    identity(binary, asked, &mut report);
    numbers(binary, asked, &mut report);
    match asked.destination.store() {
        Store::AppStore => apple::check(binary, asked, &mut report),
        Store::GooglePlay => google(binary, asked, &mut report),
    }
    found
}

type Report<'t> = &'t mut dyn FnMut(Code, String);

fn identity(binary: &Binary, asked: &Expectations<'_>, report: Report<'_>) {
    let store = asked.destination.store();
    let (fits, limit) = match (store, binary.format) {
        (Store::AppStore, BinaryFormat::Ipa) => (true, MAX_IPA),
        (Store::GooglePlay, BinaryFormat::Aab) => (true, MAX_AAB),
        (Store::GooglePlay, BinaryFormat::Apk) => (true, MAX_APK),
        (_, _) => (false, u64::MAX),
    };
    if !fits {
        let title = store.title();
        report(Code::WrongFormat, format!("{title} does not accept files of this type"));
        return;
    }
    if binary.size > limit {
        let (size, title) = (binary.size, store.title());
        report(
            Code::TooLarge,
            format!("The binary has {size} bytes, more than the {limit} that {title} accepts"),
        );
    }
    // The app stores compare bundle ids with regard to letter case, although here one organization owns an id in any case.
    if binary.bundle_id != asked.bundle_id.as_str() {
        let error = match store {
            Store::AppStore => "ITMS-90054: this bundle is invalid",
            Store::GooglePlay => "your APK or Android App Bundle needs to have the package name of the app",
        };
        let (said, wanted) = (excerpt(&binary.bundle_id), asked.bundle_id.as_str());
        report(
            Code::BundleIdMismatch,
            format!("The binary has the bundle id {said}, not {wanted}. The store would say: {error}."),
        );
    }
    if !binary.platforms.is_empty() && !binary.platforms.contains(&asked.platform) {
        let platform = asked.platform;
        report(
            Code::PlatformMismatch,
            format!("The binary is not built for {platform}"),
        );
    }
    let compared = [
        (Code::VersionMismatch, "version", &binary.version, asked.version),
        (
            Code::BuildNumberMismatch,
            "build number",
            &binary.build_number,
            asked.build_number,
        ),
    ];
    for (code, what, said, wanted) in compared {
        if let (Some(said), Some(wanted)) = (said, wanted)
            && said != wanted
        {
            let said = excerpt(said);
            report(code, format!("The binary has the {what} {said}, not {wanted}"));
        }
    }
}

/// Checks the form of version and build number, and that they are above those in the app store.
fn numbers(binary: &Binary, asked: &Expectations<'_>, report: Report<'_>) {
    let store = asked.destination.store();
    if let Some(number) = &binary.build_number {
        let shown_number = excerpt(number);
        let malformed = match store {
            Store::AppStore => parts(number).is_none(),
            Store::GooglePlay => !number
                .parse::<u64>()
                .is_ok_and(|code| (1..=MAX_VERSION_CODE).contains(&code)),
        };
        if malformed {
            report(
                Code::VersionMalformed,
                format!("The store does not accept the build number {shown_number}"),
            );
        } else if let Some(live) = asked.live_build_number
            && above(number, live).is_some_and(|order| order != Ordering::Greater)
        {
            let error = match store {
                Store::AppStore => "ITMS-90189: redundant binary upload",
                Store::GooglePlay => "version code has already been used",
            };
            report(
                Code::BuildNumberUsed,
                format!(
                    "The build number {shown_number} is not above {live}, which is already uploaded. The store would \
                     say: {error}."
                ),
            );
        }
    }
    if let (Store::AppStore, Some(version)) = (store, &binary.version) {
        let shown_version = excerpt(version);
        if parts(version).is_none() {
            report(
                Code::VersionMalformed,
                format!(
                    "The version {shown_version} is not one to three whole numbers with dots. The store would say: \
                     ITMS-90060."
                ),
            );
        } else if let Some(live) = asked.live_version
            && above(version, live).is_some_and(|order| order != Ordering::Greater)
        {
            report(
                Code::VersionNotNewer,
                format!(
                    "The version {shown_version} is not above {live}, which is already released. The store would \
                     say: ITMS-90062 or ITMS-90186."
                ),
            );
        }
    }
}

fn google(binary: &Binary, asked: &Expectations<'_>, report: Report<'_>) {
    if binary.debuggable == Some(true) {
        report(
            Code::Debuggable,
            "The binary is debuggable. The store would say: you uploaded a debuggable APK or Android App Bundle."
                .to_owned(),
        );
    }
    let floor = asked.target_sdk_floor;
    // Internal testing accepts older targets.
    if let Some(target) = binary.target_sdk.filter(|target| *target < floor)
        && asked.destination.as_str() != "internal"
    {
        report(
            Code::TargetSdkTooLow,
            format!(
                "The binary targets API level {target}. The store would say: your app currently targets API level \
                 {target} and must target at least API level {floor}."
            ),
        );
    }
    if let Some(architectures) = &binary.architectures {
        let has = |name: &str| architectures.iter().any(|architecture| architecture == name);
        for (old, new) in [("armeabi-v7a", "arm64-v8a"), ("x86", "x86_64")] {
            if has(old) && !has(new) {
                report(
                    Code::ArchitectureMissing,
                    format!(
                        "The binary has native code for {old} but not for {new}. The store would say: this release \
                         is not compliant with the Google Play 64-bit requirement."
                    ),
                );
            }
        }
    }
    signed(
        binary,
        asked,
        "you uploaded an APK or Android App Bundle that is not signed",
        report,
    );
    if binary.signer_subject.as_deref().is_some_and(is_debug_signer) {
        report(
            Code::SignatureMismatch,
            "The binary is signed with a debug key of Android's tools. The store would say: you uploaded an APK or \
             Android App Bundle that was signed in debug mode; you need to sign it in release mode."
                .to_owned(),
        );
    } else if let (Some(Some(signer)), Some(key)) = (&binary.signer, asked.upload_key)
        && !signer.eq_ignore_ascii_case(key)
    {
        report(
            Code::SignatureMismatch,
            format!(
                "The binary is signed with the certificate {signer}, and the upload key's is {key}. The store would \
                 say: your Android App Bundle is signed with the wrong key."
            ),
        );
    }
}

/// Whether a certificate's subject is the one that Android's tools give to their debug keys.
fn is_debug_signer(subject: &str) -> bool {
    subject.split(',').any(|part| part.trim() == DEBUG_SIGNER)
}

fn signed(binary: &Binary, asked: &Expectations<'_>, error: &str, report: Report<'_>) {
    if binary.signer == Some(None) {
        report(
            Code::Unsigned,
            format!("The binary is not signed. The store would say: {error}."),
        );
    } else if binary.signer_not_after.is_some_and(|end| end <= asked.now) {
        report(
            Code::CertificateExpired,
            "The certificate that signed the binary has expired. The store would refuse the signature.".to_owned(),
        );
    }
}

/// The numbers of `1`, `1.2` or `1.2.3`; missing ones are 0. Apple's versions and build numbers have at most three.
fn parts(text: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    for (place, part) in text.split('.').enumerate() {
        let digits = !part.is_empty() && part.len() <= 18 && part.bytes().all(|byte| byte.is_ascii_digit());
        *numbers.get_mut(place)? = part.parse().ok().filter(|_| digits)?;
    }
    Some(numbers)
}

/// Compares two versions or build numbers. `None` if one of them has another form.
fn above(text: &str, other: &str) -> Option<Ordering> {
    Some(parts(text)?.cmp(&parts(other)?))
}

/// The highest of versions or build numbers; those of another form are skipped.
pub fn highest<'t>(texts: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    texts
        .filter(|text| parts(text).is_some())
        .max_by_key(|text| parts(text))
}

/// An excerpt of a text from a binary, on one line of at most 60 characters.
fn excerpt(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests;
