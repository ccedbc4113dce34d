//! Finds what an app store would refuse before any call to it: what the binary says about itself is compared with the
//! request (`docs/reference/submissions.md#preflight`). Each finding names the store's error that it prevents. A fact that
//! the binary does not state is never a finding.

mod purpose;

use std::cmp::Ordering;

use super::Store;
use super::destination::Destination;
use super::error::{SubmissionError, SubmissionErrorCode as Code};
use crate::bundle_id::BundleId;
use crate::platform::Platform;
use crate::time::EpochMs;

pub use purpose::{PURPOSE_STRINGS, missing_purpose_strings, purpose_keys};

/// The highest version code that Google Play takes.
pub const MAX_VERSION_CODE: u64 = 2_100_000_000;
/// The API level that Google Play wants apps to target, unless the operator sets another: 36 since 2026-08-31.
pub const TARGET_SDK_FLOOR: u32 = 36;
/// Bytes of an .apk, an .aab and an .ipa that the stores take at most. Google: 10 GiB (`Apk`), 50 GiB (`Bundle`), as the
/// discovery document says; Apple: 4 GB for an app.
const MAX_APK: u64 = 10 << 30;
const MAX_AAB: u64 = 50 << 30;
const MAX_IPA: u64 = 4_000_000_000;

/// The form of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryFormat {
    /// Android's installable package.
    Apk,
    /// Android's bundle for Google Play.
    Aab,
    /// Apple's archive.
    Ipa,
}

/// What a provisioning profile is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileKind {
    /// The App Store and TestFlight.
    AppStore,
    /// Anything else: development, ad hoc, enterprise.
    Other,
}

/// What a binary says about itself. Absent: it does not say, or it was not looked for.
#[derive(Clone, Debug)]
pub struct Binary {
    /// Its form.
    pub format: BinaryFormat,
    /// Its bytes.
    pub size: u64,
    /// Bundle id, or application id.
    pub bundle_id: String,
    /// `CFBundleShortVersionString`, `versionName`.
    pub version: Option<String>,
    /// `CFBundleVersion`, `versionCode`.
    pub build_number: Option<String>,
    /// The platforms it is made for.
    pub platforms: Vec<Platform>,
    /// Whether it runs only in a simulator.
    pub simulator: bool,
    /// Whether a debugger may attach.
    pub debuggable: Option<bool>,
    /// Android's API level that it is made for.
    pub target_sdk: Option<u32>,
    /// Architectures of its native code, such as `arm64` or `armeabi-v7a`; empty: it has none.
    pub architectures: Option<Vec<String>>,
    /// Lower-case hex SHA-256 of the certificate that signed it. `Some(None)`: it is not signed.
    pub signer: Option<Option<String>>,
    /// When that certificate ends.
    pub signer_not_after: Option<EpochMs>,
    /// What its profile is for, and when it ends.
    pub profile: Option<(ProfileKind, Option<EpochMs>)>,
    /// Classes of the system that its code refers to, such as `AVCaptureDevice`.
    pub system_classes: Option<Vec<String>>,
    /// Keys of its Info.plist whose text is not empty.
    pub info_keys: Option<Vec<String>>,
}

/// What is asked, and what is known of the store.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The app.
    pub bundle_id: &'a BundleId,
    /// Its platform.
    pub platform: Platform,
    /// Where it goes.
    pub destination: &'a Destination,
    /// The version that the request names.
    pub version: Option<&'a str>,
    /// The build number that the request names.
    pub build_number: Option<&'a str>,
    /// The highest version that was released, as far as this service knows.
    pub live_version: Option<&'a str>,
    /// The highest build number that was uploaded, of that version where builds are counted per version.
    pub live_build_number: Option<&'a str>,
    /// Lower-case hex SHA-256 of the certificate of the app's upload key.
    pub upload_key: Option<&'a str>,
    /// The API level that Google Play wants.
    pub target_sdk_floor: u32,
    /// The time of day.
    pub now: EpochMs,
}

/// Everything that the store would refuse; empty: nothing is known that it would.
pub fn findings(binary: &Binary, asked: &Asked<'_>) -> Vec<SubmissionError> {
    let mut found = Vec::new();
    let mut tell = |code, message: String| found.push(SubmissionError::new(code, message));
    identity(binary, asked, &mut tell);
    numbers(binary, asked, &mut tell);
    match asked.destination.store() {
        Store::AppStore => apple(binary, asked, &mut tell),
        Store::GooglePlay => google(binary, asked, &mut tell),
    }
    found
}

type Tell<'t> = &'t mut dyn FnMut(Code, String);

fn identity(binary: &Binary, asked: &Asked<'_>, tell: Tell<'_>) {
    let store = asked.destination.store();
    let (fits, limit) = match (store, binary.format) {
        (Store::AppStore, BinaryFormat::Ipa) => (true, MAX_IPA),
        (Store::GooglePlay, BinaryFormat::Aab) => (true, MAX_AAB),
        (Store::GooglePlay, BinaryFormat::Apk) => (true, MAX_APK),
        (_, _) => (false, u64::MAX),
    };
    if !fits {
        let title = store.title();
        tell(
            Code::WrongFormat,
            format!("The file is not of a form that {title} takes."),
        );
        return;
    }
    if binary.size > limit {
        let (size, title) = (binary.size, store.title());
        tell(
            Code::TooLarge,
            format!("The binary has {size} bytes; {title} takes at most {limit}."),
        );
    }
    // The stores tell letter case apart, although here an id belongs to one organization in any.
    if binary.bundle_id != asked.bundle_id.as_str() {
        let error = match store {
            Store::AppStore => "ITMS-90054: this bundle is invalid",
            Store::GooglePlay => "your APK or Android App Bundle needs to have the package name of the app",
        };
        let (said, wanted) = (shown(&binary.bundle_id), asked.bundle_id.as_str());
        tell(
            Code::BundleIdMismatch,
            format!("The binary has the bundle id {said}, not {wanted}. The store would say: {error}."),
        );
    }
    if !binary.platforms.is_empty() && !binary.platforms.contains(&asked.platform) {
        let platform = asked.platform;
        tell(
            Code::PlatformMismatch,
            format!("The binary is not made for {platform}."),
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
            let said = shown(said);
            tell(code, format!("The binary has the {what} {said}, not {wanted}."));
        }
    }
}

/// Versions and build numbers: their form, and that they are above what the store has.
fn numbers(binary: &Binary, asked: &Asked<'_>, tell: Tell<'_>) {
    let store = asked.destination.store();
    if let Some(number) = &binary.build_number {
        let shown_number = shown(number);
        let malformed = match store {
            Store::AppStore => parts(number).is_none(),
            Store::GooglePlay => !number
                .parse::<u64>()
                .is_ok_and(|code| (1..=MAX_VERSION_CODE).contains(&code)),
        };
        if malformed {
            tell(
                Code::VersionMalformed,
                format!("The store does not take the build number {shown_number}."),
            );
        } else if let Some(live) = asked.live_build_number
            && above(number, live).is_some_and(|order| order != Ordering::Greater)
        {
            let error = match store {
                Store::AppStore => "ITMS-90189: redundant binary upload",
                Store::GooglePlay => "version code has already been used",
            };
            tell(
                Code::BuildNumberUsed,
                format!(
                    "The build number {shown_number} is not above {live}, which was uploaded. The store would say: {error}."
                ),
            );
        }
    }
    if let (Store::AppStore, Some(version)) = (store, &binary.version) {
        let shown_version = shown(version);
        if parts(version).is_none() {
            tell(
                Code::VersionMalformed,
                format!(
                    "The version {shown_version} is not one to three whole numbers with dots. The store would say: ITMS-90060."
                ),
            );
        } else if let Some(live) = asked.live_version
            && above(version, live).is_some_and(|order| order != Ordering::Greater)
        {
            tell(
                Code::VersionNotNewer,
                format!(
                    "The version {shown_version} is not above {live}, which is released. The store would say: ITMS-90062 or ITMS-90186."
                ),
            );
        }
    }
}

fn apple(binary: &Binary, asked: &Asked<'_>, tell: Tell<'_>) {
    if binary.simulator {
        tell(
            Code::SimulatorBuild,
            "The binary runs only in a simulator. The store would say: ITMS-90087, unsupported architectures."
                .to_owned(),
        );
    }
    if let Some(architectures) = &binary.architectures
        && !binary.simulator
        && !architectures.iter().any(|name| name == "arm64" || name == "arm64e")
    {
        tell(
            Code::ArchitectureMissing,
            "The executable has no code for arm64. The store would say: ITMS-90085 or ITMS-90502.".to_owned(),
        );
    }
    if let Some((kind, end)) = binary.profile {
        if kind != ProfileKind::AppStore {
            tell(
                Code::ProfileUnfit,
                "The provisioning profile inside is not for the App Store. The store would say: ITMS-90161, invalid provisioning profile."
                    .to_owned(),
            );
        } else if end.is_some_and(|end| end <= asked.now) {
            tell(
                Code::ProfileUnfit,
                "The provisioning profile inside has expired. The store would say: ITMS-90161, invalid provisioning profile."
                    .to_owned(),
            );
        }
    }
    signed(binary, asked, "ITMS-90034: missing or invalid signature", tell);
    if let (Some(classes), Some(keys)) = (&binary.system_classes, &binary.info_keys) {
        let missing = missing_purpose_strings(classes, keys);
        if !missing.is_empty() {
            let missing = missing.join(", ");
            tell(
                Code::PurposeStringMissing,
                format!("Info.plist lacks {missing}. The store would say: ITMS-90683, missing purpose string."),
            );
        }
    }
}

fn google(binary: &Binary, asked: &Asked<'_>, tell: Tell<'_>) {
    if binary.debuggable == Some(true) {
        tell(
            Code::Debuggable,
            "The binary is debuggable. The store would say: you uploaded a debuggable APK or Android App Bundle."
                .to_owned(),
        );
    }
    let floor = asked.target_sdk_floor;
    // Internal testers may get older targets.
    if let Some(target) = binary.target_sdk.filter(|target| *target < floor)
        && asked.destination.as_str() != "internal"
    {
        tell(
            Code::TargetSdkTooLow,
            format!(
                "The binary targets API level {target}. The store would say: your app currently targets API level {target} and must target at least API level {floor}."
            ),
        );
    }
    if let Some(architectures) = &binary.architectures {
        let has = |name: &str| architectures.iter().any(|architecture| architecture == name);
        for (old, new) in [("armeabi-v7a", "arm64-v8a"), ("x86", "x86_64")] {
            if has(old) && !has(new) {
                tell(
                    Code::ArchitectureMissing,
                    format!(
                        "The binary has native code for {old} and none for {new}. The store would say: this release is not compliant with the Google Play 64-bit requirement."
                    ),
                );
            }
        }
    }
    signed(
        binary,
        asked,
        "you uploaded an APK or Android App Bundle that is not signed",
        tell,
    );
    if let (Some(Some(signer)), Some(key)) = (&binary.signer, asked.upload_key)
        && !signer.eq_ignore_ascii_case(key)
    {
        tell(
            Code::SignatureMismatch,
            format!(
                "The binary is signed with the certificate {signer}, and the upload key's is {key}. The store would say: your Android App Bundle is signed with the wrong key."
            ),
        );
    }
}

fn signed(binary: &Binary, asked: &Asked<'_>, error: &str, tell: Tell<'_>) {
    if binary.signer == Some(None) {
        tell(
            Code::Unsigned,
            format!("The binary is not signed. The store would say: {error}."),
        );
    } else if binary.signer_not_after.is_some_and(|end| end <= asked.now) {
        tell(
            Code::CertificateExpired,
            "The certificate that signed the binary has expired; the store would refuse the signature.".to_owned(),
        );
    }
}

/// The whole numbers of `1`, `1.2` or `1.2.3`, missing ones 0. Apple's versions and build numbers have at most three.
fn parts(text: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    for (place, part) in text.split('.').enumerate() {
        let digits = !part.is_empty() && part.len() <= 18 && part.bytes().all(|byte| byte.is_ascii_digit());
        *numbers.get_mut(place)? = part.parse().ok().filter(|_| digits)?;
    }
    Some(numbers)
}

/// How two versions or build numbers stand to each other. `None`: one of them has another form.
fn above(text: &str, other: &str) -> Option<Ordering> {
    Some(parts(text)?.cmp(&parts(other)?))
}

/// The highest of versions or build numbers; those of another form are passed over.
pub fn highest<'t>(texts: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    texts
        .filter(|text| parts(text).is_some())
        .max_by_key(|text| parts(text))
}

/// A text of a binary, in one line of at most 60 letters.
fn shown(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests;
