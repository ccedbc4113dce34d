//! IPAs: the Info.plist of the one app in `Payload`, its provisioning profile, the signature in its executable, the
//! platforms and classes of its code, and its extensions.

mod code;
mod extensions;
mod mach_o;
mod signing;

use std::io::{Read, Seek};

use launchway_domain::platform::Platform;

use crate::archive::{Archive, Place};
use crate::error::BinaryError;
use crate::facts::{BinaryFacts, Format};
use crate::owned;
use crate::property_list::{self, Properties};
use signing::Signing;

const INFO: &str = "Info.plist";
const ASSETS: &str = "Assets.car";
const EXECUTABLE: &str = "The executable";
/// In bytes; real ones have some KiB.
const MAX_INFO: u64 = 4 << 20;
/// The maximum number of unpacked bytes of the executable.
const MAX_EXECUTABLE: u64 = 2 << 30;

pub(crate) fn read<R: Read + Seek>(archive: &mut Archive<R>) -> Result<BinaryFacts, BinaryError> {
    let folder = app_folder(archive)?;
    let missing = BinaryError::Missing {
        format: Format::Ipa.as_str(),
        part: "Payload/*.app/Info.plist",
    };
    let place = archive
        .find(&[&folder, INFO.as_bytes()].concat(), INFO)?
        .ok_or(missing)?;
    let info = property_list::read(&archive.read(place, MAX_INFO, INFO)?);
    let info = info.map_err(|_| BinaryError::Damaged { part: INFO })?;
    let bundle_id = info.text("CFBundleIdentifier").ok_or(BinaryError::FieldMissing {
        part: INFO,
        field: "CFBundleIdentifier",
    })?;
    let (platforms, simulator) = platforms(&info);
    let mut warnings = Vec::new();
    let profile = signing::profile(archive, &folder, &mut warnings)?;
    let executable = executable(archive, &folder, info.text("CFBundleExecutable"), &mut warnings)?;
    let mut left = MAX_EXECUTABLE;
    let signing = match executable {
        Some(place) => signing::read(archive, place, &mut left)?,
        None => Signing::default(),
    };
    if signing.is_unreadable {
        warnings.push("Cannot read the code signature of the IPA's executable".to_owned());
    }
    let code = code::read(archive, &folder, executable)?;
    let extensions = extensions::read(archive, &folder)?;
    Ok(BinaryFacts {
        format: Format::Ipa,
        bundle_id,
        version: info.text("CFBundleShortVersionString"),
        build_number: info.text("CFBundleVersion"),
        min_os: info.text("MinimumOSVersion"),
        target_sdk: None,
        sdk: sdk(&info),
        icon: Some(info.names_icon() && archive.find(&[&folder, ASSETS.as_bytes()].concat(), ASSETS)?.is_some()),
        debuggable: signing
            .entitlements
            .as_ref()
            .map(|entitlements| entitlements.debuggable),
        platforms,
        simulator,
        architectures: code.architectures.map(owned),
        system_classes: code.system_classes.map(owned),
        purpose_strings: owned(info.purpose_strings()),
        signer: signing.signer,
        entitlements: signing
            .entitlements
            .map(|entitlements| entitlements.facts(profile.as_ref())),
        profile: profile.map(|profile| profile.facts),
        simulator_code: code.simulator_code,
        extensions,
        warnings,
    })
}

/// `Payload/<name>.app/` of the one app.
fn app_folder<R: Read + Seek>(archive: &Archive<R>) -> Result<Vec<u8>, BinaryError> {
    let folder_of = |name: &[u8]| {
        let app = name.strip_prefix(b"Payload/")?.strip_suffix(b"/Info.plist")?;
        (app.ends_with(b".app") && !app.contains(&b'/')).then(|| [b"Payload/", app, b"/"].concat())
    };
    let mut folders = archive.entries().filter_map(|entry| folder_of(entry.name));
    let first = folders.next().ok_or(BinaryError::Missing {
        format: Format::Ipa.as_str(),
        part: "Payload/*.app/Info.plist",
    })?;
    if folders.any(|folder| folder != first) {
        return Err(BinaryError::SeveralApps);
    }
    Ok(first)
}

/// The known platforms, and whether all of them are simulators.
fn platforms(info: &Properties) -> (Vec<Platform>, bool) {
    let mut names = info.texts("CFBundleSupportedPlatforms").to_vec();
    if names.is_empty() {
        names.extend(info.text("DTPlatformName"));
    }
    let known = |name: &String| match name.to_ascii_lowercase().as_str() {
        "iphoneos" => Some((Platform::Ios, false)),
        "iphonesimulator" => Some((Platform::Ios, true)),
        "xros" => Some((Platform::Visionos, false)),
        "xrsimulator" => Some((Platform::Visionos, true)),
        _ => None,
    };
    let known: Vec<_> = names.iter().filter_map(known).collect();
    let simulator = !known.is_empty() && known.iter().all(|(_, simulated)| *simulated);
    let mut platforms: Vec<_> = known.into_iter().map(|(platform, _)| platform).collect();
    platforms.sort();
    platforms.dedup();
    (platforms, simulator)
}

/// The version of the SDK: Xcode writes it, and its name with it.
fn sdk(info: &Properties) -> Option<String> {
    info.text("DTPlatformVersion").or_else(|| {
        let name = info.text("DTSDKName")?;
        let version = name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        Some(version.to_owned()).filter(|version| !version.is_empty())
    })
}

/// The entry of the executable with this name.
fn executable<R: Read + Seek>(
    archive: &Archive<R>,
    folder: &[u8],
    name: Option<String>,
    warnings: &mut Vec<String>,
) -> Result<Option<Place>, BinaryError> {
    let Some(name) = name else {
        return Ok(None);
    };
    let place = archive.find(&[folder, name.as_bytes()].concat(), EXECUTABLE)?;
    if place.is_none() {
        warnings.push("The IPA does not contain the executable of its Info.plist".to_owned());
    }
    Ok(place)
}
