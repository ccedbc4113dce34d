//! Keeps the snapshot of a node and its journal: what the index is about to serve is on disk first, or there is no
//! snapshot.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use launchway_domain::mac::MacKey;
use launchway_domain::time::EpochMs;
use launchway_os::clock::Clock;

use super::disk::Disk;
use super::header::{FileKind, Header};
use super::journal::Journal;
use super::reader::{Found, Limits};
use super::rows::{BundleRows, Row};
use super::writer::{Contents, SnapshotWriter};
use super::{SNAPSHOT, SaveError, Seal, SnapshotError, UNFINISHED, journal_name, journal_number};

/// A journal may grow to so many bytes, or half of its snapshot, before a new snapshot is written.
const SMALL_JOURNAL: u64 = 4 << 20;

/// A changed bundle with all its rows, as they are written.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The bundle.
    pub key: String,
    /// The contents of frames.
    pub rows: Vec<Vec<u8>>,
}

impl Entry {
    /// The entry of a bundle with these rows.
    pub fn new(key: &str, rows: &BundleRows) -> Entry {
        let mut contents = Contents::default();
        let mut written: Vec<_> = rows.iter().filter_map(|row| contents.push(row)).collect();
        written.extend(contents.rest());
        Entry {
            key: key.to_owned(),
            rows: written,
        }
    }
}

/// Keeps the snapshot in a folder. All calls but [`Keeper::is_recording`] and [`Keeper::saved_until`] wait for the disk.
pub struct Keeper {
    disk: Box<dyn Disk>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    is_recording: AtomicBool,
    /// 0 without a snapshot.
    until: AtomicI64,
}

struct State {
    journal: Option<Journal>,
    /// The number of the next journal.
    next: u64,
    saved: Option<Saved>,
    /// The number of snapshots that were given up. A save that began before one is not finished.
    given_up: u64,
    /// The newest revision that the journal's changes were read at.
    view: i64,
    /// Until when everything that changed is recorded.
    time: EpochMs,
}

struct Saved {
    bytes: u64,
    /// The number of its first journal.
    journal: u64,
    installation_key: String,
}

/// A snapshot that is being written.
pub struct Save {
    keeper: Arc<Keeper>,
    seal: Seal,
    time: EpochMs,
    journal: u64,
    given_up: u64,
}

impl Keeper {
    /// Keeps the snapshot in this folder, which nobody else uses.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn new(disk: Box<dyn Disk>, clock: Arc<dyn Clock>) -> io::Result<Keeper> {
        let last = disk.names()?.iter().filter_map(|name| journal_number(name)).max();
        let next = last.map_or(Some(1), |last| last.checked_add(1));
        let state = State {
            journal: None,
            next: next.ok_or(io::ErrorKind::InvalidData)?,
            saved: None,
            given_up: 0,
            view: -1,
            time: 0,
        };
        Ok(Keeper {
            disk,
            clock,
            state: Mutex::new(state),
            is_recording: AtomicBool::new(false),
            until: AtomicI64::new(0),
        })
    }

    /// Looks for a snapshot to start from (see [`Found::find`]).
    ///
    /// # Errors
    /// [`SnapshotError`]: there is one that may not be used.
    pub fn find(&self, key: &MacKey, database: &str, age: EpochMs) -> Result<Option<Found>, SnapshotError> {
        let now = self.clock.now();
        Found::find(&*self.disk, key, database, Limits { now, age })
    }

    /// Reads what [`Keeper::find`] found: all rows, then the bundles that changed afterwards.
    ///
    /// # Errors
    /// [`SnapshotError`]: nothing of what was read may be used.
    pub fn read(&self, found: &Found, take: impl FnMut(Row) -> bool) -> Result<(), SnapshotError> {
        found.read_rows(&*self.disk, take)
    }

    /// Reads the bundles that changed after the snapshot was written, in order.
    ///
    /// # Errors
    /// Like [`Keeper::read`].
    pub fn read_changes(&self, found: &Found, take: impl FnMut(&str, BundleRows)) -> Result<(), SnapshotError> {
        found.read_changes(&*self.disk, take)
    }

    /// Whether changes have to be recorded before they are served.
    pub fn is_recording(&self) -> bool {
        self.is_recording.load(Ordering::Acquire)
    }

    /// Until when the snapshot on disk knows the database; `None` without a snapshot.
    pub fn saved_until(&self) -> Option<EpochMs> {
        Some(self.until.load(Ordering::Relaxed)).filter(|until| *until > 0)
    }

    /// Records changed bundles, as a transaction saw them whose newest revision was `view`. When this returns they are on
    /// disk, or the snapshot is gone.
    pub fn record(&self, entries: &[Entry], view: i64) {
        let mut state = self.lock();
        // A call that nobody waits for any more may come late. The one after it has the same changes.
        if view >= state.view {
            self.append(&mut state, entries, view);
        }
    }

    /// Records bundles that changed at these revisions, of which no more is known: a start offers nothing of them.
    pub fn record_unread(&self, changed: &[(String, i64)]) {
        let mut state = self.lock();
        for (key, revision) in changed {
            let view = state.view.max(*revision);
            self.append(&mut state, &[Entry::new(key, &Vec::new())], view);
        }
    }

    fn append(&self, state: &mut State, entries: &[Entry], view: i64) {
        state.view = view;
        // More may have changed until now than is recorded here.
        let time = state.time;
        self.write(state, |journal| journal.append(entries, view, time));
    }

    /// Records that the index has followed everything until `time`.
    pub fn beat(&self, time: EpochMs) {
        let mut state = self.lock();
        let next = state.next;
        if state.saved.as_ref().is_some_and(|saved| self.lacks_file(saved, next)) {
            tracing::warn!("the local snapshot of the index was deleted; a new one is written");
            self.delete(&mut state);
        }
        state.time = time;
        self.write(&mut state, |journal| journal.beat(time));
        if state.saved.is_some() {
            self.until.store(time, Ordering::Relaxed);
        }
    }

    /// Whether the snapshot, or one of its journals before `next`, is not where a start looks for it.
    fn lacks_file(&self, saved: &Saved, next: u64) -> bool {
        // If the system does not say, they are there.
        self.disk.names().is_ok_and(|names| {
            let is_there = |file: &str| names.iter().any(|name| name == file);
            !is_there(SNAPSHOT) || (saved.journal..next).any(|number| !is_there(&journal_name(number)))
        })
    }

    /// Deletes the snapshot, because the index is about to serve what is not recorded.
    pub fn give_up(&self) {
        self.delete(&mut self.lock());
    }

    /// Whether a new snapshot is due: there is none, its journal is long, or the installation's key was sealed again.
    pub fn is_due(&self, installation_key: &str) -> bool {
        let state = self.lock();
        let (Some(saved), Some(journal)) = (&state.saved, &state.journal) else {
            return true;
        };
        saved.installation_key != installation_key || journal.bytes > SMALL_JOURNAL.max(saved.bytes / 2)
    }

    /// Begins a new snapshot, and a new journal for what changes from now on. The rows must be read by a transaction that
    /// begins afterwards.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn begin_save(self: &Arc<Self>, seal: &Seal) -> io::Result<Save> {
        let mut state = self.lock();
        let time = self.clock.now();
        let journal = state.next;
        state.journal = Some(Journal::create(&*self.disk, seal, journal, time)?);
        state.next += 1;
        self.is_recording.store(true, Ordering::Release);
        Ok(Save {
            keeper: self.clone(),
            seal: seal.clone(),
            time,
            journal,
            given_up: state.given_up,
        })
    }

    fn write(&self, state: &mut State, write: impl FnOnce(&mut Journal) -> io::Result<()>) {
        let Some(journal) = &mut state.journal else { return };
        if let Err(error) = write(journal) {
            tracing::error!(%error, "cannot record a change; the local snapshot of the index is deleted");
            self.delete(state);
        }
    }

    /// Without the snapshot or its first journal, nothing is left that a start would use.
    fn delete(&self, state: &mut State) {
        self.is_recording.store(false, Ordering::Release);
        self.until.store(0, Ordering::Relaxed);
        state.journal = None;
        state.saved = None;
        state.given_up += 1;
        // The database may have been replaced by an older one.
        state.view = -1;
        // A start refuses an empty file. Who may not remove files from a directory may still change its own.
        let delete = |name: &str| self.disk.remove(name).or_else(|_| self.disk.empty(name));
        let mut deleted = delete(SNAPSHOT);
        for name in self.disk.names().unwrap_or_default() {
            if name == UNFINISHED || journal_number(&name).is_some() {
                deleted = deleted.and(delete(&name));
            }
        }
        if let Err(error) = deleted.and(self.disk.sync()) {
            tracing::error!(%error, "cannot delete the local snapshot of the index; delete the files in --snapshot-dir");
        }
    }

    fn commit(&self, save: &Save, bytes: u64) -> Result<(), SaveError> {
        let mut state = self.lock();
        if state.given_up != save.given_up {
            self.disk.remove(UNFINISHED)?;
            return Err(SaveError::GivenUp);
        }
        let renamed = self.disk.rename(UNFINISHED, SNAPSHOT);
        if let Err(error) = renamed.and_then(|()| self.disk.sync()) {
            self.delete(&mut state);
            return Err(error.into());
        }
        state.saved = Some(Saved {
            bytes,
            journal: save.journal,
            installation_key: save.seal.installation_key.clone(),
        });
        self.until.fetch_max(save.time, Ordering::Relaxed);
        for name in self.disk.names().unwrap_or_default() {
            if journal_number(&name).is_some_and(|number| number < save.journal) {
                // What stays is ignored, and deleted the next time.
                let _ = self.disk.remove(&name);
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Save {
    /// Creates the file for rows whose newest revision is `revision`.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn writer(&self, revision: i64) -> io::Result<SnapshotWriter> {
        let header = Header {
            kind: FileKind::Snapshot,
            database: self.seal.database.clone(),
            time: self.time,
            revision,
            journal: self.journal,
            installation_key: self.seal.installation_key.clone(),
        };
        SnapshotWriter::create(&*self.keeper.disk, &self.seal, &header)
    }

    /// Replaces the snapshot by what was written.
    ///
    /// # Errors
    /// [`SaveError`]; the earlier snapshot stays, unless it was given up.
    pub fn finish(self, writer: SnapshotWriter) -> Result<(), SaveError> {
        let bytes = writer.finish()?;
        self.keeper.commit(&self, bytes)
    }
}
