//! Tests do not sleep: they wait for the event, move their clock, or look for what another process does
//! (`crates/testing/src/wait.rs`).

#![cfg(test)]

use std::fs;

use launchway_testing::workspace::{root, rust_files};

/// The files that test time itself.
const ALLOWED: [&str; 4] = [
    "crates/testing/src/wait.rs",
    // Chooses the moment at which a process is killed, without dependencies that would slow that process's start.
    "crates/device/tests/device/kills.rs",
    // The pauses of the runner's machine, which are real and short.
    "crates/runner/tests/runner/work.rs",
    // The server's own deadline for an answer without a lease.
    "crates/runner/tests/runner/fake_server/answers.rs",
];

#[test]
fn tests_do_not_sleep() {
    let is_test =
        |path: &str| path.contains("/tests") || path.starts_with("tests/") || path.starts_with("crates/testing/");
    let (mut tests, mut sleeping) = (0, Vec::new());
    for file in rust_files() {
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
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
