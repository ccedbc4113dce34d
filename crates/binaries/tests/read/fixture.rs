//! The files that `scripts/make-binary-fixtures` created, and archives made from their parts.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use launchway_binaries::{BinaryError, BinaryFacts, read};
use serde_json::{Map, Value};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The output of other programs for the readable files.
pub fn expected() -> Map<String, Value> {
    serde_json::from_slice(&fs::read(folder().join("expected.json")).unwrap()).unwrap()
}

pub fn fixture(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap()
}

/// The sorted names of all files.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name != "expected.json");
    names.sort();
    names
}

pub fn read_bytes(bytes: &[u8]) -> Result<BinaryFacts, BinaryError> {
    read(Cursor::new(bytes))
}

/// The names and contents of the files in an archive.
pub fn unpacked(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let count = archive.len();
    let one = |index| {
        let mut file = archive.by_index(index).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        (file.name().unwrap().into_owned(), content)
    };
    (0..count).map(one).collect()
}

/// An archive of these files, uncompressed.
pub fn packed<N: AsRef<str>, C: AsRef<[u8]>>(files: &[(N, C)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in files {
        writer.start_file(name.as_ref(), stored).unwrap();
        writer.write_all(content.as_ref()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
