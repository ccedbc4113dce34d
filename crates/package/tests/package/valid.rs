//! Valid archives of every kind.

use std::io::{Cursor, Write};

use launchway_package::{Archive, Inspected, PackageError};
use launchway_testing::raw_zip::{archive, archive_with, extra, item, wide_end};
use zip::write::SimpleFileOptions;

use crate::{LIMITS, good, inspected};

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
