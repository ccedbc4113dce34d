//! The packages of a release: what is in them, the scripts that install them, and the confinement of the service.

#![cfg(test)]

use std::process::Command;

use launchway_testing::workspace::root;

/// The scripts that people and package managers run.
const SCRIPTS: [&str; 7] = [
    "packaging/deb/launchway-server.postinst",
    "packaging/deb/launchway-server.postrm",
    "packaging/deb/launchway-server.prerm",
    "packaging/server/launchway-admin",
    "packaging/try",
    "packaging/try-inside",
    "scripts/release",
];

/// Runs a program in the workspace and returns what it prints; fails if it fails.
fn succeeds(program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(root()).output();
    let output = output.unwrap_or_else(|error| panic!("{program} is there, scripts/setup installs it: {error}"));
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{program} {arguments:?}\n{out}\n{err}");
    out
}

#[test]
fn packages_hold_what_they_promise_with_the_same_bytes() {
    succeeds("python3", &["packaging/test.py"]);
}

#[test]
fn scripts_of_the_packages_are_clean() {
    succeeds("shellcheck", &SCRIPTS);
}

#[test]
fn the_service_is_confined() {
    let unit = "packaging/server/launchway-server.service";
    // The exposure times ten: below 2.0.
    let arguments = ["security", "--offline=true", "--threshold=19", "--no-pager", unit];
    succeeds("systemd-analyze", &arguments);
}

#[test]
fn every_platform_of_a_release_is_made_by_the_workflow() {
    let workflow = std::fs::read_to_string(root().join(".github/workflows/release.yml")).unwrap();
    for runner in ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel"] {
        assert!(workflow.contains(&format!("- {runner}\n")), "{runner}");
    }
    assert!(workflow.contains("run: scripts/release --out "), "{workflow}");
}

/// Takes root, debootstrap and a mirror of Debian. Compiles the programs for an old C library first.
#[test]
#[ignore = "long run"]
fn a_fresh_debian_goes_from_the_package_to_the_first_update() {
    succeeds("scripts/release", &["--profile", "release"]);
    let log = succeeds("packaging/try", &[programs().to_str().unwrap()]);
    for line in log.lines() {
        println!("summary: {line}");
    }
}

/// The folder of the programs of the last release that was made of the present commit.
fn programs() -> std::path::PathBuf {
    let commit = succeeds("git", &["rev-parse", "HEAD"]);
    root()
        .join("target/releases")
        .join(format!("{}-release", commit.trim()))
}
