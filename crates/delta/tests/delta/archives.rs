//! Valid packages of every kind, and a catalog of hostile ones. The vectors consist of both.

use launchway_delta::PackageError;
use launchway_delta::archive::{Archive, ArchiveError};
use launchway_delta::file_list::{MAX_FILES, MAX_TOTAL};
use launchway_testing::raw_zip::{self, Item, archive, archive_with, deflated, extra, item, stored, wide_end};

use crate::{list, list_of};

/// A package and its name.
pub type Named = (&'static str, Vec<u8>);

fn content() -> Vec<u8> {
    b"let x = 1;\n".repeat(50)
}

fn good_items() -> [Item; 3] {
    [
        stored("index.html", b"<p>hello</p>"),
        deflated("js/app.js", &content()),
        stored("img/", b""),
    ]
}

/// Packages that contain the same two files.
pub fn good() -> Vec<Named> {
    let [html, js, folder] = good_items();
    let zip64_sizes = |head: &mut raw_zip::Head| {
        let sizes = [u64::from(head.unpacked), u64::from(head.packed)]
            .map(u64::to_le_bytes)
            .concat();
        (head.packed, head.unpacked, head.extra) = (u32::MAX, u32::MAX, extra(1, &sizes));
    };
    let wide = archive_with(&good_items(), |end| {
        let (size, start) = (u64::from(end.size), u64::from(end.start));
        end.before = wide_end(3, size, start, size + start);
        (end.count, end.count_here, end.size, end.start) = (u16::MAX, u16::MAX, u32::MAX, u32::MAX);
    });
    let unix = [
        html.clone().with(|item| item.attributes = 0o100_644 << 16),
        js.clone(),
        folder.clone().with(|item| item.attributes = 0o040_755 << 16 | 0x10),
    ];
    let streamed = |mark, wide| archive(&[html.clone(), js.clone().streamed(mark, wide), folder.clone()]);
    vec![
        ("plain", archive(&good_items())),
        ("another order", archive(&[folder.clone(), js.clone(), html.clone()])),
        ("without the folder", archive(&[html.clone(), js.clone()])),
        ("sizes behind the data", streamed(true, false)),
        ("sizes behind the data, no mark", streamed(false, false)),
        ("wide sizes behind the data", streamed(true, true)),
        ("wide sizes behind the data, no mark", streamed(false, true)),
        (
            "a comment",
            archive_with(&good_items(), |end| {
                (end.comment_length, end.rest) = (5, b"hello".to_vec())
            }),
        ),
        ("Unix modes", archive(&unix)),
        (
            "ZIP64 sizes",
            archive(&[html.clone().both(zip64_sizes), js.clone(), folder.clone()]),
        ),
        ("a ZIP64 end record", wide),
        (
            "a deflated folder",
            archive(&[html, js, item(b"img/", 8, b"", vec![3, 0])]),
        ),
    ]
}

/// Packages that no client installs.
pub fn hostile() -> Vec<Named> {
    [
        hostile_paths(),
        hostile_kinds(),
        hostile_headers(),
        hostile_data(),
        hostile_layouts(),
    ]
    .concat()
}

fn hostile_paths() -> Vec<Named> {
    let named = |name: &str| archive(&[stored("ok", b"x"), stored(name, b"x")]);
    let pair = |one: &str, other: &str| {
        let make = |name: &str| stored(name, if name.ends_with('/') { b"" } else { b"x" });
        archive(&[make(one), make("between"), make(other)])
    };
    vec![
        ("climbs", named("../evil")),
        ("climbs in the middle", named("a/../../evil")),
        ("climbs at the end", named("a/..")),
        ("absolute", named("/etc/passwd")),
        ("a drive letter", named("C:/evil")),
        ("a backslash", named("..\\evil")),
        ("an empty path", named("")),
        ("an empty part", named("a//b")),
        ("a dot", named("./a")),
        ("a NUL", named("a\0.png")),
        ("a line break", named("a\nb")),
        ("a C1 control character", named("a\u{85}b")),
        ("a part of 256 bytes", named(&"a".repeat(256))),
        (
            "a path of 513 bytes",
            named(&["a".repeat(200), "b".repeat(200), "c".repeat(111)].join("/")),
        ),
        ("not UTF-8", archive(&[item(b"a\xff", 0, b"x", b"x".to_vec())])),
        (
            "a second name in the directory",
            archive(&[stored("a", b"x").with(|item| item.central.extra = extra(0x7075, b"\x01crc.../b"))]),
        ),
        (
            "a second name in the header",
            archive(&[stored("a", b"x").with(|item| item.local.extra = extra(0x7075, b"\x01crc.../b"))]),
        ),
        ("the same path twice", pair("a/b", "a/b")),
        ("paths that differ by case", pair("a/B", "A/b")),
        ("paths that differ by Unicode form", pair("\u{e9}", "e\u{301}")),
        ("folders that differ by case", pair("Img/", "img/")),
        ("a file used as a folder", pair("a", "a/b/c")),
        ("a file used as a folder, by case", pair("a/b/c", "A")),
        ("a file and a folder", pair("a", "a/")),
    ]
}

fn hostile_kinds() -> Vec<Named> {
    let kind = |name: &str, mode: u32| {
        archive(&[
            stored("ok", b"x"),
            stored(name, b"").with(|item| item.attributes = mode << 16),
        ])
    };
    let flagged = |flags| archive(&[stored("a", b"x").both(|head| head.flags = flags)]);
    vec![
        ("a link", kind("a", 0o120_777)),
        ("a link that looks like a folder", kind("a/", 0o120_777)),
        ("a device", kind("a", 0o060_644)),
        ("a pipe", kind("a", 0o010_644)),
        ("a folder without a slash", kind("a", 0o040_755)),
        ("a file with a slash", kind("a/", 0o100_755)),
        (
            "a folder with content",
            archive(&[stored("ok", b"x"), stored("a/", b"x")]),
        ),
        ("encrypted", flagged(1)),
        ("strongly encrypted", flagged(1 << 6)),
        ("a masked header", flagged(1 << 13)),
        ("AES", archive(&[item(b"a", 99, b"x", b"x".to_vec())])),
        ("a patch", flagged(1 << 5)),
        (
            "on another disk",
            archive(&[stored("a", b"x").with(|item| item.disk = 1)]),
        ),
        ("method 12", archive(&[item(b"a", 12, b"x", b"x".to_vec())])),
        ("no file", archive(&[stored("a/", b"")])),
        ("no entry", archive(&[])),
    ]
}

fn hostile_headers() -> Vec<Named> {
    let local = |change: fn(&mut Item)| archive(&[stored("ok", b"y"), stored("a", b"x").with(change)]);
    vec![
        (
            "another name in the header",
            local(|item| item.local.name = b"b".to_vec()),
        ),
        ("another method in the header", local(|item| item.local.method = 8)),
        ("other flags in the header", local(|item| item.local.flags = 8)),
        ("another size in the header", local(|item| item.local.unpacked = 2)),
        ("another packed size in the header", local(|item| item.local.packed = 0)),
        ("another checksum in the header", local(|item| item.local.checksum ^= 1)),
        ("no header where the directory says", local(|item| item.start = Some(1))),
        ("a cut extra field", local(|item| item.central.extra = vec![1, 0, 9, 0])),
        (
            "a ZIP64 field that is missing",
            local(|item| item.central.unpacked = u32::MAX),
        ),
        (
            "a ZIP64 field twice",
            local(|item| item.central.extra = [extra(1, b""), extra(1, b"")].concat()),
        ),
    ]
}

fn hostile_data() -> Vec<Named> {
    let text = content();
    let packed = deflated("a", &text).data;
    let with = |data: Vec<u8>| archive(&[item(b"a", 8, &text, data)]);
    let sized = |change: fn(&mut raw_zip::Head)| archive(&[deflated("a", &content()).both(change)]);
    vec![
        ("not deflate", with(vec![0xff; 4])),
        ("deflate without its end", with(packed[..packed.len() - 1].to_vec())),
        ("bytes behind deflate's end", with([&packed[..], b"hidden"].concat())),
        ("deflate that is empty", with(Vec::new())),
        ("more content than it says", sized(|head| head.unpacked -= 1)),
        ("less content than it says", sized(|head| head.unpacked += 1)),
        ("a wrong checksum", sized(|head| head.checksum ^= 1)),
        (
            "stored with two sizes",
            archive(&[stored("a", b"xy").both(|head| head.unpacked = 1)]),
        ),
        (
            "a bomb that lies",
            archive(&[deflated("a", &vec![0; 1 << 20]).both(|head| head.unpacked = 1000)]),
        ),
        (
            "three gigabytes by its word",
            archive(&[deflated("a", b"x").both(|head| head.unpacked = 3 << 30)]),
        ),
        (
            "three gigabytes together",
            archive(&["a", "b", "c"].map(|name| deflated(name, b"x").both(|head| head.unpacked = 1 << 30))),
        ),
    ]
}

fn hostile_layouts() -> Vec<Named> {
    let whole = archive(&good_items());
    let [html, _, folder] = good_items();
    let renamed = html.clone().both(|head| head.name = b"b".to_vec());
    let changed = |change: fn(&mut raw_zip::End)| archive_with(&good_items(), change);
    vec![
        ("nothing", Vec::new()),
        ("text", b"hello".to_vec()),
        ("bytes after the end", [&whole[..], b"x"].concat()),
        ("bytes before the first entry", [b"MZ", &whole[..]].concat()),
        ("half", whole[..whole.len() / 2].to_vec()),
        ("without its last byte", whole[..whole.len() - 1].to_vec()),
        (
            "two entries in one place",
            archive(&[html.clone(), renamed.clone().with(|item| item.start = Some(0))]),
        ),
        (
            "an entry that overlaps the next",
            archive(&[html.clone().both(|head| head.packed += 1), folder.clone()]),
        ),
        (
            "bytes between entries",
            archive(&[
                html.clone().with(|item| item.after = b"hidden".to_vec()),
                folder.clone(),
            ]),
        ),
        (
            "an entry beyond the end",
            archive(&[html.clone().with(|item| item.start = Some(u32::MAX - 1))]),
        ),
        (
            "content up to an entry beyond the end",
            archive(&[
                html.clone()
                    .both(|head| (head.packed, head.unpacked) = (1 << 20, 1 << 20)),
                renamed.with(|item| item.start = Some(40 + (1 << 20))),
            ]),
        ),
        (
            "a hidden entry behind sizes",
            archive(&[
                html.streamed(true, false)
                    .with(|item| item.after.extend(b"a hidden entry of any size")),
                folder,
            ]),
        ),
        ("several disks", changed(|end| end.disk = 1)),
        (
            "more entries than the directory has",
            changed(|end| (end.count, end.count_here) = (4, 4)),
        ),
        (
            "fewer entries than the directory has",
            changed(|end| (end.count, end.count_here) = (2, 2)),
        ),
        ("a directory that is elsewhere", changed(|end| end.start += 1)),
        ("a comment longer than the file", changed(|end| end.comment_length = 1)),
        (
            "a ZIP64 end record that disagrees",
            changed(|end| {
                end.before = wide_end(
                    2,
                    u64::from(end.size),
                    u64::from(end.start),
                    u64::from(end.size) + u64::from(end.start),
                )
            }),
        ),
    ]
}

#[test]
fn a_list_does_not_depend_on_how_the_zip_is_written() {
    let expected = list(&[("index.html", b"<p>hello</p>"), ("js/app.js", &content())]).unwrap();
    for (name, bytes) in good() {
        assert_eq!(list_of(&bytes).unwrap(), expected, "{name}");
    }
}

#[test]
fn hostile_packages_are_refused() {
    for (name, bytes) in hostile() {
        let refused = list_of(&bytes);
        assert!(refused.is_err(), "{name}: {refused:?}");
        // That would be the fault of the disk, and a device would try again for ever.
        let unreadable = matches!(refused, Err(ArchiveError::Package(PackageError::Unreadable(_))));
        assert!(!unreadable, "{name}");
    }
}

#[test]
fn a_package_with_too_many_entries_is_refused() {
    let name = |index: usize| format!("{index}");
    let many: Vec<Item> = (0..=MAX_FILES).map(|index| stored(&name(index), b"")).collect();
    assert!(matches!(
        list_of(&archive(&many)),
        Err(ArchiveError::Package(PackageError::TooManyEntries { .. }))
    ));
    let most = list_of(&archive(&many[1..])).unwrap();
    assert_eq!(most.files().len(), MAX_FILES);
}

#[test]
fn sizes_are_refused_by_the_directory_alone() {
    let large = deflated("a", b"x").both(|head| head.unpacked = u32::try_from(MAX_TOTAL).unwrap() + 1);
    assert!(matches!(
        list_of(&archive(&[large])),
        Err(ArchiveError::Package(PackageError::TooLarge { .. }))
    ));
}

/// The server has checked that against a limit that its operator may raise.
#[test]
fn a_device_takes_packages_that_compress_very_well() {
    let zeros = vec![0; 3 << 20];
    let bytes = archive(&[deflated("a", &zeros)]);
    assert!(zeros.len() > 200 * bytes.len());
    assert_eq!(list_of(&bytes).unwrap(), list(&[("a", &zeros)]).unwrap());
}

#[test]
fn a_target_that_fails_is_not_the_packages_fault() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let bytes = archive(&good_items());
    let mut package = Archive::open(std::io::Cursor::new(bytes)).unwrap();
    assert!(matches!(package.unpack(0, &mut Full), Err(PackageError::Target(_))));
}

/// Ten thousand changes of one to four bytes: each is rejected, or leaves the content unchanged.
#[test]
fn broken_packages_neither_panic_nor_hold_other_files() {
    let whole = archive(&good_items());
    let expected = list_of(&whole).unwrap();
    let mut random = 1u64;
    let mut below = |bound: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % bound
    };
    for run in 0..10_000 {
        let mut bytes = whole.clone();
        for _ in 0..=below(4) {
            let place = below(bytes.len());
            bytes[place] = below(256) as u8;
        }
        if let Ok(found) = list_of(&bytes) {
            let same_content = found
                .files()
                .iter()
                .zip(expected.files())
                .all(|(one, other)| one.sha256 == other.sha256);
            assert!(same_content && found.files().len() == 2, "run {run}: {found:?}");
        }
    }
}
