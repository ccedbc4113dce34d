//! The package of an update in a record: its key in object storage, its hash and its size.

use launchway_blob::Key;
use launchway_domain::id::{Id, Kind, PackageId, UploadId};
use uuid::Uuid;

use crate::bytes::{Reader, push_signed};
use crate::texts::{TextSink, TextSource};

/// The bytes of an id after the time that it begins with.
const TAIL: usize = 10;
const TAIL_MASK: u128 = (1 << (8 * TAIL)) - 1;
/// The length of a SHA-256 in bytes.
const HASH: usize = 32;

/// A package as it is given and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its key in object storage.
    pub blob_key: String,
    /// Its SHA-256 in hex digits.
    pub sha256: String,
    /// Its size in bytes.
    pub size: i64,
}

impl Package {
    /// Whether [`Package::write`] writes ids and hash as bytes: every package that a server stored has this form.
    pub fn is_compact(&self) -> bool {
        self.ids().is_some() && self.hash().is_some()
    }

    /// Writes the package. The ids in its key are written relative to `time`, that of the update in epoch milliseconds.
    pub fn write(&self, out: &mut Vec<u8>, texts: &mut impl TextSink, time: i64) {
        push_signed(out, self.size);
        if let (Some((upload, package)), Some(hash)) = (self.ids(), self.hash()) {
            out.extend_from_slice(&hash);
            push_id(out, upload, time);
            push_id(out, package, time);
        } else {
            texts.write(out, &self.sha256);
            texts.write(out, &self.blob_key);
        }
    }

    /// Reads a package.
    pub fn read<'s>(reader: &mut Reader<'s>, texts: impl TextSource<'s>, time: i64, is_compact: bool) -> Package {
        let size = reader.signed();
        if is_compact {
            let sha256 = hex::encode(reader.array::<HASH>());
            let blob_key = read_package_key(reader, time).to_string();
            Package { blob_key, sha256, size }
        } else {
            Package {
                sha256: texts.read(reader).to_owned(),
                blob_key: texts.read(reader).to_owned(),
                size,
            }
        }
    }

    /// Skips a package, and returns the bytes from its start.
    pub fn skip<'s>(reader: &mut Reader<'s>, texts: impl TextSource<'s>, is_compact: bool) -> Reader<'s> {
        let start = *reader;
        reader.signed();
        if is_compact {
            reader.take(HASH);
            for _ in 0..2 {
                reader.signed();
                reader.take(TAIL);
            }
        } else {
            texts.read(reader);
            texts.read(reader);
        }
        start
    }

    /// The ids in a key of the form `packages/<upload>/<package>`.
    fn ids(&self) -> Option<(Uuid, Uuid)> {
        let (upload, package) = self.blob_key.strip_prefix("packages/")?.split_once('/')?;
        let (upload, package): (UploadId, PackageId) = (upload.parse().ok()?, package.parse().ok()?);
        Some((upload.uuid(), package.uuid()))
    }

    fn hash(&self) -> Option<[u8; HASH]> {
        let is_upper = self.sha256.bytes().any(|digit| digit.is_ascii_uppercase());
        let mut hash = [0; HASH];
        hex::decode_to_slice(&self.sha256, &mut hash).ok()?;
        (!is_upper).then_some(hash)
    }
}

/// Writes the package's SHA-256 in hex digits, and returns its size.
pub fn push_hash<'s>(out: &mut Vec<u8>, mut package: Reader<'s>, texts: impl TextSource<'s>, is_compact: bool) -> i64 {
    let size = package.signed();
    if is_compact {
        let mut digits = [0; 2 * HASH];
        // The digits of a hash always fit.
        let _ = hex::encode_to_slice(package.array::<HASH>(), &mut digits);
        out.extend_from_slice(&digits);
    } else {
        out.extend_from_slice(texts.read(&mut package).as_bytes());
    }
    size
}

/// The package's key in object storage.
pub fn read_key<'s>(mut package: Reader<'s>, texts: impl TextSource<'s>, time: i64, is_compact: bool) -> Option<Key> {
    package.signed();
    if is_compact {
        package.take(HASH);
        Some(read_package_key(&mut package, time))
    } else {
        texts.read(&mut package);
        Key::new(texts.read(&mut package)).ok()
    }
}

fn read_package_key(reader: &mut Reader<'_>, time: i64) -> Key {
    let (upload, package) = (read_id(reader, time), read_id(reader, time));
    Key::of_package(UploadId::from_uuid(upload), PackageId::from_uuid(package))
}

/// Writes an id that was made near `time`.
fn push_id(out: &mut Vec<u8>, id: Uuid, time: i64) {
    push_signed(out, time_of(id).wrapping_sub(time));
    out.extend_from_slice(&id.as_bytes()[16 - TAIL..]);
}

fn read_id(reader: &mut Reader<'_>, time: i64) -> Uuid {
    let time = reader.signed().wrapping_add(time);
    id_at(time, reader.array())
}

/// The id of this time with these last bytes.
pub fn id_at(time: i64, tail: [u8; TAIL]) -> Uuid {
    let mut bytes = [0; 16];
    bytes[16 - TAIL..].copy_from_slice(&tail);
    Uuid::from_u128(((time as u128) << (8 * TAIL)) | (u128::from_be_bytes(bytes) & TAIL_MASK))
}

/// The time of an id, which its first six bytes are.
pub fn time_of(id: Uuid) -> i64 {
    (id.as_u128() >> (8 * TAIL)) as i64
}

/// The last bytes of an id, after its time.
pub fn tail_of<K: Kind>(id: &Id<K>) -> [u8; TAIL] {
    let mut tail = [0; TAIL];
    tail.copy_from_slice(&id.uuid().as_bytes()[16 - TAIL..]);
    tail
}
