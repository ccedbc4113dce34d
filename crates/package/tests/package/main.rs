//! Packages of every kind, valid, hostile and corrupted.

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

mod broken;
mod entries;
mod layout;
mod valid;

use std::io::{Seek, Write};

use launchway_package::{Inspected, Limits, inspect};
use launchway_testing::raw_zip::{Item, archive, deflated, stored};

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

fn refused(items: &[Item], text: &str) {
    refused_bytes(&archive(items), text);
}

fn refused_bytes(bytes: &[u8], text: &str) {
    assert_eq!(inspected(bytes), Err(text.to_owned()));
}
