//! Packing is deterministic, and rejects hostile directories.

use std::fs;
use std::io::Read;

use tempfile::{NamedTempFile, TempDir};
use zip::ZipArchive;

use super::*;
use crate::sealing::seal;

fn directory(files: &[(&str, &[u8])]) -> TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (name, bytes) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("it lies in the directory")).expect("space");
        fs::write(path, bytes).expect("space");
    }
    directory
}

fn packed(directory: &TempDir) -> NamedTempFile {
    let entries = walk(directory.path()).expect("a good directory");
    let file = NamedTempFile::new().expect("a temporary file");
    pack(&entries, file.reopen().expect("it is there"), None, &|_| ()).expect("space");
    file
}

#[test]
fn a_directory_gives_the_same_package_anywhere_and_anytime() {
    let files: [(&str, &[u8]); 4] = [("b/c.js", b"1"), ("a.html", b"22"), ("b.css", b"333"), ("B2", b"")];
    let one = directory(&files);
    let mut turned = files;
    turned.reverse();
    let other = directory(&turned);
    let old = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
    let file = File::options()
        .write(true)
        .open(other.path().join("a.html"))
        .expect("it is there");
    file.set_times(old).expect("it is ours");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(other.path().join("b.css"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    let sealed = seal(packed(&one).path(), &|_| ()).expect("it is there");
    assert_eq!(sealed, seal(packed(&other).path(), &|_| ()).expect("it is there"));
    // A change of this value affects every published package: intended only with a new release of the ZIP library.
    insta::assert_snapshot!(format!("{} {}", sealed.size, sealed.sha256), @"378 67177ee25efc743d7b8cf7c7a8d82f8c3b4d6b5e3b2d3a345daaef41d5274ff6");
}

#[test]
fn every_file_comes_out_as_it_went_in() {
    let large: Vec<u8> = (0..200_000_u32).map(|number| (number % 1021 % 251) as u8).collect();
    let directory = directory(&[
        ("index.html", b"<p>"),
        ("assets/ünïcode ☃.js", b"x"),
        ("assets/large.bin", &large),
    ]);
    let mut archive = ZipArchive::new(packed(&directory).reopen().expect("it is there")).expect("a ZIP");
    let names: Vec<String> = archive
        .file_names()
        .map(|name| name.expect("UTF-8").into_owned())
        .collect();
    assert_eq!(names, ["assets/large.bin", "assets/ünïcode ☃.js", "index.html"]);
    for name in names {
        let mut bytes = Vec::new();
        archive
            .by_name(&name)
            .expect("it is listed")
            .read_to_end(&mut bytes)
            .expect("good data");
        assert!(
            bytes == fs::read(directory.path().join(&name)).expect("it is there"),
            "{name}"
        );
    }
}

#[test]
fn what_file_managers_leave_behind_stays_behind() {
    let directory = directory(&[
        ("a", b"1"),
        (".DS_Store", b"1"),
        ("b/Thumbs.db", b"1"),
        (".well-known/x", b"1"),
    ]);
    let names: Vec<_> = walk(directory.path())
        .expect("good")
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    assert_eq!(names, [".well-known/x", "a"]);
}

#[test]
fn says_how_far_it_is() {
    let directory = directory(&[("a", b"123"), ("b", b"45")]);
    let entries = walk(directory.path()).expect("good");
    let progress = std::cell::RefCell::new(Vec::new());
    let file = tempfile::tempfile().expect("a temporary file");
    pack(&entries, file, None, &|done| progress.borrow_mut().push(done)).expect("space");
    assert_eq!(progress.into_inner(), [3, 5]);
}

#[test]
fn there_must_be_a_directory_with_files() {
    let empty = directory(&[]);
    fs::create_dir(empty.path().join("below")).expect("space");
    assert!(matches!(walk(empty.path()), Err(PackError::Empty(_))));
    assert!(matches!(
        walk(&empty.path().join("gone")),
        Err(PackError::NotADirectory(_))
    ));
    let file = directory(&[("a", b"1")]);
    assert!(matches!(walk(&file.path().join("a")), Err(PackError::NotADirectory(_))));
}

#[test]
fn a_repository_is_not_published() {
    let directory = directory(&[("index.html", b"1"), ("below/.git/config", b"1")]);
    assert!(matches!(walk(directory.path()), Err(PackError::Repository(path)) if path.ends_with("below/.git")));
}

#[cfg(unix)]
#[test]
fn links_are_refused_and_not_followed() {
    let directory = directory(&[("index.html", b"1")]);
    for target in ["/etc/hostname", "index.html", "..", "nowhere"] {
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(target, &link).expect("space");
        assert!(
            matches!(walk(directory.path()), Err(PackError::Link(path)) if path == link),
            "{target}"
        );
        fs::remove_file(link).expect("it is ours");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_the_same_everywhere_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let names: [&[u8]; 4] = [b"not-utf8-\xff", b"back\\slash", b"new\nline", b"escape\x1b"];
    for name in names {
        let directory = directory(&[("index.html", b"1")]);
        fs::write(directory.path().join(std::ffi::OsStr::from_bytes(name)), b"1").expect("space");
        assert!(
            matches!(walk(directory.path()), Err(PackError::Name { .. })),
            "{name:?}"
        );
    }
    let directory = directory(&[("A.js", b"1"), ("a.js", b"1")]);
    let failure = walk(directory.path()).expect_err("the same");
    assert_eq!(failure.to_string(), "A.js and a.js differ only by letter case");
}

#[cfg(unix)]
#[test]
fn a_socket_is_refused() {
    let directory = directory(&[("index.html", b"1")]);
    let _socket = std::os::unix::net::UnixListener::bind(directory.path().join("socket")).expect("space");
    assert!(matches!(walk(directory.path()), Err(PackError::Special(_))));
}

#[test]
fn packing_stops_where_the_server_takes_no_more() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    // Bytes that no compression makes smaller.
    let mut noise = vec![0; 4 << 20];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut noise).expect("random bytes");
    std::fs::write(directory.path().join("video.bin"), &noise).expect("space");
    let entries = walk(directory.path()).expect("a directory");
    for (limit, is_too_large) in [(1 << 20, true), (8 << 20, false)] {
        let file = tempfile::tempfile().expect("space");
        let read = std::cell::Cell::new(0);
        let packed = pack(&entries, file, Some(limit), &|done| read.set(done));
        assert_eq!(
            matches!(packed, Err(PackError::TooLarge(told)) if told == limit),
            is_too_large
        );
        assert!(!is_too_large || read.get() < 3 << 20, "it stops soon: {}", read.get());
    }
}
