//! The record of a bundle in its shard: whom it belongs to, its offered updates, and those that apps may still run.

use std::cmp::Reverse;

use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;
use uuid::Uuid;

use crate::bytes::{Reader, push_number};
use crate::entry::{Entries, Entry, Listed, UpdateFields, push_version, read_version};
use crate::extension::Extension;
use crate::texts::{TextSink, TextSource};

/// The maximum number of known updates of a bundle that are not offered, the newest ones. Apps that run an older one
/// are identified by their `currentBuild` alone.
pub const RETIRED: usize = 64;

/// The longest key of a bundle fits one byte.
const HAS_EXTENSION: u8 = 1;
const HAS_SPELLING: u8 = 2;

/// An update that is not offered. Apps that run it still name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retired<'r> {
    /// Its id.
    pub id: UpdateId,
    /// Its platform.
    pub platform: Platform,
    /// Its version.
    pub version: Version,
    /// The version as text, unless it is three numbers.
    pub version_text: Option<&'r str>,
    /// The value of its build number.
    pub build: u64,
}

/// A bundle as it is written into a shard.
#[derive(Debug)]
pub struct NewRecord<'r> {
    /// Its key.
    pub key: &'r str,
    /// Whom it belongs to.
    pub org_id: OrgId,
    /// The number of its counters in its shard.
    pub number: usize,
    /// Whether the shard has an extension of it.
    pub has_extension: bool,
    /// Its offered updates, newest first.
    pub offered: Vec<UpdateFields<'r>>,
    /// Further known updates, newest first.
    pub retired: Vec<Retired<'r>>,
}

/// A bundle as it is read. `T` is where its texts are.
#[derive(Clone, Copy, Debug)]
pub struct Record<'s, T> {
    /// Its key.
    pub key: &'s str,
    /// The number of its counters in its shard.
    pub number: usize,
    /// Whether the shard has an extension of it.
    pub has_extension: bool,
    flags: u8,
    texts: T,
    /// From the owner on.
    rest: Reader<'s>,
}

impl NewRecord<'_> {
    /// Appends the record. Its length comes first.
    pub fn write(&self, out: &mut Vec<u8>, texts: &mut impl TextSink) {
        let mut body = Vec::with_capacity(512);
        let bundle = Listed {
            key: self.key,
            has_spelling: self.offered.iter().any(|update| update.bundle_id != self.key),
        };
        // A key has at most 255 bytes.
        body.push(self.key.len() as u8);
        body.extend_from_slice(self.key.as_bytes());
        let has_spelling = if bundle.has_spelling { HAS_SPELLING } else { 0 };
        body.push(has_spelling | if self.has_extension { HAS_EXTENSION } else { 0 });
        push_number(&mut body, self.number as u64);
        texts.write(&mut body, &self.org_id.to_string());
        push_number(&mut body, self.offered.len() as u64);
        push_number(&mut body, self.retired.len() as u64);
        let mut before = None;
        for update in &self.offered {
            update.write(&mut body, texts, bundle, before);
            before = Some(update);
        }
        for update in &self.retired {
            update.write(&mut body, texts);
        }
        push_number(out, body.len() as u64);
        out.extend_from_slice(&body);
    }
}

impl<'s, T: TextSource<'s>> Record<'s, T> {
    /// Reads the record at the start of these bytes, and returns the bytes after it.
    pub fn read(bytes: &'s [u8], texts: T) -> (Record<'s, T>, &'s [u8]) {
        let mut reader = Reader::new(bytes);
        let length = reader.number() as usize;
        let mut rest = Reader::new(reader.take(length));
        let key_length = usize::from(rest.byte());
        let key = std::str::from_utf8(rest.take(key_length)).unwrap_or_default();
        let flags = rest.byte();
        let record = Record {
            key,
            number: rest.number() as usize,
            has_extension: flags & HAS_EXTENSION != 0,
            flags,
            texts,
            rest,
        };
        (record, reader.rest())
    }

    /// Whom the bundle belongs to. An id that is not readable is nobody's.
    pub fn org_id(&self) -> OrgId {
        let mut reader = self.rest;
        let org = self.texts.read(&mut reader).parse();
        org.unwrap_or(OrgId::from_uuid(Uuid::nil()))
    }

    /// The offered updates, newest first.
    pub fn entries(&self, extension: Option<&'s Extension>) -> Entries<'s, T> {
        self.lists(extension).0
    }

    /// The known update with this id: its platform, version and build number.
    pub fn known(&self, id: UpdateId) -> Option<(Platform, Version, u64)> {
        let (mut entries, retired) = self.lists(None);
        if let Some(entry) = entries.find(|entry| entry.update_id == id) {
            return Some(entry.running());
        }
        let mut retired = read_retired(entries.rest(), retired, self.texts);
        let update = retired.find(|update| update.id == id)?;
        Some((update.platform, update.version, update.build))
    }

    /// What is written of this bundle into another shard.
    pub fn to_new(self) -> NewRecord<'s> {
        let (mut entries, retired) = self.lists(None);
        let offered = entries.by_ref().map(|entry| entry.fields()).collect();
        NewRecord {
            key: self.key,
            org_id: self.org_id(),
            number: self.number,
            has_extension: self.has_extension,
            offered,
            retired: read_retired(entries.rest(), retired, self.texts).collect(),
        }
    }

    /// The offered updates, and how many others follow them.
    fn lists(&self, extension: Option<&'s Extension>) -> (Entries<'s, T>, usize) {
        let mut reader = self.rest;
        self.texts.skip(&mut reader);
        let (offered, retired) = (reader.number() as usize, reader.number() as usize);
        let bundle = Listed {
            key: self.key,
            has_spelling: self.flags & HAS_SPELLING != 0,
        };
        let entries = Entries::new(reader.rest(), offered, bundle, self.texts, extension);
        (entries, retired)
    }
}

/// Notes in the record at the start of these bytes that the shard has an extension of its bundle.
pub fn mark_extension(bytes: &mut [u8]) {
    let total = bytes.len();
    let mut reader = Reader::new(bytes);
    reader.number();
    let key_length = usize::from(reader.byte());
    reader.take(key_length);
    let place = total - reader.rest().len();
    if let Some(flags) = bytes.get_mut(place) {
        *flags |= HAS_EXTENSION;
    }
}

impl Retired<'_> {
    /// Appends the update.
    pub fn write(&self, out: &mut Vec<u8>, texts: &mut impl TextSink) {
        out.push(((self.platform as u8) << 1) | u8::from(self.version_text.is_some()));
        out.extend_from_slice(self.id.uuid().as_bytes());
        push_version(out, texts, &self.version, self.version_text);
        push_number(out, self.build);
    }
}

/// Reads so many updates that are not offered.
pub fn read_retired<'s, T: TextSource<'s>>(
    bytes: &'s [u8],
    count: usize,
    texts: T,
) -> impl Iterator<Item = Retired<'s>> {
    let mut reader = Reader::new(bytes);
    (0..count).map(move |_| {
        let head = reader.byte();
        let id = UpdateId::from_uuid(Uuid::from_bytes(reader.array()));
        let (version, version_text) = read_version(&mut reader, texts, head & 1 != 0);
        let platform = Platform::ALL.get(usize::from(head >> 1)).copied();
        Retired {
            id,
            platform: platform.unwrap_or(Platform::Ios),
            version,
            version_text,
            build: reader.number(),
        }
    })
}

/// Of the known updates, drops those that are offered, and keeps the newest of the rest.
pub fn keep_retired(known: &mut Vec<Retired<'_>>, offered: impl Iterator<Item = UpdateId>) {
    let mut ids: Vec<UpdateId> = offered.collect();
    ids.sort_unstable();
    known.retain(|update| ids.binary_search(&update.id).is_err());
    // Ids increase with time.
    known.sort_unstable_by_key(|update| Reverse(update.id));
    known.truncate(RETIRED);
}

impl<'s, T: TextSource<'s>> Entry<'s, T> {
    /// What remains known of the update once it is no longer offered.
    pub fn as_retired(&self) -> Retired<'s> {
        let fields = self.fields();
        Retired {
            id: fields.id,
            platform: fields.platform,
            version: fields.version,
            version_text: fields.version_text,
            build: fields.build,
        }
    }
}
