//! Writes ZIP archives by hand, with any field right or wrong.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

const MEMORY: &str = "writing to memory does not fail";

/// The fields that an entry's own header and the directory share.
#[derive(Clone, Debug)]
pub struct Head {
    /// The general purpose flags.
    pub flags: u16,
    /// The compression method.
    pub method: u16,
    /// The CRC-32 of the unpacked bytes.
    pub checksum: u32,
    /// The size as packed.
    pub packed: u32,
    /// The size when unpacked.
    pub unpacked: u32,
    /// The path.
    pub name: Vec<u8>,
    /// The extra fields.
    pub extra: Vec<u8>,
}

/// One entry, valid by default.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its own header.
    pub local: Head,
    /// Its header in the directory.
    pub central: Head,
    /// The packed bytes.
    pub data: Vec<u8>,
    /// The bytes after the data.
    pub after: Vec<u8>,
    /// The external attributes.
    pub attributes: u32,
    /// The number of its disk.
    pub disk: u16,
    /// The offset in the directory, if it is to be wrong.
    pub start: Option<u32>,
}

/// The end record.
#[derive(Debug)]
pub struct End {
    /// The number of this disk and of the directory's.
    pub disk: u16,
    /// The number of entries.
    pub count: u16,
    /// The number of entries on this disk.
    pub count_here: u16,
    /// The size of the directory.
    pub size: u32,
    /// The offset of the directory.
    pub start: u32,
    /// The declared length of the comment.
    pub comment_length: u16,
    /// The comment and any further bytes.
    pub rest: Vec<u8>,
    /// The bytes between the directory and this record.
    pub before: Vec<u8>,
}

/// A stored entry.
#[must_use]
pub fn stored(name: &str, text: &[u8]) -> Item {
    item(name.as_bytes(), 0, text, text.to_vec())
}

/// A deflated entry.
#[must_use]
pub fn deflated(name: &str, text: &[u8]) -> Item {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).expect(MEMORY);
    item(name.as_bytes(), 8, text, encoder.finish().expect(MEMORY))
}

/// An entry with these packed bytes, which unpack to `text`.
#[must_use]
pub fn item(name: &[u8], method: u16, text: &[u8], data: Vec<u8>) -> Item {
    let head = Head {
        flags: 0,
        method,
        checksum: crc32fast::hash(text),
        packed: narrow32(data.len()),
        unpacked: narrow32(text.len()),
        name: name.to_vec(),
        extra: Vec::new(),
    };
    Item {
        local: head.clone(),
        central: head,
        data,
        after: Vec::new(),
        attributes: 0,
        disk: 0,
        start: None,
    }
}

impl Item {
    /// The item with a change in both headers.
    #[must_use]
    pub fn both(mut self, change: impl Fn(&mut Head)) -> Item {
        change(&mut self.local);
        change(&mut self.central);
        self
    }

    /// The item with a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Item)) -> Item {
        change(&mut self);
        self
    }

    /// The item with sizes and checksum after the data, as written by programs that stream.
    #[must_use]
    pub fn streamed(self, mark: bool, wide: bool) -> Item {
        let mut item = self.both(|head| head.flags |= 8);
        let known = item.central.clone();
        (item.local.checksum, item.local.packed, item.local.unpacked) = (0, 0, 0);
        if mark {
            item.after.extend(b"PK\x07\x08");
        }
        item.after.extend(known.checksum.to_le_bytes());
        for size in [known.packed, known.unpacked] {
            if wide {
                item.after.extend(u64::from(size).to_le_bytes())
            } else {
                item.after.extend(size.to_le_bytes())
            }
        }
        item
    }
}

/// The archive of these entries.
#[must_use]
pub fn archive(items: &[Item]) -> Vec<u8> {
    archive_with(items, |_| ())
}

/// The archive of these entries, with a change in its end record.
#[must_use]
pub fn archive_with(items: &[Item], change: impl FnOnce(&mut End)) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for item in items {
        let start = item.start.unwrap_or(narrow32(out.len()));
        out.extend(b"PK\x03\x04\x14\0");
        fixed(&mut out, &item.local);
        out.extend([&*item.local.name, &item.local.extra, &item.data, &item.after].concat());
        directory.extend(b"PK\x01\x02\x1e\x03\x14\0");
        fixed(&mut directory, &item.central);
        directory.extend([0, 0]);
        directory.extend(item.disk.to_le_bytes());
        directory.extend([0, 0]);
        directory.extend(item.attributes.to_le_bytes());
        directory.extend(start.to_le_bytes());
        directory.extend([&*item.central.name, &item.central.extra].concat());
    }
    let count = narrow16(items.len());
    let mut end = End {
        disk: 0,
        count,
        count_here: count,
        size: narrow32(directory.len()),
        start: narrow32(out.len()),
        comment_length: 0,
        rest: Vec::new(),
        before: Vec::new(),
    };
    change(&mut end);
    out.extend([directory, end.before].concat());
    out.extend(b"PK\x05\x06");
    for number in [end.disk, end.disk, end.count_here, end.count] {
        out.extend(number.to_le_bytes());
    }
    out.extend(end.size.to_le_bytes());
    out.extend(end.start.to_le_bytes());
    out.extend(end.comment_length.to_le_bytes());
    out.extend(end.rest);
    out
}

fn fixed(out: &mut Vec<u8>, head: &Head) {
    out.extend([head.flags, head.method, 0, 0x21].map(u16::to_le_bytes).concat());
    out.extend(
        [head.checksum, head.packed, head.unpacked]
            .map(u32::to_le_bytes)
            .concat(),
    );
    out.extend(narrow16(head.name.len()).to_le_bytes());
    out.extend(narrow16(head.extra.len()).to_le_bytes());
}

/// One extra field.
#[must_use]
pub fn extra(id: u16, data: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes()[..], &narrow16(data.len()).to_le_bytes(), data].concat()
}

/// The ZIP64 end record and its locator for an archive whose directory ends at `position`.
#[must_use]
pub fn wide_end(count: u64, size: u64, start: u64, position: u64) -> Vec<u8> {
    let mut out = b"PK\x06\x06".to_vec();
    out.extend(44u64.to_le_bytes());
    out.extend([45, 0, 45, 0]);
    out.extend([0; 8]);
    for number in [count, count, size, start] {
        out.extend(number.to_le_bytes());
    }
    out.extend(b"PK\x06\x07\0\0\0\0");
    out.extend(position.to_le_bytes());
    out.extend(1u32.to_le_bytes());
    out
}

fn narrow16(number: usize) -> u16 {
    u16::try_from(number).expect("fewer than 65536, unless it is written by hand")
}

fn narrow32(number: usize) -> u32 {
    u32::try_from(number).expect("an archive of a test is small")
}
