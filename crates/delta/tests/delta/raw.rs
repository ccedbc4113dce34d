//! Writes ZIP archives by hand, correct or wrong in any field.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// What both an entry's own header and the directory say.
#[derive(Clone)]
pub struct Head {
    pub flags: u16,
    pub method: u16,
    pub checksum: u32,
    pub packed: u32,
    pub unpacked: u32,
    pub name: Vec<u8>,
    pub extra: Vec<u8>,
}

/// One entry, correct when it is made.
#[derive(Clone)]
pub struct Item {
    pub local: Head,
    pub central: Head,
    pub data: Vec<u8>,
    /// What follows the data.
    pub after: Vec<u8>,
    pub attributes: u32,
    pub disk: u16,
    /// Where the directory says it is, if it lies.
    pub start: Option<u32>,
}

/// The end record.
pub struct End {
    pub disk: u16,
    pub count: u16,
    pub count_here: u16,
    pub size: u32,
    pub start: u32,
    pub comment_length: u16,
    /// The comment and what else comes behind.
    pub rest: Vec<u8>,
    /// What comes between the directory and this.
    pub before: Vec<u8>,
}

pub fn stored(name: &str, text: &[u8]) -> Item {
    item(name.as_bytes(), 0, text, text.to_vec())
}

pub fn deflated(name: &str, text: &[u8]) -> Item {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    item(name.as_bytes(), 8, text, encoder.finish().unwrap())
}

pub fn item(name: &[u8], method: u16, text: &[u8], data: Vec<u8>) -> Item {
    let head = Head {
        flags: 0,
        method,
        checksum: crc32fast::hash(text),
        packed: u32::try_from(data.len()).unwrap(),
        unpacked: u32::try_from(text.len()).unwrap(),
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
    /// With something changed in both headers.
    pub fn both(mut self, change: impl Fn(&mut Head)) -> Item {
        change(&mut self.local);
        change(&mut self.central);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Item)) -> Item {
        change(&mut self);
        self
    }

    /// With sizes and checksum behind the data, as programs write that do not know them before.
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

pub fn archive(items: &[Item]) -> Vec<u8> {
    archive_with(items, |_| ())
}

pub fn archive_with(items: &[Item], change: impl FnOnce(&mut End)) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for item in items {
        let start = item.start.unwrap_or(u32::try_from(out.len()).unwrap());
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
    let count = u16::try_from(items.len()).unwrap();
    let mut end = End {
        disk: 0,
        count,
        count_here: count,
        size: u32::try_from(directory.len()).unwrap(),
        start: u32::try_from(out.len()).unwrap(),
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
    out.extend(u16::try_from(head.name.len()).unwrap().to_le_bytes());
    out.extend(u16::try_from(head.extra.len()).unwrap().to_le_bytes());
}

/// One extra field.
pub fn extra(id: u16, data: &[u8]) -> Vec<u8> {
    [
        &id.to_le_bytes()[..],
        &u16::try_from(data.len()).unwrap().to_le_bytes(),
        data,
    ]
    .concat()
}

/// The wide end record and its locator for an archive whose directory ends at `position`.
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
