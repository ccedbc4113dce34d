//! Writes a snapshot row by row, with little memory.

use std::io;
use std::mem;

use super::disk::{Disk, DiskFile};
use super::fields::FieldWriter;
use super::frames::{FrameWriter, Kind};
use super::header::{Header, MAGIC};
use super::rows::Row;
use super::{Seal, UNFINISHED};

/// From so many bytes on, rows become a frame.
const FULL: usize = 64 << 10;

/// Collects rows into the contents of frames.
#[derive(Debug, Default)]
pub struct Contents(Vec<u8>);

impl Contents {
    /// Adds a row. Returns a content when there is enough for a frame.
    pub fn push(&mut self, row: &Row) -> Option<Vec<u8>> {
        row.write(&mut self.0);
        (self.0.len() >= FULL).then(|| mem::take(&mut self.0))
    }

    /// What is left.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        let rest = mem::take(&mut self.0);
        (!rest.is_empty()).then_some(rest)
    }
}

/// An unfinished snapshot.
pub struct SnapshotWriter {
    file: Box<dyn DiskFile>,
    frames: FrameWriter,
    contents: Contents,
    rows: u64,
    bytes: u64,
    error: Option<io::Error>,
}

impl SnapshotWriter {
    /// Creates the file.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn create(disk: &dyn Disk, seal: &Seal, header: &Header) -> io::Result<SnapshotWriter> {
        let mut writer = SnapshotWriter {
            file: disk.create(UNFINISHED)?,
            frames: FrameWriter::new(&seal.key),
            contents: Contents::default(),
            rows: 0,
            bytes: 0,
            error: None,
        };
        let mut out = MAGIC.to_vec();
        writer.frames.push(&mut out, Kind::Header, &header.write())?;
        writer.write(&out)?;
        Ok(writer)
    }

    /// Adds a row. [`SnapshotWriter::finish`] returns the first error.
    pub fn take(&mut self, row: &Row) {
        if self.error.is_some() {
            return;
        }
        self.rows += 1;
        if let Some(content) = self.contents.push(row) {
            self.error = self.frame(Kind::Rows, &content).err();
        }
    }

    /// Ends the file, and returns its length in bytes when it is on disk.
    ///
    /// # Errors
    /// Those of the operating system, or a row was too large.
    pub fn finish(mut self) -> io::Result<u64> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if let Some(content) = self.contents.rest() {
            self.frame(Kind::Rows, &content)?;
        }
        let mut end = Vec::new();
        FieldWriter(&mut end).number(self.rows);
        self.frame(Kind::End, &end)?;
        self.file.sync()?;
        Ok(self.bytes)
    }

    fn frame(&mut self, kind: Kind, content: &[u8]) -> io::Result<()> {
        let mut out = Vec::with_capacity(content.len() + 64);
        self.frames.push(&mut out, kind, content)?;
        self.write(&out)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }
}
