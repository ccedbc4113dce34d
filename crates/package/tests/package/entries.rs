//! Entries that some devices would not unpack, or would unpack differently.

use launchway_testing::raw_zip::{self, archive, deflated, extra, item, stored};

use crate::{inspected, refused};

#[test]
fn paths_that_some_device_would_misread_are_refused() {
    let named = |name: &str| vec![stored("ok", b"x"), stored(name, b"x")];
    refused(&named("a/../../b"), "The entry `a/../../b` is outside the package");
    refused(&named("/etc/passwd"), "The entry `/etc/passwd` has an absolute path");
    refused(&named("..\\b"), "The entry `..\\b` has a backslash in its path");
    refused(&named("C:/b"), "The entry `C:/b` starts with a drive letter");
    refused(
        &named("a\0b\n"),
        "The entry `a\\0b\\n` has control characters in its path",
    );
    refused(
        &named("a//b"),
        "The entry `a//b` has an empty part or a `.` in its path",
    );
    refused(&named(""), "The entry `` has no name");
    let long = "x".repeat(65);
    let text = format!("The entry `{long}` has a path longer than 64 bytes, or a part of it is longer than 255");
    refused(&named(&long), &text);
    refused(
        &[item(b"a\xff", 0, b"x", b"x".to_vec())],
        "The entry `a\u{fffd}` has a name that is not UTF-8",
    );
    let second = stored("a", b"x").with(|item| item.central.extra = extra(0x7075, b"\x01crc.../b"));
    refused(
        &[second],
        "The entry `a` has a different name in its own header than in the directory",
    );
    let second = stored("a", b"x").with(|item| item.local.extra = extra(0x7075, b"\x01crc.../b"));
    refused(
        &[second],
        "The entry `a` has a different name in its own header than in the directory",
    );
    let broken = stored("a", b"x").with(|item| item.central.extra = extra(0x7075, b"\x01"));
    refused(
        &[broken],
        "The entry `a` has a different name in its own header than in the directory",
    );
}

#[test]
fn paths_that_share_a_place_on_some_device_are_refused() {
    let pair = |one: &str, other: &str| {
        let make = |name: &str| stored(name, if name.ends_with('/') { b"" } else { b"x" });
        [make(one), make("between"), make(other)]
    };
    refused(&pair("a/b", "a/b"), "The entry `a/b` is in the package twice");
    refused(&pair("a/", "a/"), "The entry `a/` is in the package twice");
    let same = "on devices that ignore letter case and Unicode forms";
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
    let folder_needed = "is a file, but other entries use it as a folder";
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
fn links_devices_and_ambiguous_folders_are_refused() {
    let kind = |name: &str, mode: u32| [stored(name, b"").with(|item| item.attributes = mode << 16)];
    refused(&kind("a", 0o120_777), "The entry `a` is a symbolic link");
    refused(&kind("a/", 0o120_777), "The entry `a/` is a symbolic link");
    for device in [0o060_644, 0o020_644, 0o010_644, 0o140_644] {
        refused(&kind("a", device), "The entry `a` is neither a file nor a folder");
    }
    let both = "is a folder by its name or by its attributes, but not by both";
    refused(&kind("a", 0o040_755), &format!("The entry `a` {both}"));
    refused(&kind("a/", 0o100_755), &format!("The entry `a/` {both}"));
    refused(
        &[stored("ok", b"x"), stored("a/", b"x")],
        "The entry `a/` is a folder with content",
    );
}

#[test]
fn entries_that_not_every_reader_unpacks_are_refused() {
    let flagged = |flags| [stored("a", b"x").both(|head| head.flags = flags)];
    for encrypted in [1, 1 << 6, 1 << 13] {
        refused(&flagged(encrypted), "The entry `a` is encrypted");
    }
    refused(&flagged(1 << 5), "The entry `a` requires another file");
    refused(
        &[stored("a", b"x").with(|item| item.disk = 1)],
        "The entry `a` requires another file",
    );
    refused(&[item(b"a", 99, b"x", b"x".to_vec())], "The entry `a` is encrypted");
    let method = "is compressed with method 93; only stored and deflated entries are supported";
    refused(
        &[item(b"a", 93, b"x", b"x".to_vec())],
        &format!("The entry `a` {method}"),
    );
}

#[test]
fn headers_that_disagree_with_the_directory_are_refused() {
    let lie = |change: fn(&mut raw_zip::Head)| [stored("a", b"hello").with(|item| change(&mut item.local))];
    let text = |what: &str| format!("The entry `a` has a different {what} in its own header than in the directory");
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
        "The entry `a` is followed by bytes that belong to no entry",
    );
    let missing = deflated("a", b"hello")
        .streamed(true, false)
        .with(|item| item.after.clear());
    refused(&[missing], "The entry `a` is not followed by its sizes");
    refused(
        &[stored("a", b"x").both(|head| head.extra = vec![1, 0, 9, 0, 0])],
        "The entry `a` has damaged extra fields",
    );
    let twice = [extra(1, &[0; 8]), extra(1, &[0; 8])].concat();
    refused(
        &[stored("a", b"x").both(|head| head.extra = twice.clone())],
        "The entry `a` has damaged extra fields",
    );
    refused(
        &[stored("a", b"x").both(|head| head.packed = u32::MAX)],
        "The entry `a` has damaged extra fields",
    );
}
