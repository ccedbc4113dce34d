//! The workspace itself, for tests about its sources and crates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The folders with Rust code.
pub const CODE: [&str; 3] = ["crates", "tests", "bench"];

/// The root of the workspace.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The files below a folder that have one of these extensions, without generated ones. Files without an extension have
/// the extension `""`.
#[must_use]
pub fn files_below(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, extensions, &mut files);
    files
}

fn collect(folder: &Path, extensions: &[&str], files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("the workspace can be read").path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            collect(&path, extensions, files);
        } else {
            let own = path.extension().unwrap_or_default();
            if extensions.iter().any(|extension| *extension == own) {
                files.push(path);
            }
        }
    }
}

/// The Rust files of the workspace.
#[must_use]
pub fn rust_files() -> Vec<PathBuf> {
    let below = |folder: &str| files_below(&root().join(folder), &["rs"]);
    CODE.into_iter().flat_map(below).collect()
}

/// Cargo's metadata of the workspace's own crates.
///
/// # Panics
/// If cargo does not know them.
#[must_use]
pub fn metadata() -> Value {
    serde_json::from_slice(&cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"]))
        .expect("cargo writes JSON")
}

/// Cargo's metadata of all crates that are compiled on this machine.
///
/// # Panics
/// If cargo does not know them.
#[must_use]
pub fn metadata_of_host() -> Value {
    let version = String::from_utf8(cargo(&["-vV"])).expect("cargo writes text");
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.expect("cargo names its host");
    let arguments = [
        "metadata",
        "--locked",
        "--offline",
        "--format-version",
        "1",
        "--filter-platform",
        host,
    ];
    serde_json::from_slice(&cargo(&arguments)).expect("cargo writes JSON")
}

fn cargo(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
