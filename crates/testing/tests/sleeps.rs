//! Tests do not sleep: they wait for the event, move their clock, or look for what another process does
//! (`crates/testing/src/wait.rs`).

#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

/// The files in which time itself is the subject.
const ALLOWED: [&str; 4] = [
    "crates/testing/src/wait.rs",
    // Chooses the moment at which a process is killed, without dependencies that would slow that process's start.
    "crates/device/tests/device/kills.rs",
    // The pauses of the runner's machine, which are real and short.
    "crates/runner/tests/runner/work.rs",
    // The server's own deadline for an answer without a lease.
    "crates/runner/tests/runner/fake_server.rs",
];

#[test]
fn tests_do_not_sleep() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut files = Vec::new();
    for directory in ["crates", "tests", "bench"] {
        collect_sources(&root.join(directory), &mut files);
    }
    let is_test =
        |path: &str| path.contains("/tests") || path.starts_with("tests/") || path.starts_with("crates/testing/");
    let (mut tests, mut sleeping) = (0, Vec::new());
    for file in files {
        let path = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if !is_test(&path) || path.ends_with("tests/sleeps.rs") {
            continue;
        }
        tests += 1;
        if fs::read_to_string(&file).unwrap().contains("sleep(") && !ALLOWED.contains(&path.as_str()) {
            sleeping.push(path);
        }
    }
    assert!(tests > 300, "the search finds only {tests} files");
    assert!(sleeping.is_empty(), "these tests sleep: {sleeping:#?}");
}

fn collect_sources(directory: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap();
        if path.is_dir() && !path.is_symlink() && name != "node_modules" && name != "target" {
            collect_sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
