//! The journal: each changed bundle with all its rows, on disk before the index serves the change.

use std::io;

use launchway_domain::time::EpochMs;

use super::disk::{Disk, DiskFile};
use super::fields::FieldWriter;
use super::frames::{FrameWriter, Kind};
use super::header::{FileKind, Header, MAGIC};
use super::{Entry, Seal, journal_name};

/// The journal that is written now.
pub struct Journal {
    file: Box<dyn DiskFile>,
    frames: FrameWriter,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Journal {
    /// A new journal; it is on disk when this returns.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn create(disk: &dyn Disk, seal: &Seal, number: u64, time: EpochMs) -> io::Result<Journal> {
        let header = Header {
            kind: FileKind::Journal,
            database: seal.database.clone(),
            time,
            revision: -1,
            journal: number,
            installation_key: seal.installation_key.clone(),
        };
        let mut journal = Journal {
            file: disk.create(&journal_name(number))?,
            frames: FrameWriter::new(&seal.key),
            bytes: 0,
        };
        let mut out = MAGIC.to_vec();
        journal.frames.push(&mut out, Kind::Header, &header.write())?;
        journal.write(&out)?;
        disk.sync()?;
        Ok(journal)
    }

    /// Appends changed bundles as a transaction saw them whose newest revision was `view`; `time` is that of the last beat. They
    /// are on disk when this returns. After an error nothing more may be appended.
    ///
    /// # Errors
    /// Those of the operating system, or a row is too large.
    pub fn append(&mut self, entries: &[Entry], view: i64, time: EpochMs) -> io::Result<()> {
        let mut out = Vec::new();
        for entry in entries {
            for rows in &entry.rows {
                self.frames.push(&mut out, Kind::Rows, rows)?;
            }
            let mut end = Vec::new();
            let mut fields = FieldWriter(&mut end);
            fields.signed(view);
            fields.signed(time);
            fields.text(&entry.key);
            self.frames.push(&mut out, Kind::Bundle, &end)?;
        }
        self.write(&out)
    }

    /// Appends that nothing else changed until `time`.
    ///
    /// # Errors
    /// Those of the operating system. After one, nothing more may be appended.
    pub fn beat(&mut self, time: EpochMs) -> io::Result<()> {
        let (mut beat, mut out) = (Vec::new(), Vec::new());
        FieldWriter(&mut beat).signed(time);
        self.frames.push(&mut out, Kind::Beat, &beat)?;
        self.write(&out)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        self.file.sync()
    }
}
