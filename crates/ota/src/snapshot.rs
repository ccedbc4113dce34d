//! The file form of the index's rows, from which a node can start without its database: a snapshot has all rows, and
//! journals beside it have what changed since.

mod disk;
mod fields;
mod foreign_rows;
mod frames;
mod header;
mod journal;
mod keeper;
mod reader;
mod rows;
mod writer;

use std::io;

use launchway_domain::mac::MacKey;
use launchway_store::StoreError;

pub use disk::{Disk, DiskFile, Folder};
pub use foreign_rows::{ExpoText, TextKind};
pub use keeper::{Entry, Keeper, Save};
pub use reader::Found;
pub use rows::{BundleRows, Row};
pub use writer::SnapshotWriter;

/// The file of the snapshot.
const SNAPSHOT: &str = "index.snapshot";
/// The file in which the next snapshot is written.
const UNFINISHED: &str = "index.snapshot.new";

/// Under what a snapshot is written and read.
#[derive(Clone)]
pub struct Seal {
    /// Computes the MACs of all files.
    pub key: MacKey,
    /// The database: host, port and name.
    pub database: String,
    /// The installation's own key, sealed by the master key.
    pub installation_key: String,
}

/// Why a snapshot is not used.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The files cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The file has another format.
    #[error("is not a snapshot that this release reads")]
    Format,
    /// The first MAC does not fit.
    #[error("is damaged, or was written under another master key")]
    Key,
    /// It has another database's rows.
    #[error("was written from another database: {0}")]
    Database(String),
    /// It is older than the setting allows.
    #[error("is older than --snapshot-hours: {0} seconds")]
    TooOld(i64),
    /// It is dated in the future.
    #[error("is dated in the future: by {0} seconds")]
    Future(i64),
    /// A file is damaged, incomplete, or has something after its end.
    #[error("is damaged: {0}")]
    Damaged(&'static str),
}

/// Why no snapshot is written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The rows cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be written.
    #[error("cannot write the file: {0}")]
    Io(#[from] io::Error),
    /// A change could not be recorded meanwhile, or the index was loaded again.
    #[error("the index changed meanwhile in a way that was not recorded")]
    GivenUp,
}

/// The name of a journal's file.
fn journal_name(number: u64) -> String {
    format!("index.journal.{number}")
}

/// The number in the name of a journal's file.
fn journal_number(name: &str) -> Option<u64> {
    name.strip_prefix("index.journal.")?.parse().ok()
}
