//! What must not be unpacked, entry by entry.

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
        ("climbing", vec![file("../secret")], "climbs out of the source"),
        (
            "climbing later",
            vec![file("a/../../secret")],
            "climbs out of the source",
        ),
        ("climbing at the end", vec![file("a/..")], "climbs out of the source"),
        (
            "climbing directory",
            vec![made(EntryType::Directory, "../x", "", b"")],
            "climbs out of the source",
        ),
        ("backslashes", vec![file("..\\secret")], "has a backslash in its name"),
        ("no name", vec![file("")], "has no name"),
        ("dot as a file", vec![file(".")], "has no name"),
        (
            "link to an absolute path",
            vec![link("a", "/etc/passwd")],
            "is a link to an absolute path",
        ),
        ("link out", vec![link("a", "../secret")], "is a link that leads out"),
        (
            "link out later",
            vec![link("d/a", "b/../../../secret")],
            "is a link that leads out",
        ),
        ("link to nowhere", vec![link("a", "")], "is a link to nowhere"),
        (
            "write through a link",
            vec![link("a", "b"), file("a/x")],
            "lies below what is no directory",
        ),
        (
            "write through a link to a directory",
            vec![made(EntryType::Directory, "d", "", b""), link("a", "d"), file("a/x")],
            "lies below what is no directory",
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
            "lies below what is no directory",
        ),
        (
            "directory over a link",
            vec![link("a", "d"), made(EntryType::Directory, "a", "", b"")],
            "lies below what is no directory",
        ),
        (
            "link out through another",
            vec![
                made(EntryType::Directory, "d/e/f", "", b""),
                link("d/e/f/s", "../../.."),
                link("t", "d/e/f/s/../x"),
            ],
            "leads out of the source",
        ),
        ("link to itself", vec![link("a", "a")], "leads to itself"),
        (
            "links in a circle",
            vec![link("a", "b"), link("b", "a")],
            "leads to itself",
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
            "lies below what is no directory",
        ),
        (
            "second name of nothing",
            vec![made(EntryType::Link, "a", "gone", b"")],
            "is a second name of what is no file",
        ),
        (
            "second name of a link",
            vec![link("l", "x"), made(EntryType::Link, "a", "l", b"")],
            "is a second name of what is no file",
        ),
        (
            "second name outside",
            vec![made(EntryType::Link, "a", "../secret", b"")],
            "climbs out of the source",
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
            "is a second name of what is no file",
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
            "unknown kind",
            vec![made(EntryType::new(b'V'), "a", "", b"")],
            "is of an unknown kind",
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
            "with a size of its own",
        ),
        (
            "climbing by a header",
            vec![pax("path=../../secr"), file("a")],
            "climbs out of the source",
        ),
        (
            "link out by a header",
            vec![pax("linkpath=../sec"), link("a", "b")],
            "is a link that leads out",
        ),
        (
            "climbing by a long name",
            vec![made(EntryType::GNULongName, "L", "", b"../secret\0"), file("a")],
            "climbs out of the source",
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
        ("nothing", vec![], "there is nothing in it"),
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
    // The kind of the entry in its Unix mode, in the central directory.
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
        ("climbing", renamed, "climbs out of the source"),
        ("backslashes", zip_of(&[("..\\x", None, b"x")]), "has a backslash"),
        ("link out", symlinked("a", "../secret"), "is a link that leads out"),
        ("absolute link", symlinked("a", "/etc/passwd"), "absolute path"),
        ("through a link", symlinked("a", "b"), "lies below what is no directory"),
        ("device", device, "is a device or pipe"),
        (
            "file below a file",
            zip_of(&[("a", None, b"x"), ("a/b", None, b"y")]),
            "lies below what is no directory",
        ),
        ("no archive", b"PK nothing".to_vec(), "it is no readable archive"),
    ];
    for (what, bytes, expected) in rows {
        let stage = Stage::new();
        let problem = stage.unpack("a.zip", &bytes, BOUNDS).expect_err(what).to_string();
        assert!(problem.contains(expected), "{what}: {problem}");
        stage.check();
    }
}
