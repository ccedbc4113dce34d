//! Writes what the app reads from its own native binary: the fingerprint, as a string resource on Android and a key of
//! `Info.plist` on Apple platforms, the root of signed updates, and the settings of the SDK. None of it counts for the
//! fingerprint.

mod places;
mod property_list;
mod settings;
mod trust;

use std::path::Path;

use launchway_domain::fingerprint::Fingerprint;
use launchway_domain::platform::Platform;
use launchway_trust::SuccessionError;

use self::places::Native;
use self::property_list::escaped;
use super::problem::CollectError;
use crate::framework::Framework;
use crate::source::FileError;

pub use self::settings::{ANDROID_SETTINGS, APPLE_SETTINGS_KEY, embed_settings, embedded_settings};
pub use self::trust::{ANDROID_ASSET, APPLE_TRUST_KEY, embed_trust, without_trust};

/// Name of the file with the string resource.
pub const ANDROID_FILE: &str = "launchway_fingerprint.xml";
/// Name of the string resource.
pub const ANDROID_NAME: &str = "launchway_fingerprint";
/// The key in `Info.plist`.
pub const APPLE_KEY: &str = "LaunchwayFingerprint";

/// A file that was written into the native project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// Its path in the project, with forward slashes.
    pub path: String,
    /// Whether it was written; false when it already had this content.
    pub changed: bool,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// There is no native project to write to.
    #[error("{0} does not exist, so there is nothing to write into; create the native project first")]
    NoProject(String),
    /// The file exists but has an unexpected form.
    #[error(transparent)]
    Unreadable(#[from] FileError),
    /// The file has no place for a key.
    #[error("{0} is not an XML property list; run `plutil -convert xml1 {0}` to convert it")]
    NoPropertyList(String),
    /// The settings of the framework name a path outside the project.
    #[error(transparent)]
    Project(#[from] CollectError),
    /// What was embedded before cannot be read.
    #[error("{0} has a root of signed updates that cannot be read; remove it and try again")]
    EmbeddedTrust(String),
    /// The native project contains a root that the file does not succeed.
    #[error("{0} {1}, and {2} contains the other one; if the file is right, remove the other one from {2}")]
    Succession(String, SuccessionError, String),
    /// An I/O error.
    #[error("cannot write {0}: {1}")]
    Unwritable(String, std::io::Error),
}

/// Writes `hash` to the native project of `platform` in `root`. Idempotent.
///
/// # Errors
/// There is no native project, or its files cannot be read or written. Files outside `root` are never touched.
pub fn embed(
    root: &Path,
    framework: Framework,
    platform: Platform,
    hash: &Fingerprint,
) -> Result<Vec<Embedded>, EmbedError> {
    let native = Native::new(root, framework, platform)?;
    if platform == Platform::Android {
        let text = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- Written by `launchway fingerprint embed`. -->\n<resources>\n    \
             <string name=\"{ANDROID_NAME}\" translatable=\"false\">{}</string>\n</resources>\n",
            escaped(hash.as_str())
        );
        let path = format!("{}/res/values/{ANDROID_FILE}", native.android_main()?);
        let before = native.source.read(&path)?;
        return Ok(vec![native.put(path, before.as_deref(), &text)?]);
    }
    let lists = native.property_lists()?.into_iter();
    lists
        .map(|(path, list)| native.put_key(path, &list, APPLE_KEY, hash.as_str()))
        .collect()
}

impl Native<'_> {
    /// Writes a file that contained `before`, unless it has this content.
    fn put(&self, path: String, before: Option<&str>, text: &str) -> Result<Embedded, EmbedError> {
        let changed = before != Some(text);
        if changed {
            self.write(&path, text)?;
        }
        Ok(Embedded { path, changed })
    }

    /// Writes a key into a property list.
    fn put_key(&self, path: String, list: &str, key: &str, value: &str) -> Result<Embedded, EmbedError> {
        let with = property_list::with_value(list, key, value);
        let with = with.ok_or_else(|| EmbedError::NoPropertyList(path.clone()))?;
        self.put(path, Some(list), &with)
    }
}
