//! The root of signed updates in the native project: what `launchway.trust.json` says, where the client of updates reads
//! it from the app's binary (`docs/reference/trust.md#embedding`). It does not count for the fingerprint.

use std::path::Path;

use launchway_domain::platform::Platform;
use launchway_trust::TrustFile;

use super::places::Native;
use super::{EmbedError, Embedded, property_list};
use crate::framework::Framework;
use crate::trust_file::AppTrust;

/// The file in the assets of an Android app.
pub const ANDROID_ASSET: &str = "launchway.trust.json";
/// The key in `Info.plist`.
pub const APPLE_TRUST_KEY: &str = "LaunchwayTrust";

/// Writes root, floors and revoked packages to the native project of `platform` in `root`. Idempotent.
///
/// # Errors
/// As [`super::embed`]. The root does not succeed the one that the native project contains.
pub fn embed_trust(
    root: &Path,
    framework: Framework,
    platform: Platform,
    trust: &AppTrust,
) -> Result<Vec<Embedded>, EmbedError> {
    let native = Native::new(root, framework, platform)?;
    let text = trust.file.to_json();
    if platform == Platform::Android {
        let path = format!("{}/assets/{ANDROID_ASSET}", native.android_main()?);
        let before = native.source.read(&path)?;
        if let Some(before) = &before {
            check_succession(trust, before, &path)?;
        }
        return Ok(vec![native.put(path, before.as_deref(), &text)?]);
    }
    let lists = native.property_lists()?;
    for (path, list) in &lists {
        if let Some(before) = property_list::value(list, APPLE_TRUST_KEY) {
            check_succession(trust, &before, path)?;
        }
    }
    let lists = lists.into_iter();
    lists
        .map(|(path, list)| native.put_key(path, &list, APPLE_TRUST_KEY, text.trim_end()))
        .collect()
}

/// The files of the native project of `platform` that lack a root of signed updates.
///
/// # Errors
/// There is no native project, or its files cannot be read.
pub fn without_trust(root: &Path, framework: Framework, platform: Platform) -> Result<Vec<String>, EmbedError> {
    let native = Native::new(root, framework, platform)?;
    if platform == Platform::Android {
        let path = format!("{}/assets/{ANDROID_ASSET}", native.android_main()?);
        let is_there = native.source.has_file(&path);
        return Ok(if is_there { Vec::new() } else { vec![path] });
    }
    let lists = native.property_lists()?.into_iter();
    let lacks = |(path, list): (String, String)| property_list::value(&list, APPLE_TRUST_KEY).is_none().then_some(path);
    Ok(lists.filter_map(lacks).collect())
}

/// Checks that the file may replace what `path` contains.
fn check_succession(trust: &AppTrust, before: &str, path: &str) -> Result<(), EmbedError> {
    let before = TrustFile::parse(before.as_bytes()).map_err(|_| EmbedError::EmbeddedTrust(path.to_owned()))?;
    let outcome = trust.file.check_succeeds(&before);
    outcome.map_err(|error| EmbedError::Succession(trust.path.clone(), error, path.to_owned()))
}
