//! The bundles with code of their own inside an app: extensions, watch apps, app clips. What cannot be read of them is
//! unknown, and is no reason to refuse the app.

use std::io::{Read, Seek};

use super::{EXECUTABLE, INFO, MAX_INFO, code, signing};
use crate::archive::Archive;
use crate::error::BinaryError;
use crate::facts::Extension;
use crate::property_list::{self, Properties};
use crate::{MAX_TEXT, owned};

/// The maximum number of bundles; large apps have some ten.
const MAX_BUNDLES: usize = 30;
/// The maximum number of unpacked bytes of their executables together, once for their code and once for their signatures.
const MAX_CODE: u64 = 1 << 30;
/// The folders of bundles.
const FOLDERS: [&[u8]; 4] = [b"PlugIns", b"Extensions", b"Watch", b"AppClips"];
/// How deep bundles are nested: a watch app has extensions.
const MAX_DEPTH: usize = 2;

/// Reads the bundles in the app in `folder`.
pub(super) fn read<R: Read + Seek>(archive: &mut Archive<R>, folder: &[u8]) -> Result<Vec<Extension>, BinaryError> {
    let found = archive.files(MAX_BUNDLES, |name| {
        name.strip_prefix(folder).and_then(bundle_of).is_some()
    });
    let (mut code, mut signatures) = (MAX_CODE, MAX_CODE);
    let mut extensions = Vec::new();
    for (name, _) in found {
        let Some(path) = name.strip_prefix(folder).and_then(bundle_of) else {
            continue;
        };
        extensions.push(read_one(archive, folder, path, &mut code, &mut signatures)?);
    }
    Ok(extensions)
}

/// The path of the bundle whose Info.plist this is, such as `PlugIns/Share.appex`.
fn bundle_of(name: &[u8]) -> Option<&[u8]> {
    let path = name.strip_suffix(b"/Info.plist")?;
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').take(2 * MAX_DEPTH + 1).collect();
    let (pairs, rest) = parts.as_chunks::<2>();
    let is_bundle = |[folder, name]: &[&[u8]; 2]| {
        FOLDERS.contains(folder) && (name.ends_with(b".appex") || name.ends_with(b".app"))
    };
    (rest.is_empty() && (1..=MAX_DEPTH).contains(&pairs.len()) && pairs.iter().all(is_bundle)).then_some(path)
}

fn read_one<R: Read + Seek>(
    archive: &mut Archive<R>,
    folder: &[u8],
    path: &[u8],
    code: &mut u64,
    signatures: &mut u64,
) -> Result<Extension, BinaryError> {
    let inside = [folder, path, b"/"].concat();
    let info = known(info(archive, &inside))?.unwrap_or_default();
    // Messages about a profile would name that of the app.
    let profile = known(signing::profile(archive, &inside, &mut Vec::new()))?.flatten();
    let mut extension = Extension {
        path: String::from_utf8_lossy(path).chars().take(MAX_TEXT).collect(),
        bundle_id: info.text("CFBundleIdentifier"),
        architectures: None,
        signed: None,
        profile: profile.as_ref().map(|profile| profile.facts.clone()),
        entitlements: None,
    };
    let Some(name) = info.text("CFBundleExecutable") else {
        return Ok(extension);
    };
    let place = known(archive.find(&[&inside, name.as_bytes()].concat(), EXECUTABLE))?.flatten();
    let Some(place) = place else { return Ok(extension) };
    extension.architectures = code::read_one(archive, place, code)?.architectures.map(owned);
    if let Some(signing) = known(signing::read(archive, place, signatures))? {
        extension.signed = signing.is_signed;
        extension.entitlements = signing.entitlements.map(|found| found.facts(profile.as_ref()));
    }
    Ok(extension)
}

fn info<R: Read + Seek>(archive: &mut Archive<R>, folder: &[u8]) -> Result<Properties, BinaryError> {
    let place = archive.find(&[folder, INFO.as_bytes()].concat(), INFO)?;
    let place = place.ok_or(BinaryError::Damaged { part: INFO })?;
    let info = property_list::read(&archive.read(place, MAX_INFO, INFO)?);
    info.map_err(|_| BinaryError::Damaged { part: INFO })
}

/// What was read; `None` if the binary is at fault.
fn known<T>(read: Result<T, BinaryError>) -> Result<Option<T>, BinaryError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error @ BinaryError::Unreadable(_)) => Err(error),
        Err(_) => Ok(None),
    }
}
