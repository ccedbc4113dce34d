//! Reads an export of Expo in a package: which files each platform has, and where they are (`docs/reference/expo.md#export`).

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};

use launchway_delta::FileList;
use launchway_domain::platform::Platform;
use launchway_foreign::expo::{
    CONFIG_FILE, Export, MAX_CONFIG_BYTES, MAX_EXPORT_BYTES, MAX_METADATA_BYTES, METADATA_FILE, PackedExport,
    PackedFile, source_map_of,
};
use launchway_package::{Archive, Limits};
use serde_json::{Map, Value};

use super::package_files::place;

const TOO_LARGE: &str = "The export has more files than a package of this format can have. Export the app again.";
const NO_METADATA: &str =
    "The package has no metadata.json at its root. Publish the folder that `npx expo export` wrote.";
const METADATA_SIZE: &str = "metadata.json has more than 4 MiB. Export the app again.";
const CONFIG: &str =
    "expoConfig.json must be a JSON object of at most 256 KiB, such as `npx expo config --type public --json` prints";
const SOURCE_MAP: &str = "metadata.json lists the source map of the script as an asset. Phones do not need it, and it shows your source code.";
const LONG_NAMES: &str = "The export has too many assets with long names. Use fewer assets.";

/// Why a package is not an export.
#[derive(Debug)]
pub(super) enum ReadError {
    /// The sentence is for the user.
    Refused(String),
    /// The file could not be read, for a reason other than its contents.
    Unreadable(String),
}

/// The files of a platform in an inspected package. `list` is its list of files, if it is not too large for one.
pub(super) fn read(
    file: &File,
    limits: &Limits,
    platform: Platform,
    list: Option<&FileList>,
) -> Result<PackedExport, ReadError> {
    let list = list.ok_or_else(|| refused(TOO_LARGE))?;
    let mut reader = Reader::open(file, limits, list)?;
    let metadata = reader.small(METADATA_FILE, MAX_METADATA_BYTES, METADATA_SIZE)?;
    let metadata = metadata.ok_or_else(|| refused(NO_METADATA))?;
    let export = Export::parse(&metadata, platform).map_err(|error| refused(&error.to_string()))?;
    let source_map = source_map_of(&export.bundle);
    if export.assets.iter().any(|asset| asset.path == source_map) {
        return Err(refused(SOURCE_MAP));
    }
    let config = match reader.small(CONFIG_FILE, MAX_CONFIG_BYTES, CONFIG)? {
        Some(bytes) => Some(serde_json::from_slice::<Map<String, Value>>(&bytes).map_err(|_| refused(CONFIG))?),
        None => None,
    };
    let mut launch = reader.file(&export.bundle, "")?;
    launch.key = hex(&launch.sha256);
    let mut assets = Vec::with_capacity(export.assets.len());
    for asset in &export.assets {
        let packed = reader.file(&asset.path, &asset.extension)?;
        assets.push(PackedFile {
            key: asset.key().to_owned(),
            ..packed
        });
    }
    let packed = PackedExport { launch, assets, config };
    match serde_json::to_vec(&packed) {
        Ok(json) if json.len() <= MAX_EXPORT_BYTES => Ok(packed),
        _ => Err(refused(LONG_NAMES)),
    }
}

fn refused(sentence: &str) -> ReadError {
    ReadError::Refused(sentence.to_owned())
}

fn unreadable(error: &dyn std::fmt::Display) -> ReadError {
    ReadError::Unreadable(error.to_string())
}

fn hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Finds files in a package by their paths.
struct Reader<'p> {
    archive: Archive<&'p File>,
    places: HashMap<String, usize>,
    list: &'p FileList,
}

impl<'p> Reader<'p> {
    fn open(file: &'p File, limits: &Limits, list: &'p FileList) -> Result<Self, ReadError> {
        let archive = Archive::open(file, limits).map_err(|error| unreadable(&error))?;
        let entries = archive.entries().iter().enumerate();
        let places = entries
            .filter(|(_, entry)| !entry.is_folder())
            .map(|(index, entry)| (entry.path().to_owned(), index))
            .collect();
        Ok(Self { archive, places, list })
    }

    /// The content of a file; `None` if there is none. One of more than `most` bytes is refused with a sentence.
    fn small(&mut self, path: &str, most: usize, sentence: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(index) = self.places.get(path).copied() else {
            return Ok(None);
        };
        if self.archive.entries()[index].size() > most as u64 {
            return Err(refused(sentence));
        }
        let mut content = Bounded {
            bytes: Vec::new(),
            most,
        };
        self.archive
            .unpack(index, &mut content)
            .map_err(|error| unreadable(&error))?;
        Ok(Some(content.bytes))
    }

    /// A file that the export lists; its key is for the caller to set.
    fn file(&mut self, path: &str, extension: &str) -> Result<PackedFile, ReadError> {
        let index = self.places.get(path).copied();
        let (Some(index), Some(listed)) = (index, self.list.find(path)) else {
            return Err(refused(&format!(
                "metadata.json lists the file {path}, which is not in the package. Export the app again."
            )));
        };
        Ok(PackedFile {
            key: String::new(),
            extension: extension.to_owned(),
            sha256: listed.sha256.0,
            place: place(&mut self.archive, index).map_err(|error| unreadable(&error))?,
        })
    }
}

/// Takes at most `most` bytes.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
