//! Finds a snapshot with its journals, judges whether it may be used, and reads its rows.

use std::io::{BufReader, ErrorKind, Read};

use launchway_domain::mac::MacKey;
use launchway_domain::time::{EpochMs, HOUR, SECOND};

use super::disk::Disk;
use super::fields::FieldReader;
use super::frames::{FrameError, FrameReader, Kind};
use super::header::{FileKind, Header, MAGIC};
use super::rows::{BundleRows, Row};
use super::{SNAPSHOT, SnapshotError, journal_name, journal_number};

/// Clocks of machines differ, but not by more than this.
const CLOCK_ERROR: EpochMs = HOUR;

/// How old a snapshot may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Now.
    pub now: EpochMs,
    /// The highest age, in milliseconds.
    pub age: EpochMs,
}

/// A snapshot that may be used.
pub struct Found {
    /// The installation's own key, sealed by the master key.
    pub installation_key: String,
    /// Until when it knows the database.
    pub time: EpochMs,
    header: Header,
    key: MacKey,
    /// The number after the last journal.
    end: u64,
}

/// A change of one bundle in a journal.
struct Change {
    key: String,
    view: i64,
    contents: Vec<Vec<u8>>,
}

type Frames = FrameReader<BufReader<Box<dyn Read + Send>>>;

impl Found {
    /// Looks for a snapshot of this database, and verifies it but for its rows. `None` if there is none.
    ///
    /// # Errors
    /// [`SnapshotError`]: it may not be used.
    pub fn find(disk: &dyn Disk, key: &MacKey, database: &str, limits: Limits) -> Result<Option<Found>, SnapshotError> {
        let file = match disk.open(SNAPSHOT) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let (_, header) = open_frames(file, key)?;
        if header.kind != FileKind::Snapshot {
            return Err(SnapshotError::Damaged("it is a journal"));
        }
        if header.database != database {
            return Err(SnapshotError::Database(header.database));
        }
        let mut found = Found {
            installation_key: header.installation_key.clone(),
            time: header.time,
            end: journals_after(disk, header.journal)?,
            key: key.clone(),
            header,
        };
        found.time = found.read_journals(disk, |_| Ok(()))?;
        let age = limits.now - found.time;
        if age > limits.age {
            return Err(SnapshotError::TooOld(age / SECOND));
        }
        if age < -CLOCK_ERROR {
            return Err(SnapshotError::Future(-age / SECOND));
        }
        Ok(Some(found))
    }

    /// Passes all rows of the snapshot to `take`, in order. They may be used only if this succeeds.
    ///
    /// # Errors
    /// [`SnapshotError`]; also if `take` returns `false`.
    pub fn read_rows(&self, disk: &dyn Disk, mut take: impl FnMut(Row) -> bool) -> Result<(), SnapshotError> {
        let (mut frames, header) = open_frames(disk.open(SNAPSHOT)?, &self.key)?;
        if header != self.header {
            return Err(SnapshotError::Damaged("it was replaced while it was read"));
        }
        let mut count = 0;
        loop {
            let (kind, content) = next(&mut frames)?.ok_or(SnapshotError::Damaged("its end is missing"))?;
            match kind {
                Kind::Rows => {
                    for row in rows_of(&content)? {
                        count += 1;
                        if !take(row) {
                            return Err(SnapshotError::Damaged("its rows are not in order"));
                        }
                    }
                }
                Kind::End if FieldReader::new(&content).number() == Some(count) => break,
                _ => return Err(SnapshotError::Damaged("a frame is in the wrong place")),
            }
        }
        match next(&mut frames)? {
            None => Ok(()),
            Some(_) => Err(SnapshotError::Damaged("something follows its end")),
        }
    }

    /// Passes the key and all rows of each bundle that changed after the snapshot to `take`, in order of the changes.
    ///
    /// # Errors
    /// [`SnapshotError`].
    pub fn read_changes(&self, disk: &dyn Disk, mut take: impl FnMut(&str, BundleRows)) -> Result<(), SnapshotError> {
        self.read_journals(disk, |change| {
            // A change that the snapshot has already may have been recorded late.
            if change.view <= self.header.revision {
                return Ok(());
            }
            let mut rows = Vec::new();
            for content in &change.contents {
                rows.append(&mut rows_of(content)?);
            }
            take(&change.key, rows);
            Ok(())
        })?;
        Ok(())
    }

    /// Reads the journals in their order, and returns until when they know the database.
    fn read_journals(
        &self,
        disk: &dyn Disk,
        mut take: impl FnMut(Change) -> Result<(), SnapshotError>,
    ) -> Result<EpochMs, SnapshotError> {
        let mut time = self.header.time;
        for number in self.header.journal..self.end {
            let file = disk.open(&journal_name(number))?;
            let is_last = number + 1 == self.end;
            let (mut frames, header) = match open_frames(file, &self.key) {
                // The process ended while it began this journal: nothing was recorded there.
                Err(SnapshotError::Damaged(SHORT)) if is_last && number > self.header.journal => break,
                opened => opened?,
            };
            if header.kind != FileKind::Journal || header.journal != number || header.database != self.header.database {
                return Err(SnapshotError::Damaged("a journal belongs elsewhere"));
            }
            let ended = read_journal(&mut frames, &mut time, &mut take)?;
            if !ended && !is_last {
                return Err(SnapshotError::Damaged("a journal is incomplete"));
            }
        }
        Ok(time)
    }
}

/// What [`SnapshotError::Damaged`] says of a file that ends too early.
const SHORT: &str = "it ends too early";

/// Reads one journal. Returns whether it ends with a complete change: the last one may have been interrupted, and was
/// then never served.
fn read_journal(
    frames: &mut Frames,
    time: &mut EpochMs,
    take: &mut impl FnMut(Change) -> Result<(), SnapshotError>,
) -> Result<bool, SnapshotError> {
    let mut contents = Vec::new();
    loop {
        let (kind, content) = match frames.next() {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(contents.is_empty()),
            Err(FrameError::Short) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let mut fields = FieldReader::new(&content);
        let unreadable = SnapshotError::Damaged("a change is not readable");
        match kind {
            Kind::Rows => contents.push(content),
            Kind::Bundle => {
                // The time means nothing here. Earlier releases judge the age by it, and wrote when the change was recorded.
                let (Some(view), Some(_), Some(key)) = (fields.signed(), fields.signed(), fields.string()) else {
                    return Err(unreadable);
                };
                let contents = std::mem::take(&mut contents);
                take(Change { key, view, contents })?;
            }
            Kind::Beat if contents.is_empty() => *time = fields.signed().ok_or(unreadable)?,
            _ => return Err(SnapshotError::Damaged("a frame is in the wrong place")),
        }
    }
}

/// The number after the last journal from `first` on, without gaps.
fn journals_after(disk: &dyn Disk, first: u64) -> Result<u64, SnapshotError> {
    let names = disk.names()?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| journal_number(name)).collect();
    numbers.retain(|number| *number >= first);
    numbers.sort_unstable();
    let is_whole = numbers.first() == Some(&first) && numbers.windows(2).all(|pair| pair[1] - pair[0] == 1);
    let last = numbers.last().filter(|_| is_whole);
    let end = last.and_then(|last| last.checked_add(1));
    end.ok_or(SnapshotError::Damaged("a journal is missing"))
}

/// Reads the start of a file.
fn open_frames(file: Box<dyn Read + Send>, key: &MacKey) -> Result<(Frames, Header), SnapshotError> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    let mut magic = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic)?;
    if magic != MAGIC {
        let is_short = MAGIC.starts_with(&magic);
        return Err(if is_short {
            SnapshotError::Damaged(SHORT)
        } else {
            SnapshotError::Format
        });
    }
    let mut frames = FrameReader::new(file, key);
    let content = match frames.next() {
        Ok(Some((Kind::Header, content))) => content,
        Ok(None) | Err(FrameError::Short) => return Err(SnapshotError::Damaged(SHORT)),
        Err(FrameError::Io(error)) => return Err(error.into()),
        Ok(Some(_)) | Err(FrameError::Damaged) => return Err(SnapshotError::Key),
    };
    let header = Header::read(&content).ok_or(SnapshotError::Format)?;
    Ok((frames, header))
}

fn next(frames: &mut Frames) -> Result<Option<(Kind, Vec<u8>)>, SnapshotError> {
    Ok(frames.next()?)
}

fn rows_of(content: &[u8]) -> Result<Vec<Row>, SnapshotError> {
    Row::read_all(content).ok_or(SnapshotError::Damaged("a row is not readable"))
}

impl From<FrameError> for SnapshotError {
    fn from(error: FrameError) -> SnapshotError {
        match error {
            FrameError::Io(error) => SnapshotError::Io(error),
            FrameError::Short => SnapshotError::Damaged(SHORT),
            FrameError::Damaged => SnapshotError::Damaged("a MAC does not fit"),
        }
    }
}
