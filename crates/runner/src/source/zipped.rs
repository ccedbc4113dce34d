//! The entries of a ZIP archive.

use std::io::{Read, Seek};

use zip::ZipReadOptions;
use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use super::SourceError;
use super::archive::Target;
use super::names::path_of;

/// The maximum length of a link target.
const MAX_TARGET: u64 = 4096;
/// The file type bits of a Unix mode.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
const DIRECTORY: u32 = 0o040_000;
const FILE: u32 = 0o100_000;

/// Unpacks `packed`; `again` reads the same bytes. One entry of the central directory is in memory at a time.
pub(super) fn unpack<R: Read + Seek>(mut packed: R, mut again: R, target: &mut Target) -> Result<(), SourceError> {
    super::zip_end::check(&mut packed, target.budget.entries_left())?;
    // The archive starts at the first byte, and the library must not search for an archive further on.
    let at_the_start = Config {
        archive_offset: ArchiveOffset::Known(0),
    };
    let mut archive = ZipIterable::try_new(packed, at_the_start).map_err(broken)?;
    for entry in archive.files().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let name = entry.name_raw().to_vec();
        let mut entry = entry
            .with_reader(&mut again, ZipReadOptions::default())
            .map_err(|error| SourceError::entry(&name, format!("is not readable: {error}")))?;
        let refuse = |problem: &str| SourceError::entry(&name, problem);
        let path = path_of(&name)?;
        // An archive from a non-Unix system has no modes.
        let mode = entry.unix_mode().unwrap_or(0);
        let folder = name.ends_with(b"/");
        match mode & KIND {
            LINK => {
                let mut linked = Vec::new();
                let read = (&mut entry).take(MAX_TARGET + 1).read_to_end(&mut linked);
                read.map_err(|error| refuse(&format!("is broken: {error}")))?;
                target.link(&name, &path, &linked)?;
            }
            0 | DIRECTORY | FILE if path.as_os_str().is_empty() => {}
            DIRECTORY => target.directory(&name, &path, mode)?,
            // Some programs mark a directory only by its name.
            0 | FILE if folder && entry.size() == 0 => target.directory(&name, &path, or(mode, 0o755))?,
            0 | FILE if folder => return Err(refuse("is a file named like a directory")),
            0 | FILE => target.file(&name, &path, or(mode, 0o644), &mut entry)?,
            _ => return Err(refuse("is a device or pipe")),
        }
    }
    Ok(())
}

fn or(mode: u32, usual: u32) -> u32 {
    if mode & 0o777 == 0 { usual } else { mode }
}

fn broken(error: ZipError) -> SourceError {
    SourceError::Invalid(format!("cannot read the archive: {error}"))
}
