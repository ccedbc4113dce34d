//! The form of file lists.

use std::collections::BTreeMap;

use launchway_delta::file_list::{MAX_CANONICAL, MAX_FILES, MAX_PATH, MAX_TOTAL};
use launchway_delta::{Digest, FileList, FileListError, ListedFile};
use proptest::prelude::*;

use launchway_testing::raw_zip::{archive, deflated, stored};

use crate::list;

fn sized(path: String, size: u64) -> ListedFile {
    ListedFile {
        path,
        size,
        sha256: Digest::of(b""),
    }
}

#[test]
fn the_canonical_bytes_are_those_of_the_reference() {
    let list = list(&[("js/a.js", b"1"), ("index.html", b"")]).unwrap();
    let text = concat!(
        r#"{"alg":"lwfl-1","files":["#,
        r#"{"path":"index.html","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0},"#,
        r#"{"path":"js/a.js","sha256":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b","size":1}]}"#
    );
    assert_eq!(String::from_utf8(list.canonical()).unwrap(), text);
    assert_eq!(list.manifest(), Digest::of(text.as_bytes()));
}

#[test]
fn no_list_is_larger_than_its_limits() {
    let path = |index: usize| format!("{}/{index:05}", "\"".repeat(20));
    let file = |index| sized(path(index), MAX_TOTAL / MAX_FILES as u64);
    let most = FileList::new((0..MAX_FILES).map(file).collect()).unwrap();
    let bytes = most.canonical();
    let around_path = bytes.len() / MAX_FILES - path(0).len();
    assert!(
        MAX_FILES * (2 * MAX_PATH + around_path + 16) <= MAX_CANONICAL,
        "the longest paths, all escaped, fit"
    );
    assert_eq!(FileList::parse(&bytes).unwrap(), most);
    let more = FileList::new((0..=MAX_FILES).map(file).collect());
    assert_eq!(more, Err(FileListError::TooManyFiles));
    let large = FileList::new(vec![sized("a".to_owned(), MAX_TOTAL), sized("b".to_owned(), 1)]);
    assert_eq!(large, Err(FileListError::TooLarge));
    let wraps = FileList::new(vec![sized("a".to_owned(), u64::MAX), sized("b".to_owned(), 1)]);
    assert_eq!(wraps, Err(FileListError::TooLarge));
}

#[test]
fn a_file_is_found_by_its_path() {
    let list = list(&[("b", b"2"), ("a", b"1"), ("c/d", b"3")]).unwrap();
    assert_eq!(list.find("c/d").unwrap().sha256, Digest::of(b"3"));
    assert_eq!(list.find("c"), None);
}

/// Paths from a few pieces, so that collisions, quotes and both halves of the Unicode order occur.
fn paths() -> impl Strategy<Value = Vec<String>> {
    let piece = prop::sample::select(vec![
        "a",
        "A",
        "b",
        "é",
        "\u{ff61}",
        "\u{1f600}",
        "\"",
        ".",
        "..",
        "",
        "a b",
    ]);
    let path = prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.join("/"));
    prop::collection::vec(path, 1..8)
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_identically(paths in paths()) {
        let made = FileList::new(paths.iter().map(|path| sized(path.clone(), path.len() as u64)).collect());
        if let Ok(list) = made {
            let bytes = list.canonical();
            prop_assert_eq!(FileList::parse(&bytes).unwrap(), list.clone());
            // The general JSON parser reads the same from the bytes.
            let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            let first = list.files().first().map(|file| file.path.as_str());
            prop_assert_eq!(value["files"][0]["path"].as_str(), first);
        }
    }

    #[test]
    fn whatever_parses_is_canonical(at in 0usize..400, byte: u8, insert: bool) {
        let mut bytes = list(&[("a", b"1"), ("b\"c", b"2"), ("é", b"3")]).unwrap().canonical();
        let at = at % bytes.len();
        if insert { bytes.insert(at, byte) } else { bytes[at] = byte }
        if let Ok(list) = FileList::parse(&bytes) {
            prop_assert_eq!(list.canonical(), bytes);
        }
    }

    #[test]
    fn a_package_and_its_files_make_the_same_list(contents in prop::collection::btree_map("[a-z]{1,3}(/[0-9]{1,2}){0,1}", prop::collection::vec(any::<u8>(), 0..300), 1..6)) {
        let contents: BTreeMap<String, Vec<u8>> = contents;
        let files: Vec<(&str, &[u8])> = contents.iter().map(|(path, bytes)| (path.as_str(), &bytes[..])).collect();
        let items: Vec<_> = files.iter().rev().enumerate().map(|(index, (path, bytes))| {
            if index % 2 == 0 { stored(path, bytes) } else { deflated(path, bytes) }
        }).collect();
        let of_archive = crate::list_of(&archive(&items));
        match list(&files) {
            Ok(list) => prop_assert_eq!(of_archive.unwrap().manifest(), list.manifest()),
            Err(_) => prop_assert!(of_archive.is_err()),
        }
    }
}
