//! How clients of a format identify the content of a package (`docs/reference/foreign-clients.md#formats`).

use std::fs::File;
use std::io::{self, Write};

use launchway_delta::FileList;
use launchway_domain::release::Format;
use launchway_foreign::codepush::PackageHash;
use launchway_foreign::hot_updater::{MANIFEST_FILE, MAX_MANIFEST_BYTES, bundle_id_of};
use launchway_package::{Archive, Limits};

const TOO_LARGE: &str =
    "The package has more files than a package of this format can have. Leave out files that the app does not need.";
const NO_SCRIPT: &str = "The package has no files. Publish the folder that `code-push release` would publish.";
const NO_BUNDLE_ID: &str = "The package has no manifest.json with a bundleId at its root. Publish the archive that hot-updater's own build \
                            plugin made.";

/// Why a package is not one of its format.
#[derive(Debug)]
pub(super) enum ReleaseError {
    /// The sentence is for the user.
    Refused(&'static str),
    /// The file could not be read, for a reason other than its contents.
    Unreadable(String),
}

/// How clients identify the content of an inspected package; `None` for formats whose clients do not. `list` is its list of files,
/// if it is not too large for one.
pub(super) fn content_id(
    file: &File,
    limits: &Limits,
    format: Format,
    list: Option<&FileList>,
) -> Result<Option<String>, ReleaseError> {
    match format {
        Format::Archive | Format::Expo => Ok(None),
        Format::Codepush => {
            let list = list.ok_or(ReleaseError::Refused(TOO_LARGE))?;
            if list.files().is_empty() {
                return Err(ReleaseError::Refused(NO_SCRIPT));
            }
            let mut hash = PackageHash::default();
            for file in list.files() {
                hash.add(&file.path, file.sha256.0);
            }
            Ok(Some(hash.finish()))
        }
        Format::HotUpdater => {
            let manifest = read_small(file, limits, MANIFEST_FILE)?;
            let id = manifest.and_then(|manifest| bundle_id_of(&manifest));
            let id = id.ok_or(ReleaseError::Refused(NO_BUNDLE_ID))?;
            Ok(Some(id.to_string()))
        }
    }
}

/// The content of a file at the root of the package; `None` if there is none, or it has more than [`MAX_MANIFEST_BYTES`].
fn read_small(file: &File, limits: &Limits, path: &str) -> Result<Option<Vec<u8>>, ReleaseError> {
    let unreadable = |error: &dyn std::fmt::Display| ReleaseError::Unreadable(error.to_string());
    let mut archive = Archive::open(file, limits).map_err(|error| unreadable(&error))?;
    let found = archive
        .entries()
        .iter()
        .position(|entry| entry.path() == path && entry.size() <= MAX_MANIFEST_BYTES as u64);
    let Some(index) = found else { return Ok(None) };
    let mut content = Bounded(Vec::new());
    archive
        .unpack(index, &mut content)
        .map_err(|error| unreadable(&error))?;
    Ok(Some(content.0))
}

/// Takes at most [`MAX_MANIFEST_BYTES`].
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_MANIFEST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
