//! The files that `scripts/make-credential-fixtures` created, and how each is opened.

use std::fs;
use std::path::{Path, PathBuf};

use launchway_credentials::{CredentialError, CredentialInput, Facts, Kind, read};
use launchway_domain::time::EpochMs;
use serde_json::{Map, Value};

/// 2050-01-01: long after the files were created, before the valid ones expire.
pub const NOW: EpochMs = 2_524_608_000_000;

pub const STORE_PASSWORD: &str = "store-secret";
pub const KEY_PASSWORD: &str = "key-secret";
/// Non-ASCII letters, one of them outside the basic multilingual plane.
const UMLAUT_PASSWORD: &str = "schlüssel-😀";
pub const KEY_ID: &str = "ABC123DEF4";
pub const ISSUER_ID: &str = "57246542-96FE-1A63-E053-0824D011072A";

pub struct Fixture {
    pub name: String,
    pub content: Vec<u8>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
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

/// The output of other programs for the accepted files.
pub fn expected() -> Map<String, Value> {
    serde_json::from_slice(&fs::read(folder().join("expected.json")).unwrap()).unwrap()
}

pub fn fixture(name: &str) -> Fixture {
    Fixture {
        name: name.to_owned(),
        content: fs::read(folder().join(name)).unwrap(),
    }
}

/// The accepted files, each with its kind.
pub fn good() -> Vec<(Kind, Fixture)> {
    let kind = |facts: &Value| facts["kind"].as_str().unwrap().parse().unwrap();
    expected()
        .iter()
        .map(|(name, facts)| (kind(facts), fixture(name)))
        .collect()
}

impl Fixture {
    /// All input that the format needs.
    pub fn given(&self) -> CredentialInput<'_> {
        let is_key = self.name.ends_with(".p8");
        CredentialInput {
            content: &self.content,
            password: match self.name.as_str() {
                "no-password.p12" | "iphone-developer.p12" => None,
                name if name.starts_with("umlaut-password") => Some(UMLAUT_PASSWORD),
                _ => Some(STORE_PASSWORD),
            },
            alias: self.name.starts_with("two-keys.").then_some("release"),
            key_password: (self.name == "own-key-password.jks").then_some(KEY_PASSWORD),
            key_id: is_key.then_some(KEY_ID),
            issuer_id: is_key.then_some(ISSUER_ID),
            bundle_id: None,
        }
    }

    pub fn read(&self, kind: Kind) -> Result<Facts, CredentialError> {
        read(kind, &self.given(), NOW)
    }

    pub fn is_keystore(&self) -> bool {
        self.name.ends_with(".p12") || self.name.ends_with(".jks")
    }
}
