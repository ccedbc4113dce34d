//! The start of a file: its format, then a frame that says what it is, of which database, and since when.

use launchway_domain::time::EpochMs;

use super::fields::{FieldReader, FieldWriter};

/// The first bytes of every file of this format.
pub const MAGIC: &[u8] = b"launchway index 1\n";

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// All rows.
    Snapshot,
    /// Changes after a snapshot.
    Journal,
}

/// The first frame of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the file is.
    pub kind: FileKind,
    /// The database: host, port and name.
    pub database: String,
    /// When the database was read.
    pub time: EpochMs,
    /// The newest revision in the rows of a snapshot.
    pub revision: i64,
    /// The number of the journal, or of the first journal after the snapshot.
    pub journal: u64,
    /// The installation's own key, sealed by the master key.
    pub installation_key: String,
}

impl Header {
    /// The content of the frame.
    pub fn write(&self) -> Vec<u8> {
        let mut content = Vec::new();
        let mut fields = FieldWriter(&mut content);
        fields.flag(self.kind == FileKind::Journal);
        fields.text(&self.database);
        fields.signed(self.time);
        fields.signed(self.revision);
        fields.number(self.journal);
        fields.text(&self.installation_key);
        content
    }

    /// Reads the content of the frame.
    pub fn read(content: &[u8]) -> Option<Header> {
        let mut fields = FieldReader::new(content);
        let is_journal = fields.flag()?;
        let header = Header {
            kind: if is_journal {
                FileKind::Journal
            } else {
                FileKind::Snapshot
            },
            database: fields.string()?,
            time: fields.signed()?,
            revision: fields.signed()?,
            journal: fields.number()?,
            installation_key: fields.string()?,
        };
        fields.is_empty().then_some(header)
    }
}
