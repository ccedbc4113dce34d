//! Valid archives of every kind, and a table of hostile ones.

use std::io::{Cursor, Seek, Write};

use launchway_package::{Archive, Inspected, Limits, PackageError, inspect};
use launchway_testing::raw_zip::{self, Item, archive, archive_with, deflated, extra, item, stored, wide_end};
use zip::write::SimpleFileOptions;

const LIMITS: Limits = Limits {
    max_files: 5,
    max_unpacked: 4 << 20,
    max_ratio: 200,
    max_path: 64,
};

fn inspected(bytes: &[u8]) -> Result<Inspected, String> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let result = inspect(&file, &LIMITS).map_err(|error| error.to_string());
    assert_eq!(
        file.stream_position().unwrap(),
        bytes.len() as u64,
        "the position is not moved"
    );
    result
}

fn good() -> Vec<Item> {
    vec![
        stored("index.html", b"<p>hello</p>"),
        deflated("js/app.js", &b"let x = 1;\n".repeat(500)),
        stored("img/", b""),
    ]
}

#[test]
fn good_archives_are_measured() {
    let expected = Ok(Inspected {
        file_count: 2,
        unpacked_size: 12 + 5500,
    });
    let [html, js, folder] = &good()[..] else {
        panic!("three entries")
    };
    let cases = [
        ("plain", archive(&good())),
        (
            "streamed",
            archive(&[html.clone(), js.clone().streamed(true, false), folder.clone()]),
        ),
        (
            "streamed, no mark",
            archive(&[html.clone(), js.clone().streamed(false, false), folder.clone()]),
        ),
        (
            "streamed, wide",
            archive(&[html.clone(), js.clone().streamed(true, true), folder.clone()]),
        ),
        (
            "streamed, wide, no mark",
            archive(&[html.clone().streamed(false, true), js.clone(), folder.clone()]),
        ),
        (
            "a comment",
            archive_with(&good(), |end| (end.comment_length, end.rest) = (5, b"hello".to_vec())),
        ),
        (
            "Unix modes",
            archive(&[
                html.clone().with(|item| item.attributes = 0o100_644 << 16),
                js.clone(),
                folder.clone().with(|item| item.attributes = 0o040_755 << 16 | 0x10),
            ]),
        ),
        (
            "times in extra fields, padding",
            archive(&[
                html.clone().both(|head| head.extra = extra(0x5455, b"\x01abcd")),
                js.clone().with(|item| item.local.extra = vec![0; 3]),
                folder.clone(),
            ]),
        ),
        (
            "wide sizes",
            archive(&[
                html.clone().both(|head| {
                    let sizes = [u64::from(head.unpacked), u64::from(head.packed)]
                        .map(u64::to_le_bytes)
                        .concat();
                    (head.packed, head.unpacked, head.extra) = (u32::MAX, u32::MAX, extra(1, &sizes));
                }),
                js.clone(),
                folder.clone(),
            ]),
        ),
        (
            "wide end",
            archive_with(&good(), |end| {
                let (size, start) = (u64::from(end.size), u64::from(end.start));
                end.before = wide_end(3, size, start, size + start);
                (end.count, end.count_here, end.size, end.start) = (u16::MAX, u16::MAX, u32::MAX, u32::MAX);
            }),
        ),
        (
            "a deflated folder",
            archive(&[
                html.clone(),
                js.clone(),
                item(b"img/", 8, b"", vec![3, 0]).streamed(true, false),
            ]),
        ),
        (
            "the same name twice, spelled in one way",
            archive(&[
                html.clone()
                    .both(|head| head.extra = extra(0x7075, b"\x01crc.index.html")),
                js.clone(),
                folder.clone(),
            ]),
        ),
    ];
    for (label, bytes) in cases {
        assert_eq!(inspected(&bytes), expected, "{label}");
    }
}

#[test]
fn archives_of_the_usual_writer_are_good() {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    writer.add_directory("www", options).unwrap();
    writer.start_file("www/\u{fc}.txt", options).unwrap();
    writer.write_all(b"hello").unwrap();
    writer.start_file("www/large", options.large_file(true)).unwrap();
    writer.write_all(&[7; 100_000]).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    assert_eq!(
        inspected(&bytes),
        Ok(Inspected {
            file_count: 2,
            unpacked_size: 100_005
        })
    );
}

fn refused(items: &[Item], text: &str) {
    refused_bytes(&archive(items), text);
}

fn refused_bytes(bytes: &[u8], text: &str) {
    assert_eq!(inspected(bytes), Err(text.to_owned()));
}

#[test]
fn names() {
    let named = |name: &str| vec![stored("ok", b"x"), stored(name, b"x")];
    refused(&named("a/../../b"), "The entry `a/../../b` climbs out of the package.");
    refused(&named("/etc/passwd"), "The entry `/etc/passwd` has an absolute path.");
    refused(&named("..\\b"), "The entry `..\\b` has a backslash in its path.");
    refused(&named("C:/b"), "The entry `C:/b` starts with a drive letter.");
    refused(
        &named("a\0b\n"),
        "The entry `a\\0b\\n` has control characters in its path.",
    );
    refused(
        &named("a//b"),
        "The entry `a//b` has an empty part or a `.` in its path.",
    );
    refused(&named(""), "The entry `` has no name.");
    let long = "x".repeat(65);
    let text = format!("The entry `{long}` has a path longer than 64 bytes, or a part of it is longer than 255.");
    refused(&named(&long), &text);
    refused(
        &[item(b"a\xff", 0, b"x", b"x".to_vec())],
        "The entry `a\u{fffd}` has a name that is not UTF-8.",
    );
    let second = stored("a", b"x").with(|item| item.central.extra = extra(0x7075, b"\x01crc.../b"));
    refused(
        &[second],
        "The entry `a` has another name in its own header than in the directory.",
    );
    let second = stored("a", b"x").with(|item| item.local.extra = extra(0x7075, b"\x01crc.../b"));
    refused(
        &[second],
        "The entry `a` has another name in its own header than in the directory.",
    );
    let broken = stored("a", b"x").with(|item| item.central.extra = extra(0x7075, b"\x01"));
    refused(
        &[broken],
        "The entry `a` has another name in its own header than in the directory.",
    );
}

#[test]
fn collisions() {
    let pair = |one: &str, other: &str| {
        let make = |name: &str| stored(name, if name.ends_with('/') { b"" } else { b"x" });
        [make(one), make("between"), make(other)]
    };
    refused(&pair("a/b", "a/b"), "The entry `a/b` comes twice.");
    refused(&pair("a/", "a/"), "The entry `a/` comes twice.");
    let same = "on devices that ignore letter case and Unicode forms.";
    refused(
        &pair("a/B", "A/b"),
        &format!("The entry `A/b` has the same name as `a/B` {same}"),
    );
    refused(
        &pair("Img/", "img/"),
        &format!("The entry `img/` has the same name as `Img/` {same}"),
    );
    refused(
        &pair("\u{e9}", "e\u{301}"),
        &format!("The entry `e\u{301}` has the same name as `\u{e9}` {same}").replace("e\u{301}", "e\\u{301}"),
    );
    let folder_needed = "is a file, but other entries need a folder there.";
    refused(&pair("a", "a/b/c"), &format!("The entry `a` {folder_needed}"));
    refused(&pair("a/b/c", "A"), &format!("The entry `A` {folder_needed}"));
    refused(&pair("a", "a/"), &format!("The entry `a` {folder_needed}"));
    let near = [
        stored("a", b"x"),
        stored("a.b", b"x"),
        stored("a-b/c", b"x"),
        stored("ab", b"x"),
    ];
    assert!(inspected(&archive(&near)).is_ok());
}

#[test]
fn kinds() {
    let kind = |name: &str, mode: u32| [stored(name, b"").with(|item| item.attributes = mode << 16)];
    refused(&kind("a", 0o120_777), "The entry `a` is a symbolic link.");
    refused(&kind("a/", 0o120_777), "The entry `a/` is a symbolic link.");
    for device in [0o060_644, 0o020_644, 0o010_644, 0o140_644] {
        refused(&kind("a", device), "The entry `a` is neither a file nor a folder.");
    }
    let both = "is a folder by its name or by its attributes, but not by both.";
    refused(&kind("a", 0o040_755), &format!("The entry `a` {both}"));
    refused(&kind("a/", 0o100_755), &format!("The entry `a/` {both}"));
    refused(
        &[stored("ok", b"x"), stored("a/", b"x")],
        "The entry `a/` is a folder with content.",
    );
}

#[test]
fn packing() {
    let flagged = |flags| [stored("a", b"x").both(|head| head.flags = flags)];
    for encrypted in [1, 1 << 6, 1 << 13] {
        refused(&flagged(encrypted), "The entry `a` is encrypted.");
    }
    refused(&flagged(1 << 5), "The entry `a` needs another file to be unpacked.");
    refused(
        &[stored("a", b"x").with(|item| item.disk = 1)],
        "The entry `a` needs another file to be unpacked.",
    );
    refused(&[item(b"a", 99, b"x", b"x".to_vec())], "The entry `a` is encrypted.");
    let method = "is packed by method 93; only stored and deflated entries can be unpacked.";
    refused(
        &[item(b"a", 93, b"x", b"x".to_vec())],
        &format!("The entry `a` {method}"),
    );
}

#[test]
fn headers_that_disagree() {
    let lie = |change: fn(&mut raw_zip::Head)| [stored("a", b"hello").with(|item| change(&mut item.local))];
    let text = |what: &str| format!("The entry `a` has another {what} in its own header than in the directory.");
    refused(&lie(|head| head.name = b"b".to_vec()), &text("name"));
    refused(&lie(|head| head.name = b"../a".to_vec()), &text("name"));
    refused(&lie(|head| head.method = 8), &text("method"));
    for flags in [1, 8, 1 << 11] {
        refused(
            &[stored("a", b"hello").with(|item| item.local.flags = flags)],
            &text("set of flags"),
        );
    }
    refused(&lie(|head| head.packed = 4), &text("size or checksum"));
    refused(&lie(|head| head.unpacked = 6), &text("size or checksum"));
    refused(&lie(|head| head.checksum = 6), &text("size or checksum"));
    refused(&lie(|head| head.packed = 0), &text("size or checksum"));
    let descriptor = |place: usize| {
        [deflated("a", b"hello")
            .streamed(true, false)
            .with(|item| item.after[place] ^= 1)]
    };
    for place in [4, 8, 12] {
        refused(&descriptor(place), &text("size or checksum"));
    }
    refused(
        &descriptor(0),
        "The entry `a` is followed by bytes that belong to no entry.",
    );
    let missing = deflated("a", b"hello")
        .streamed(true, false)
        .with(|item| item.after.clear());
    refused(
        &[missing],
        "The entry `a` lacks the sizes that have to follow its bytes.",
    );
    refused(
        &[stored("a", b"x").both(|head| head.extra = vec![1, 0, 9, 0, 0])],
        "The entry `a` has damaged extra fields.",
    );
    let twice = [extra(1, &[0; 8]), extra(1, &[0; 8])].concat();
    refused(
        &[stored("a", b"x").both(|head| head.extra = twice.clone())],
        "The entry `a` has damaged extra fields.",
    );
    refused(
        &[stored("a", b"x").both(|head| head.packed = u32::MAX)],
        "The entry `a` has damaged extra fields.",
    );
}

#[test]
fn contents() {
    let text = b"hello hello hello hello";
    let lie = |change: fn(&mut raw_zip::Head)| [deflated("a", text).both(change)];
    refused(
        &lie(|head| head.checksum ^= 1),
        "The entry `a` has another checksum than it says.",
    );
    refused(
        &lie(|head| head.unpacked -= 1),
        "The entry `a` does not have the size that it says.",
    );
    refused(
        &lie(|head| head.unpacked += 1),
        "The entry `a` does not have the size that it says.",
    );
    let stored_lie = stored("a", b"hello").both(|head| head.unpacked = 6);
    refused(&[stored_lie], "The entry `a` does not have the size that it says.");
    let damaged = "The entry `a` cannot be unpacked, its bytes are damaged.";
    refused(&[item(b"a", 8, b"hello", b"\xff\xff\xff\xff".to_vec())], damaged);
    let good = deflated("a", text).data;
    refused(&[item(b"a", 8, text, good[..good.len() - 1].to_vec())], damaged);
    refused(&[item(b"a", 8, text, [&good[..], b"hidden"].concat())], damaged);
    refused(&[item(b"a", 8, b"", Vec::new())], damaged);
}

#[test]
fn bombs() {
    let zeros = vec![0; 3 << 20];
    refused(
        &[deflated("a", &zeros)],
        "The entry `a` unpacks to more than 200 times its size.",
    );
    let small = vec![0; 1 << 20];
    assert_eq!(
        inspected(&archive(&[deflated("a", &small)])).map(|found| found.unpacked_size),
        Ok(1 << 20)
    );
    let three = ["a", "b", "c"].map(|name| deflated(name, &small));
    refused(&three, "The package unpacks to more than 200 times its size.");
    let limit = "The package unpacks to more than 4194304 bytes, which is the most that is allowed.";
    refused(&["a", "b"].map(|name| deflated(name, &zeros)), limit);
    let liar = deflated("a", &zeros).both(|head| head.unpacked = 1000);
    refused(&[liar], "The entry `a` does not have the size that it says.");
    let many = ["a", "b", "c", "d", "e", "f"].map(|name| stored(name, b"x"));
    refused(&many, "The package has 6 entries; at most 5 are allowed.");
}

#[test]
fn layout() {
    let [html, js, folder] = &good()[..] else {
        panic!("three entries")
    };
    refused_bytes(b"", "The package is not a ZIP archive, or its end is missing.");
    refused_bytes(b"hello", "The package is not a ZIP archive, or its end is missing.");
    refused(&[], "The package holds no file.");
    refused(&[stored("a/", b"")], "The package holds no file.");
    let whole = archive(&good());
    refused_bytes(
        &[&whole[..], b"x"].concat(),
        "There are bytes behind the end of the ZIP archive.",
    );
    refused_bytes(
        &[b"MZ", &whole[..]].concat(),
        "There are bytes before the first entry of the ZIP archive.",
    );
    let shifted = archive(&[html.clone().with(|item| item.start = Some(1))]);
    refused_bytes(&shifted, "There are bytes before the first entry of the ZIP archive.");
    for cut in 1..whole.len() {
        assert!(inspected(&whole[..cut]).is_err(), "cut to {cut}");
    }
    let overlaps = "overlaps another entry or the directory.";
    refused(
        &[
            html.clone(),
            html.clone()
                .both(|head| head.name = b"b".to_vec())
                .with(|item| item.start = Some(0)),
        ],
        &format!("The entry `index.html` {overlaps}"),
    );
    refused(
        &[html.clone().both(|head| head.packed += 1)],
        &format!("The entry `index.html` {overlaps}"),
    );
    refused(
        &[
            js.clone().with(|item| item.start = Some(0)),
            js.clone()
                .both(|head| head.name = b"b".to_vec())
                .with(|item| item.start = Some(10)),
        ],
        &format!("The entry `js/app.js` {overlaps}"),
    );
    let beyond = html
        .clone()
        .both(|head| head.name = b"b".to_vec())
        .with(|item| item.start = Some(u32::MAX - 1));
    refused(
        &[html.clone(), beyond],
        "The entry `index.html` is followed by bytes that belong to no entry.",
    );
    let hidden = html.clone().with(|item| item.after = b"hidden".to_vec());
    let stray = "The entry `index.html` is followed by bytes that belong to no entry.";
    refused(&[hidden.clone(), folder.clone()], stray);
    refused(&[hidden], stray);
    let hidden = html
        .clone()
        .streamed(true, false)
        .with(|item| item.after.extend(b"a hidden entry of any size"));
    refused(&[hidden], stray);
    let quine = [html.clone(), folder.clone().with(|item| item.start = Some(3))];
    refused(&quine, &format!("The entry `index.html` {overlaps}"));
}

#[test]
fn directories() {
    let directory = |what: &str| format!("The directory of the ZIP archive is damaged: {what}.");
    let changed = |change: fn(&mut raw_zip::End)| archive_with(&good(), change);
    refused_bytes(
        &changed(|end| end.disk = 1),
        &directory("it is only one part of several files"),
    );
    refused_bytes(
        &changed(|end| end.count_here = 2),
        &directory("it is only one part of several files"),
    );
    refused_bytes(
        &changed(|end| (end.count, end.count_here) = (4, 4)),
        &directory("it has fewer bytes than its entries"),
    );
    refused_bytes(
        &changed(|end| (end.count, end.count_here) = (2, 2)),
        &directory("it has more bytes than its entries"),
    );
    refused_bytes(&changed(|end| end.start += 1), &directory("it is not where it says"));
    refused_bytes(
        &changed(|end| (end.start, end.size) = (end.start + 1, end.size - 1)),
        &directory("an entry of it does not start as one"),
    );
    refused_bytes(
        &changed(|end| end.comment_length = 1),
        "The package is not a ZIP archive, or its end is missing.",
    );
    let fits = directory("its wide end record does not fit");
    let wide = |change: fn(&mut Vec<u8>)| {
        archive_with(&good(), |end| {
            let (size, start) = (u64::from(end.size), u64::from(end.start));
            end.before = wide_end(3, size, start, size + start);
            change(&mut end.before);
        })
    };
    assert!(inspected(&wide(|_| ())).is_ok());
    for place in [0, 4, 16, 20, 24, 32, 40, 48, 60, 64, 73] {
        let bytes = wide(|_| ());
        let at = bytes.len() - 22 - 76 + place;
        let changed = [&bytes[..at], &[bytes[at] ^ 2], &bytes[at + 1..]].concat();
        refused_bytes(&changed, &fits);
    }
    let no_locator = wide(|before| before.truncate(56));
    refused_bytes(
        &no_locator,
        "There are bytes before the first entry of the ZIP archive.",
    );
}

#[test]
fn an_entry_is_unpacked_into_its_target() {
    let bytes = archive(&good());
    let mut package = Archive::open(Cursor::new(bytes), &LIMITS).unwrap();
    let paths: Vec<_> = package
        .entries()
        .iter()
        .map(|entry| (entry.path(), entry.size()))
        .collect();
    assert_eq!(paths, [("index.html", 12), ("js/app.js", 5500), ("img", 0)]);
    let mut unpacked = Vec::new();
    package.unpack(1, &mut unpacked).unwrap();
    assert_eq!(unpacked, b"let x = 1;\n".repeat(500));
    assert!(matches!(
        package.unpack(0, &mut &mut [0; 5][..]),
        Err(PackageError::Target(_))
    ));
}
