//! The sample Android app of examples/android-app: its source, the keystore that signs it, and the tools that build it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::packages::{files_below, packed};
use crate::projects::root;

/// The bundle id of the app.
pub const BUNDLE: &str = "com.example.sample";
/// SHA-256 of the certificate in [`keystore`].
const FIXTURES: &str = "crates/credentials/tests/fixtures";

/// The parts of an Android SDK that the app needs, in a place where build users can read them.
pub struct Sdk {
    folder: TempDir,
}

impl Sdk {
    /// Fetches them once per machine, and copies them for this test: build users may have no access to the first place.
    pub fn get() -> Sdk {
        static FETCHING: Mutex<()> = Mutex::new(());
        let test = std::env::current_exe().unwrap();
        let kept = test.ancestors().nth(3).unwrap().join("android-sdk");
        {
            let _one_at_a_time = FETCHING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let fetched = Command::new(root().join("scripts/android-tools"))
                .arg(&kept)
                .output()
                .unwrap();
            let problem = String::from_utf8_lossy(&fetched.stderr);
            assert!(fetched.status.success(), "{problem}");
        }
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let copied = Command::new("cp")
            .arg("-R")
            .arg(kept.join("."))
            .arg(folder.path())
            .status();
        assert!(copied.unwrap().success());
        Sdk { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Passes the location to the organization's builds.
    pub async fn tell(&self, api: &Api) {
        let value = self.path().to_str().unwrap();
        let body = json!({"name": "ANDROID_HOME", "value": value, "visibility": "plain"});
        api.post("/env", body).await.created();
    }
}

/// The directory of the app.
pub fn folder() -> PathBuf {
    root().join("examples/android-app")
}

/// The app's source as an archive.
pub fn source() -> Vec<u8> {
    packed(&files_below(&folder()))
}

/// Adds a keystore to the organization; returns the server's response.
pub async fn give_keystore(api: &Api) -> Value {
    let file = fs::read(root().join(FIXTURES).join("openssl3.p12")).unwrap();
    let body = json!({
        "kind": "android_keystore", "content": BASE64_STANDARD.encode(file), "password": "store-secret"
    });
    api.post("/credentials", body).await.created()
}

/// The output of `apksigner` for an app: the SHA-256 of the certificate, lower-case hex. The app must be signed.
pub fn certificate_of(apk: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("app.apk");
    fs::write(&file, apk).unwrap();
    let output = Command::new("apksigner")
        .args(["verify", "--verbose", "--print-certs"])
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let line = said
        .lines()
        .find(|line| line.contains("certificate SHA-256 digest:"))
        .unwrap();
    line.rsplit(' ').next().unwrap().to_owned()
}
