//! Archives that must be refused, one forbidden entry at a time.

use super::*;

#[test]
fn hostile_tar_archives_are_refused_and_touch_nothing_outside() {
    let sparse = made(EntryType::GNUSparse, "sparse", "", b"");
    let pax = |record: &str| {
        let length = record.len() + 4;
        let text = format!("{length} {record}\n");
        made(EntryType::XHeader, "PaxHeaders", "", text.as_bytes())
    };
    let deep = "d/".repeat(45);
    let rows: Vec<(&str, Vec<Made>, &str)> = vec![
        ("absolute", vec![file("/etc/x")], "has an absolute path"),
        ("climbing", vec![file("../secret")], "is outside the source"),
        ("climbing later", vec![file("a/../../secret")], "is outside the source"),
        ("climbing at the end", vec![file("a/..")], "is outside the source"),
        (
            "climbing directory",
            vec![made(EntryType::Directory, "../x", "", b"")],
            "is outside the source",
        ),
        ("backslashes", vec![file("..\\secret")], "has a backslash in its name"),
        ("no name", vec![file("")], "has no name"),
        ("dot as a file", vec![file(".")], "has no name"),
        (
            "link to an absolute path",
            vec![link("a", "/etc/passwd")],
            "is a link to an absolute path",
        ),
        (
            "link out",
            vec![link("a", "../secret")],
            "is a link to outside the source",
        ),
        (
            "link out later",
            vec![link("d/a", "b/../../../secret")],
            "is a link to outside the source",
        ),
        (
            "link without a target",
            vec![link("a", "")],
            "is a link without a target",
        ),
        (
            "write through a link",
            vec![link("a", "b"), file("a/x")],
            "is inside an entry that is not a directory",
        ),
        (
            "write through a link to a directory",
            vec![made(EntryType::Directory, "d", "", b""), link("a", "d"), file("a/x")],
            "is inside an entry that is not a directory",
        ),
        (
            "write over a link",
            vec![link("a", "b"), file("a")],
            "is in the archive twice",
        ),
        (
            "link over a file",
            vec![file("a"), link("a", "b")],
            "is in the archive twice",
        ),
        (
            "directory through a link",
            vec![link("a", "d"), made(EntryType::Directory, "a/b", "", b"")],
            "is inside an entry that is not a directory",
        ),
        (
            "directory over a link",
            vec![link("a", "d"), made(EntryType::Directory, "a", "", b"")],
            "is inside an entry that is not a directory",
        ),
        (
            "link out through another",
            vec![
                made(EntryType::Directory, "d/e/f", "", b""),
                link("d/e/f/s", "../../.."),
                link("t", "d/e/f/s/../x"),
            ],
            "is a link to outside the source",
        ),
        ("link to itself", vec![link("a", "a")], "is a link to itself"),
        (
            "links in a circle",
            vec![link("a", "b"), link("b", "a")],
            "is a link to itself",
        ),
        ("file twice", vec![file("a"), file("a")], "is in the archive twice"),
        (
            "file twice by another name",
            vec![file("a"), file("./a")],
            "is in the archive twice",
        ),
        (
            "file as a directory",
            vec![file("a"), file("a/b")],
            "is inside an entry that is not a directory",
        ),
        (
            "second name of nothing",
            vec![made(EntryType::Link, "a", "gone", b"")],
            "is a hard link to a file that does not precede it",
        ),
        (
            "second name of a link",
            vec![link("l", "x"), made(EntryType::Link, "a", "l", b"")],
            "is a hard link to a file that does not precede it",
        ),
        (
            "second name outside",
            vec![made(EntryType::Link, "a", "../secret", b"")],
            "is outside the source",
        ),
        (
            "absolute second name",
            vec![made(EntryType::Link, "a", "/etc/passwd", b"")],
            "has an absolute path",
        ),
        (
            "second name through a link",
            vec![
                made(EntryType::Directory, "d", "", b""),
                file("d/x"),
                link("l", "d"),
                made(EntryType::Link, "a", "l/x", b""),
            ],
            "is a hard link to a file that does not precede it",
        ),
        (
            "character device",
            vec![made(EntryType::Char, "a", "", b"")],
            "is a device or pipe",
        ),
        (
            "block device",
            vec![made(EntryType::Block, "a", "", b"")],
            "is a device or pipe",
        ),
        ("pipe", vec![made(EntryType::Fifo, "a", "", b"")], "is a device or pipe"),
        (
            "unknown type",
            vec![made(EntryType::new(b'V'), "a", "", b"")],
            "has an unknown type",
        ),
        ("sparse", vec![sparse], "is a sparse file"),
        (
            "sparse by a header",
            vec![pax("GNU.sparse.realsize=9"), file("a")],
            "is a sparse file",
        ),
        (
            "size by a header",
            vec![pax("size=999999999999"), file("a")],
            "has an extended size",
        ),
        (
            "climbing by a header",
            vec![pax("path=../../secr"), file("a")],
            "is outside the source",
        ),
        (
            "link out by a header",
            vec![pax("linkpath=../sec"), link("a", "b")],
            "is a link to outside the source",
        ),
        (
            "climbing by a long name",
            vec![made(EntryType::GNULongName, "L", "", b"../secret\0"), file("a")],
            "is outside the source",
        ),
        (
            "link out by a long name",
            vec![made(EntryType::GNULongLink, "L", "", b"/etc/passwd\0"), link("a", "b")],
            "absolute path",
        ),
        (
            "NUL in a header's name",
            vec![pax("path=a\0b56789"), file("a")],
            "has a NUL in its name",
        ),
        (
            "too long a header",
            vec![made(EntryType::XHeader, "x", "", &vec![b'x'; (1 << 20) + 1]), file("a")],
            "a header in it is too long",
        ),
        (
            "too deep",
            vec![
                made(EntryType::GNULongName, "L", "", deep.repeat(5).as_bytes()),
                file("a"),
            ],
            "is nested too deeply",
        ),
        ("nothing", vec![], "it is empty"),
    ];
    for (what, entries, expected) in rows {
        let stage = Stage::new();
        let problem = stage
            .unpack("a.tar.gz", &tar_gz(&entries), BOUNDS)
            .expect_err(what)
            .to_string();
        assert!(problem.contains(expected), "{what}: {problem}");
        stage.check();
    }
}

#[test]
fn hostile_zip_archives_are_refused_and_touch_nothing_outside() {
    let symlinked = |name: &str, target: &str| {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.add_symlink(name, target, SimpleFileOptions::default()).unwrap();
        writer.start_file("a/x", SimpleFileOptions::default()).unwrap();
        writer.finish().unwrap().into_inner()
    };
    // The type of the entry in its Unix mode, in the central directory.
    let mut device = zip_of(&[("device", Some(0o644), b"x"), ("b", None, b"")]);
    let at = device.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap() + 38;
    device[at + 2..at + 4].copy_from_slice(&0o060_644_u16.to_le_bytes());
    let mut renamed = zip_of(&[("aaaa", None, b"x"), ("b", None, b"")]);
    for at in 0..renamed.len() - 4 {
        if &renamed[at..at + 4] == b"aaaa" {
            renamed[at..at + 4].copy_from_slice(b"../x");
        }
    }
    let rows = [
        ("absolute", zip_of(&[("/etc/x", None, b"x")]), "has an absolute path"),
        ("climbing", renamed, "is outside the source"),
        ("backslashes", zip_of(&[("..\\x", None, b"x")]), "has a backslash"),
        (
            "link out",
            symlinked("a", "../secret"),
            "is a link to outside the source",
        ),
        ("absolute link", symlinked("a", "/etc/passwd"), "absolute path"),
        (
            "through a link",
            symlinked("a", "b"),
            "is inside an entry that is not a directory",
        ),
        ("device", device, "is a device or pipe"),
        (
            "file below a file",
            zip_of(&[("a", None, b"x"), ("a/b", None, b"y")]),
            "is inside an entry that is not a directory",
        ),
        ("no archive", b"PK nothing".to_vec(), "cannot read the archive"),
    ];
    for (what, bytes, expected) in rows {
        let stage = Stage::new();
        let problem = stage.unpack("a.zip", &bytes, BOUNDS).expect_err(what).to_string();
        assert!(problem.contains(expected), "{what}: {problem}");
        stage.check();
    }
}

/// A central directory of `entries` entries without local files, and an end record that claims other numbers.
fn directory_alone(entries: usize, claimed: u16, size: impl Fn(u32) -> u32) -> Vec<u8> {
    let mut entry = b"PK\x01\x02".to_vec();
    entry.resize(46, 0);
    entry[28] = 1;
    entry.push(b'a');
    let mut bytes = entry.repeat(entries);
    let length = u32::try_from(bytes.len()).unwrap();
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([claimed.to_le_bytes(), claimed.to_le_bytes()].concat());
    bytes.extend(size(length).to_le_bytes());
    bytes.extend([0; 6]);
    bytes
}

/// Inserts a ZIP64 end record with this count, and its locator, before the end record.
fn widened(bytes: &[u8], count: u64, size: u64) -> Vec<u8> {
    let (directory, end) = bytes.split_at(bytes.len() - 22);
    let start = directory.len() as u64;
    let mut wide = directory.to_vec();
    wide.extend(b"PK\x06\x06");
    wide.extend(44_u64.to_le_bytes());
    wide.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [count, count, size, 0] {
        wide.extend(number.to_le_bytes());
    }
    wide.extend(b"PK\x06\x07\0\0\0\0");
    wide.extend(start.to_le_bytes());
    wide.extend(1_u32.to_le_bytes());
    wide.extend(end);
    wide
}

#[test]
fn a_directory_is_measured_before_it_is_read() {
    let honest = directory_alone(2000, 2000, |size| size);
    let rows = [
        (
            "too many",
            honest.clone(),
            "it has 2000 entries; a source may have 1000",
        ),
        (
            "too many in the wide record",
            widened(&directory_alone(2000, u16::MAX, |_| u32::MAX), 2_000_000, 94_000),
            "it has 2000000 entries",
        ),
        (
            "a huge count in the wide record",
            widened(&honest, u64::MAX, 94_000),
            "it has 18446744073709551615 entries",
        ),
        (
            "fewer claimed than the bytes hold",
            directory_alone(200_000, 1, |size| size),
            "its directory has 9400000 bytes, which does not fit its 1 entries",
        ),
        (
            "more claimed than the bytes hold",
            directory_alone(10, 1000, |size| size),
            "which does not fit its 1000 entries",
        ),
        (
            "a size that is not that of the directory",
            directory_alone(1000, 1000, |size| size - 47),
            "its directory is not at its offset",
        ),
        (
            "a directory that is none",
            [vec![0; 47 * 10], directory_alone(0, 10, |_| 470)].concat(),
            "cannot read the archive",
        ),
        (
            "an archive behind other bytes",
            [b"#!/bin/sh\n".to_vec(), zip_of(&[("a", None, b"x")])].concat(),
            "nothing may precede or follow the archive",
        ),
        (
            "an archive before other bytes",
            [zip_of(&[("a", None, b"x")]), b"more".to_vec()].concat(),
            "the end of the ZIP archive is missing",
        ),
        (
            "a wide record somewhere else",
            [b"x".to_vec(), widened(&directory_alone(10, 10, |size| size), 10, 470)].concat(),
            "its ZIP64 end record is not at its offset",
        ),
    ];
    for (what, bytes, expected) in rows {
        let stage = Stage::new();
        let problem = stage.unpack("a.zip", &bytes, BOUNDS).expect_err(what).to_string();
        assert!(problem.contains(expected), "{what}: {problem}");
        stage.check();
    }
}

#[test]
fn a_name_that_stands_twice_in_a_zip_archive_is_refused() {
    let mut twice = zip_of(&[("aaaa", None, b"x"), ("aaab", None, b"y")]);
    for at in 0..twice.len() - 4 {
        if &twice[at..at + 4] == b"aaab" {
            twice[at..at + 4].copy_from_slice(b"aaaa");
        }
    }
    let stage = Stage::new();
    let problem = stage.unpack("a.zip", &twice, BOUNDS).unwrap_err().to_string();
    assert!(problem.contains("is in the archive twice"), "{problem}");
    stage.check();
}
