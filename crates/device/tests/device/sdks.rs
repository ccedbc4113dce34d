//! The clients in the phones' languages pass their own tests, and decide as this one at each step of random traces.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::boot::random_traces;

#[test]
fn the_java_client_passes_its_tests() {
    passes("sdk/android/test");
}

#[test]
#[ignore = "long run"]
fn the_java_client_compiles_with_the_classes_of_android() {
    passes("sdk/android/test-real");
}

#[test]
#[ignore = "long run"]
fn the_swift_client_passes_its_tests() {
    passes("sdk/ios/test");
}

/// Runs the tests of a client. They read 10,000 random traces from the file that `LAUNCHWAY_BOOT_TRACES` names.
fn passes(script: &str) {
    let mut traces = tempfile::NamedTempFile::new().unwrap();
    traces.write_all(random_traces(10_000).as_bytes()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(script);
    let output = Command::new(&script)
        .env("LAUNCHWAY_BOOT_TRACES", traces.path())
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{}:\n{stdout}\n{stderr}", script.display());
}
