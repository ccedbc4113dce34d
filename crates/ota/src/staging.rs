//! The rows of the database on their way into the index, packed as they arrive: in no order, and those of a million
//! bundles at once. Their memory goes back to the system in one piece when the shards are built.

use std::collections::HashMap;
use std::sync::Arc;

use launchway_domain::id::OrgId;
use launchway_domain::ota;
use launchway_domain::version::Version;
use launchway_store::{OfferedUpdate, RetiredUpdate};

use crate::bytes::{Reader, push_number};
use crate::entry::{Entries, Entry, Listed, Notes, UpdateFields};
use crate::extension::Extension;
use crate::long_texts::LongText;
use crate::package::Package;
use crate::record::{NewRecord, Retired, keep_retired, read_retired};
use crate::row_memory::RowMemory;
use crate::texts::{TextSink, TextSource};

/// The most texts that rows share; further ones are written where they occur.
const SHARED_TEXTS: usize = 1 << 14;

/// The texts that many rows share.
#[derive(Debug, Default)]
pub struct Dictionary {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u64>,
}

impl TextSink for Dictionary {
    fn write(&mut self, out: &mut Vec<u8>, text: &str) {
        if let Some(number) = self.numbers.get(text) {
            return push_number(out, *number);
        }
        if self.texts.len() < SHARED_TEXTS {
            let text: Arc<str> = text.into();
            self.texts.push(text.clone());
            // Zero stands for a text that follows.
            let number = self.texts.len() as u64;
            self.numbers.insert(text, number);
            return push_number(out, number);
        }
        push_number(out, 0);
        push_number(out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
}

impl<'s> TextSource<'s> for &'s Dictionary {
    fn read(self, reader: &mut Reader<'s>) -> &'s str {
        match reader.number() as usize {
            0 => {
                let length = reader.number() as usize;
                std::str::from_utf8(reader.take(length)).unwrap_or_default()
            }
            number => self.texts.get(number - 1).map_or("", |text| text),
        }
    }

    fn skip(self, reader: &mut Reader<'s>) -> Reader<'s> {
        let start = *reader;
        self.read(reader);
        start
    }
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An update that is offered.
    Offered,
    /// Like it, with the bundle id in another spelling than the key.
    Spelled,
    /// A published or paused update that is not offered.
    Held,
    /// An update that is withdrawn or deleted.
    Retired,
}

/// The place of no row.
const NOWHERE: u64 = u64::MAX;

/// The rows of all shards. Each row begins with the place of the one before it in its shard: the allocator
/// would not return all of the memory in which lists of places grow.
#[derive(Debug)]
pub struct Rows {
    memory: RowMemory,
    /// Where the last row of each shard is.
    last: Vec<u64>,
}

/// The rows of one bundle.
pub struct BundleRows<'r> {
    /// Its key.
    pub key: &'r str,
    org_id: Option<OrgId>,
    entries: Vec<Entry<'r, &'r Dictionary>>,
    known: Vec<Retired<'r>>,
}

impl Rows {
    /// No rows of so many shards.
    pub fn of_shards(shards: usize) -> Rows {
        Rows {
            memory: RowMemory::default(),
            last: vec![NOWHERE; shards],
        }
    }

    /// Adds an update that is offered to a shard. `notes` are its release notes as JSON, or where they are outside memory.
    pub fn add_offered(
        &mut self,
        shard: usize,
        key: &str,
        update: &OfferedUpdate,
        notes: Notes<'_>,
        dictionary: &mut Dictionary,
    ) {
        let has_spelling = update.bundle_id != key;
        let kind = if has_spelling { Kind::Spelled } else { Kind::Offered };
        self.add(shard, key, kind, |row| {
            dictionary.write(row, &update.org_id.to_string());
            let bundle = Listed { key, has_spelling };
            fields_of(update, notes).write(row, dictionary, bundle, None);
        });
    }

    /// Adds a published or paused update that is not offered.
    pub fn add_held(&mut self, shard: usize, key: &str, update: &OfferedUpdate, dictionary: &mut Dictionary) {
        let retired = RetiredUpdate {
            id: update.id,
            platform: update.platform,
            version: update.version.clone(),
            build: update.build_number.value(),
        };
        self.add(shard, key, Kind::Held, |row| {
            dictionary.write(row, &update.org_id.to_string());
            push_retired(row, &retired, dictionary);
        });
    }

    /// Adds a withdrawn or deleted update.
    pub fn add_retired(&mut self, shard: usize, key: &str, update: &RetiredUpdate, dictionary: &mut Dictionary) {
        self.add(shard, key, Kind::Retired, |row| push_retired(row, update, dictionary));
    }

    fn add(&mut self, shard: usize, key: &str, kind: Kind, write: impl FnOnce(&mut Vec<u8>)) {
        let mut row = Vec::with_capacity(256);
        row.extend_from_slice(&self.last[shard].to_le_bytes());
        // A key has at most 255 bytes.
        row.extend_from_slice(&[kind as u8, key.len() as u8]);
        row.extend_from_slice(key.as_bytes());
        write(&mut row);
        self.last[shard] = self.memory.push(&row);
    }

    /// The bytes of all rows.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// The rows of a shard by bundle, those of bundles without a published or paused update left out.
    pub fn bundles<'r>(&'r self, shard: usize, dictionary: &'r Dictionary) -> Vec<BundleRows<'r>> {
        let mut rows = Vec::new();
        let mut place = self.last.get(shard).copied().unwrap_or(NOWHERE);
        while place != NOWHERE {
            let mut row = Reader::new(self.memory.read(place));
            place = u64::from_le_bytes(row.array());
            rows.push(read_row(row));
        }
        // In the order of their arrival, and by bundle.
        rows.reverse();
        rows.sort_by_key(|(key, ..)| *key);
        let of_bundle = rows.chunk_by(|(this, ..), (that, ..)| this == that);
        of_bundle
            .map(|rows| BundleRows::read(rows, dictionary))
            .filter(|bundle| bundle.org_id.is_some())
            .collect()
    }
}

fn read_row(mut row: Reader<'_>) -> (&str, Kind, Reader<'_>) {
    let kinds = [Kind::Offered, Kind::Spelled, Kind::Held];
    let kind = kinds.get(usize::from(row.byte())).copied().unwrap_or(Kind::Retired);
    let length = usize::from(row.byte());
    let key = std::str::from_utf8(row.take(length)).unwrap_or_default();
    (key, kind, row)
}

impl<'r> BundleRows<'r> {
    fn read(rows: &[(&'r str, Kind, Reader<'r>)], dictionary: &'r Dictionary) -> BundleRows<'r> {
        let key = rows.first().map_or("", |(key, ..)| *key);
        let mut bundle = BundleRows {
            key,
            org_id: None,
            entries: Vec::new(),
            known: Vec::new(),
        };
        for (_, kind, row) in rows {
            let mut row = *row;
            if *kind != Kind::Retired {
                bundle.org_id = dictionary.read(&mut row).parse().ok();
            }
            if matches!(kind, Kind::Held | Kind::Retired) {
                bundle.known.extend(read_retired(row.rest(), 1, dictionary));
                continue;
            }
            let has_spelling = *kind == Kind::Spelled;
            let listed = Listed { key, has_spelling };
            bundle
                .entries
                .extend(Entries::new(row.rest(), 1, listed, dictionary, None));
        }
        bundle
    }

    /// The bundle's record with at most `limit` offered updates, and what it needs beside it.
    pub fn into_record(self, limit: usize, long_notes: &[Arc<LongText>]) -> (NewRecord<'r>, Extension) {
        let mut known = self.known;
        // Updates that no caller can get any more leave the list of offered ones.
        known.extend(self.entries.iter().map(Entry::as_retired));
        let mut entries = self.entries;
        entries.sort_by(ota::order);
        let mut entries = ota::prune(entries);
        entries.truncate(limit);
        keep_retired(&mut known, entries.iter().map(|entry| entry.update_id));
        let mut extension = Extension::default();
        let mut offered: Vec<UpdateFields<'r>> = entries.iter().map(Entry::fields).collect();
        for update in &mut offered {
            if let Notes::Long(number) = &mut update.notes
                && let Some(notes) = long_notes.get(*number)
            {
                *number = extension.add_notes(notes.clone());
            }
        }
        let record = NewRecord {
            key: self.key,
            // Only bundles with an owner are read.
            org_id: self.org_id.unwrap_or(OrgId::from_uuid(uuid::Uuid::nil())),
            number: 0,
            has_extension: !extension.is_empty(),
            offered,
            retired: known,
        };
        (record, extension)
    }
}

fn push_retired(row: &mut Vec<u8>, update: &RetiredUpdate, dictionary: &mut Dictionary) {
    let version = update.version.to_string();
    let retired = Retired {
        id: update.id,
        platform: update.platform,
        version_text: text_of(&update.version, &version),
        version: update.version.clone(),
        build: update.build,
    };
    retired.write(row, dictionary);
}

/// The text of a version, unless it is three numbers.
fn text_of<'t>(version: &Version, text: &'t str) -> Option<&'t str> {
    let (major, minor, patch) = version.core();
    (text != format!("{major}.{minor}.{patch}")).then_some(text)
}

fn fields_of<'u>(update: &'u OfferedUpdate, notes: Notes<'u>) -> UpdateFields<'u> {
    let build_text = update.build_number.as_str();
    let build = update.build_number.value();
    UpdateFields {
        id: update.id,
        bundle_id: &update.bundle_id,
        platform: update.platform,
        mandatory: update.mandatory,
        rollout: update.rollout,
        version_text: text_of(&update.version, &update.version_text),
        version: update.version.clone(),
        build,
        build_text: (build_text != build.to_string()).then_some(build_text),
        created_at: update.created_at,
        configuration: update.configuration.as_deref(),
        fingerprint: update.fingerprint.as_deref(),
        notes,
        package: Package {
            blob_key: update.blob_key.clone(),
            sha256: update.sha256.clone(),
            size: update.size,
        },
    }
}
