//! The entries of a tar archive. Extension headers (long names, PAX) are parsed and bounded here: the library would
//! read them completely, whatever length they claim.

use std::io::Read;

use tar::{Archive, Entry, EntryType, PaxExtensions};

use super::SourceError;
use super::archive::Target;
use super::names::path_of;

/// The maximum size of a long name or PAX header.
const MAX_HEADER: u64 = 1 << 20;

/// The overrides that extension headers contain for the next entry.
#[derive(Default)]
struct Overrides {
    name: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
}

pub(super) fn unpack(unpacked: impl Read, target: &mut Target) -> Result<(), SourceError> {
    let mut archive = Archive::new(unpacked);
    let mut overrides = Overrides::default();
    for entry in archive.entries().map_err(broken)?.raw(true) {
        let mut entry = entry.map_err(broken)?;
        let kind = entry.header().entry_type();
        match kind {
            EntryType::GNULongName => overrides.name = Some(text(&mut entry, target)?),
            EntryType::GNULongLink => overrides.target = Some(text(&mut entry, target)?),
            EntryType::XHeader => pax(&mut entry, target, &mut overrides)?,
            // Comments on the whole archive, such as the commit.
            EntryType::XGlobalHeader => {
                header(&mut entry, target)?;
            }
            kind => unpack_entry(&mut entry, kind, std::mem::take(&mut overrides), target)?,
        }
    }
    Ok(())
}

fn unpack_entry<R: Read>(
    entry: &mut Entry<'_, R>,
    kind: EntryType,
    overrides: Overrides,
    target: &mut Target,
) -> Result<(), SourceError> {
    let name = overrides.name.unwrap_or_else(|| entry.path_bytes().into_owned());
    let refuse = |problem: &str| SourceError::entry(&name, problem);
    let linked = overrides
        .target
        .or_else(|| entry.link_name_bytes().map(|target| target.into_owned()));
    let linked = linked.unwrap_or_default();
    let mode = entry.header().mode().map_err(|_| refuse("has a broken header"))?;
    let path = path_of(&name)?;
    if path.as_os_str().is_empty() {
        return match kind {
            EntryType::Directory => Ok(()),
            _ => Err(refuse("has no name")),
        };
    }
    match kind {
        // Old archives mark a directory only by its name.
        EntryType::Directory => target.directory(&name, &path, mode),
        EntryType::Regular | EntryType::Continuous if name.ends_with(b"/") => target.directory(&name, &path, mode),
        EntryType::Regular | EntryType::Continuous => target.file(&name, &path, mode, entry),
        EntryType::Symlink => target.link(&name, &path, &linked),
        EntryType::Link => target.copy(&name, &path, &path_of(&linked)?),
        EntryType::GNUSparse => Err(refuse("is a sparse file: pack it without --sparse")),
        EntryType::Char | EntryType::Block | EntryType::Fifo => Err(refuse("is a device or pipe")),
        _ => Err(refuse("has an unknown type")),
    }
}

/// Parses the relevant fields of a PAX header.
fn pax<R: Read>(entry: &mut Entry<'_, R>, target: &mut Target, overrides: &mut Overrides) -> Result<(), SourceError> {
    let bytes = header(entry, target)?;
    for extension in PaxExtensions::new(&bytes) {
        let extension = extension.map_err(broken)?;
        let value = extension.value_bytes().to_vec();
        match extension.key_bytes() {
            b"path" => overrides.name = Some(value),
            b"linkpath" => overrides.target = Some(value),
            b"size" => {
                let problem = "has an extended size, as files above 8 GiB do";
                return Err(SourceError::entry(overrides.name.as_deref().unwrap_or(b"?"), problem));
            }
            key if key.starts_with(b"GNU.sparse.") => {
                let problem = "is a sparse file: pack it without --sparse";
                return Err(SourceError::entry(overrides.name.as_deref().unwrap_or(b"?"), problem));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads a text that GNU tar terminates with NUL.
fn text<R: Read>(entry: &mut Entry<'_, R>, target: &mut Target) -> Result<Vec<u8>, SourceError> {
    let mut text = header(entry, target)?;
    if let Some(end) = text.iter().position(|byte| *byte == 0) {
        text.truncate(end);
    }
    Ok(text)
}

fn header<R: Read>(entry: &mut Entry<'_, R>, target: &mut Target) -> Result<Vec<u8>, SourceError> {
    let mut bytes = Vec::new();
    target.budget.entry(b"?")?;
    entry.take(MAX_HEADER + 1).read_to_end(&mut bytes).map_err(broken)?;
    if bytes.len() as u64 > MAX_HEADER {
        return Err(SourceError::Invalid("a header in it is too long".to_owned()));
    }
    target.budget.bytes(b"?", bytes.len() as u64)?;
    Ok(bytes)
}

fn broken(error: std::io::Error) -> SourceError {
    SourceError::Invalid(format!("cannot read the archive: {error}"))
}
