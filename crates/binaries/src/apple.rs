//! IPAs: the Info.plist of the one app in `Payload`, its provisioning profile, the signature in its executable, and the
//! platforms and classes of its code.

mod code;
mod mach_o;

use std::io::{Read, Seek};

use launchway_credentials::{Details, MAX_SIZE, SigningCertificate, read_profile};
use launchway_domain::platform::Platform;

use crate::archive::{Archive, Place};
use crate::error::BinaryError;
use crate::facts::{BinaryFacts, Format, Profile, Scheme, Signer};
use crate::owned;
use crate::property_list::{self, Properties};

const INFO: &str = "Info.plist";
const PROFILE: &str = "embedded.mobileprovision";
const EXECUTABLE: &str = "The executable";
/// In bytes; real ones have some KiB.
const MAX_INFO: u64 = 4 << 20;

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
    let profile = profile(archive, &folder, &mut warnings);
    let executable = executable(archive, &folder, info.text("CFBundleExecutable"), &mut warnings)?;
    let signer = signer(archive, executable, &mut warnings);
    let code = code::read(archive, &folder, executable)?;
    Ok(BinaryFacts {
        format: Format::Ipa,
        bundle_id,
        version: info.text("CFBundleShortVersionString"),
        build_number: info.text("CFBundleVersion"),
        min_os: info.text("MinimumOSVersion"),
        target_sdk: None,
        debuggable: None,
        platforms,
        simulator,
        architectures: code.architectures.map(owned),
        system_classes: code.system_classes.map(owned),
        purpose_strings: owned(info.purpose_strings()),
        signer: signer?,
        profile: profile?,
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

/// The profile, if there is one. An unreadable one is a warning, as Apple's tools may support more formats.
fn profile<R: Read + Seek>(
    archive: &mut Archive<R>,
    folder: &[u8],
    warnings: &mut Vec<String>,
) -> Result<Option<Profile>, BinaryError> {
    let Some(place) = archive.find(&[folder, PROFILE.as_bytes()].concat(), PROFILE)? else {
        return Ok(None);
    };
    let content = archive.read(place, MAX_SIZE as u64, PROFILE)?;
    match read_profile(&content) {
        Ok(facts) => Ok(match facts.details {
            Details::ProvisioningProfile(profile) => Some(Profile {
                uuid: profile.uuid,
                name: profile.name,
                team_id: profile.team_id,
                profile_type: profile.profile_type,
                bundle_id_pattern: profile.bundle_id_pattern,
                expires_at: facts.expires_at,
            }),
            _ => None,
        }),
        Err(error) => {
            warnings.push(format!("Cannot read the IPA's provisioning profile: {error}"));
            Ok(None)
        }
    }
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

fn signer<R: Read + Seek>(
    archive: &mut Archive<R>,
    executable: Option<Place>,
    warnings: &mut Vec<String>,
) -> Result<Option<Signer>, BinaryError> {
    let Some(place) = executable else {
        return Ok(None);
    };
    let unpacked = archive.unpack(place, EXECUTABLE)?;
    let signer = match mach_o::signature(unpacked) {
        Ok(None) => return Ok(None),
        Ok(Some(signed)) => SigningCertificate::from_signed_data(&signed).ok(),
        Err(_) => None,
    };
    if signer.is_none() {
        warnings.push("Cannot read the code signature of the IPA's executable".to_owned());
    }
    Ok(signer.map(|certificate| Signer::new(certificate, Scheme::CodeSignature)))
}
