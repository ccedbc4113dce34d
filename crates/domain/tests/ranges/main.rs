//! Ranges compared with npm's own `semver`, which the test installs: CodePush and hot-updater decide with it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use launchway_domain::release::BinaryRange;
use launchway_domain::version::Version;
use serde_json::Value;

/// The folder of the script and its lock file.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ranges");

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Installs the package into a folder of its own.
fn install(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    for file in ["package.json", "package-lock.json", "ranges.mjs"] {
        std::fs::copy(Path::new(SOURCE).join(file), folder.join(file)).expect("a copy");
    }
    run(Command::new("npm")
        .args(["ci", "--loglevel=error"])
        .current_dir(&folder));
    folder
}

/// Compares `count` random ranges; returns how many of them are valid.
fn compare(folder: &Path, count: u32, seed: u32) -> usize {
    let mut script = Command::new("node");
    script.args(["ranges.mjs", &count.to_string(), &seed.to_string()]);
    let output = run(script.current_dir(folder)).stdout;
    let text = String::from_utf8(output).expect("text");
    let mut lines = text.lines();
    let versions: Vec<String> = serde_json::from_str(lines.next().expect("a line")).expect("versions");
    let versions: Vec<Version> = versions
        .iter()
        .map(|text| Version::parse(text).expect("a version"))
        .collect();
    let mut valid = 0;
    for line in lines {
        let (text, is_valid, says): (String, bool, Vec<Value>) = serde_json::from_str(line).expect("a range");
        let range = BinaryRange::parse(&text);
        assert_eq!(range.is_ok(), is_valid, "{text:?}");
        let Ok(range) = range else { continue };
        valid += 1;
        for (version, expected) in versions.iter().zip(says) {
            let ours = match (range.contains(version), range.is_below(version)) {
                (true, false) => 1,
                (false, true) => 2,
                (false, false) => 0,
                (true, true) => 3,
            };
            assert_eq!(ours, expected, "{text:?} {version}");
        }
    }
    valid
}

#[test]
fn ranges_mean_what_they_mean_to_npm() {
    let valid = compare(&install("ranges"), 5_000, 1);
    assert!(valid > 1_000, "only {valid} valid ranges");
}
