//! Reads a package: a ZIP that every reader unpacks alike (`docs/reference/file-lists.md#packages`).
//!
//! Readers of ZIP trust different parts of an archive: some the directory at the end, some the headers before each
//! entry, some search for either. Here all parts must agree and cover the file without gap or overlap, so that every
//! reader sees the same entries.

mod bytes;
mod directory;
mod end;
mod error;
mod extra;
mod local;

use std::io::{Read, Seek, SeekFrom, Write};

use bytes::Source;
use directory::Header;
pub use error::{ArchiveError, Fault};
use flate2::{Decompress, FlushDecompress, Status};

use crate::digest::Digest;
use crate::file_list::MAX_TOTAL;
use crate::path;

/// How much is read and unpacked at a time.
const CHUNK: usize = 1 << 16;

/// One entry of a package.
#[derive(Debug)]
pub struct Entry {
    path: String,
    header: Header,
    /// Where the next entry or the directory starts.
    end: u64,
}

impl Entry {
    /// The path, without the slash of a folder.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.header.folder
    }

    /// The bytes of the unpacked file.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.header.unpacked
    }

    fn refused(&self, fault: Fault) -> ArchiveError {
        ArchiveError::Entry {
            path: self.path.clone(),
            fault,
        }
    }
}

/// An open package.
pub struct Archive<R> {
    source: Source<R>,
    entries: Vec<Entry>,
    inflate: Decompress,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads the directory. What the entries themselves say is checked when they are unpacked.
    ///
    /// # Errors
    /// The first fault of the directory, its paths or sizes.
    pub fn open(source: R) -> Result<Self, ArchiveError> {
        let mut source = Source::new(source)?;
        let directory = directory::read(&mut source)?;
        let total = directory
            .entries
            .iter()
            .fold(0u64, |sum, (_, header)| sum.saturating_add(header.unpacked));
        if total > MAX_TOTAL {
            return Err(ArchiveError::TooLarge);
        }
        path::check_collisions(
            directory
                .entries
                .iter()
                .map(|(path, header)| (path.as_str(), header.folder)),
        )?;
        if directory.entries.iter().all(|(_, header)| header.folder) {
            return Err(ArchiveError::Empty);
        }
        let mut entries = directory.entries;
        entries.sort_by_key(|(_, header)| header.start);
        if entries.first().is_some_and(|(_, first)| first.start > 0) {
            return Err(ArchiveError::LeadingBytes);
        }
        let ends: Vec<u64> = entries
            .iter()
            .skip(1)
            .map(|(_, next)| next.start)
            .chain([directory.start])
            .collect();
        let entries = entries.into_iter().zip(ends);
        Ok(Self {
            source,
            entries: entries
                .map(|((path, header), end)| Entry { path, header, end })
                .collect(),
            inflate: Decompress::new(false),
        })
    }

    /// The entries in the order of the file, folders included.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Unpacks the entry at `index` into `target` and answers the digest of its content. What was written is worthless
    /// when this fails.
    ///
    /// # Errors
    /// The entry is not what the directory says, or a side cannot be read or written.
    ///
    /// # Panics
    /// There is no entry at `index`.
    pub fn unpack(&mut self, index: usize, target: &mut dyn Write) -> Result<Digest, ArchiveError> {
        let entry = &self.entries[index];
        let data_start = local::check(&mut self.source, entry)?;
        let data_end = data_start + entry.header.packed;
        if entry.is_folder() && entry.header.unpacked > 0 {
            return Err(entry.refused(Fault::FolderWithContent));
        }
        self.source.seek(data_start)?;
        let mut output = Output::new(entry, target);
        if entry.is_folder() && entry.header.packed == 0 {
            // Some writers name a method although there is nothing to unpack.
        } else if entry.header.method == directory::STORED {
            copy(&mut self.source, data_end - data_start, &mut output)?;
        } else {
            self.inflate.reset(false);
            inflate(&mut self.source, data_end - data_start, &mut self.inflate, &mut output)?;
        }
        output.finish()
    }
}

fn copy<R: Read + Seek>(source: &mut Source<R>, mut left: u64, output: &mut Output<'_>) -> Result<(), ArchiveError> {
    let mut buffer = vec![0; CHUNK];
    while left > 0 {
        let count = source.read_some(&mut buffer, left)?;
        left -= count as u64;
        output.take(&buffer[..count])?;
    }
    Ok(())
}

/// Inflates until the stream ends, which must be exactly where the data ends.
fn inflate<R: Read + Seek>(
    source: &mut Source<R>,
    mut left: u64,
    inflate: &mut Decompress,
    output: &mut Output<'_>,
) -> Result<(), ArchiveError> {
    let (mut packed, mut unpacked) = (vec![0; CHUNK], vec![0; CHUNK]);
    let (mut start, mut end) = (0, 0);
    loop {
        if start == end && left > 0 {
            (start, end) = (0, source.read_some(&mut packed, left)?);
            left -= end as u64;
        }
        let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
        let status = inflate
            .decompress(&packed[start..end], &mut unpacked, FlushDecompress::None)
            .map_err(|_| output.entry.refused(Fault::Damaged))?;
        let taken = usize::try_from(inflate.total_in() - before_in).unwrap_or(0);
        let given = usize::try_from(inflate.total_out() - before_out).unwrap_or(0);
        start += taken;
        output.take(&unpacked[..given])?;
        match status {
            Status::StreamEnd if start == end && left == 0 => return Ok(()),
            Status::StreamEnd => return Err(output.entry.refused(Fault::Damaged)),
            _ if taken == 0 && given == 0 => return Err(output.entry.refused(Fault::Damaged)),
            _ => {}
        }
    }
}

/// Counts and hashes an entry's content on its way to the target.
struct Output<'a> {
    entry: &'a Entry,
    target: &'a mut dyn Write,
    checksum: crc32fast::Hasher,
    hash: sha2::Sha256,
    size: u64,
}

impl<'a> Output<'a> {
    fn new(entry: &'a Entry, target: &'a mut dyn Write) -> Self {
        Self {
            entry,
            target,
            checksum: crc32fast::Hasher::new(),
            hash: sha2::Sha256::default(),
            size: 0,
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        use sha2::Digest as _;
        self.size += bytes.len() as u64;
        if self.size > self.entry.header.unpacked {
            return Err(self.entry.refused(Fault::Size));
        }
        self.checksum.update(bytes);
        self.hash.update(bytes);
        self.target.write_all(bytes).map_err(ArchiveError::Target)
    }

    fn finish(self) -> Result<Digest, ArchiveError> {
        use sha2::Digest as _;
        if self.size != self.entry.header.unpacked {
            return Err(self.entry.refused(Fault::Size));
        }
        if self.checksum.finalize() != self.entry.header.checksum {
            return Err(self.entry.refused(Fault::Checksum));
        }
        Ok(Digest(self.hash.finalize().into()))
    }
}

impl<R> Source<R>
where
    R: Read + Seek,
{
    fn seek(&mut self, at: u64) -> Result<(), ArchiveError> {
        self.inner.seek(SeekFrom::Start(at)).map_err(ArchiveError::Source)?;
        Ok(())
    }
}
