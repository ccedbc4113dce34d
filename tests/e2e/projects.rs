//! The bundles of the real app projects in tests/projects, built from their npm packages once per test process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use tempfile::TempDir;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The directory with the bundle of the project `name`; read only.
pub fn bundle(name: &str) -> PathBuf {
    static BUILT: LazyLock<(TempDir, Mutex<HashMap<String, PathBuf>>)> =
        LazyLock::new(|| (tempfile::tempdir().unwrap(), Mutex::default()));
    let (folder, built) = &*BUILT;
    // Held during a build: other tests that need the same one wait for it.
    let mut built = built.lock().unwrap();
    let path = built.entry(name.to_owned()).or_insert_with(|| {
        let out = folder.path().join(name);
        let output = Command::new(root().join("tests/projects/build"))
            .arg(name)
            .arg(&out)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} was not built:\n{errors}");
        out
    });
    path.clone()
}

/// A mutable copy of a bundle: the next version of the app.
pub fn copy(bundle: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for (name, bytes) in crate::packages::files_below(bundle) {
        let path = copy.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    copy
}
