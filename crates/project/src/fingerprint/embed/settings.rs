//! The settings of the SDK in the native project, where the SDK reads them from the app's binary
//! (`docs/reference/sdk.md#settings`). They do not count for the fingerprint.

use std::path::Path;

use launchway_domain::platform::Platform;

use super::places::Native;
use super::{EmbedError, Embedded, property_list};
use crate::framework::Framework;
use crate::sdk::settings::SdkSettings;

/// The file in the assets of an Android app.
pub const ANDROID_SETTINGS: &str = "launchway.json";
/// The key in `Info.plist`.
pub const APPLE_SETTINGS_KEY: &str = "LaunchwaySettings";

/// Writes the settings to the native project of `platform` in `root`. Idempotent.
///
/// # Errors
/// As [`super::embed`].
pub fn embed_settings(
    root: &Path,
    framework: Framework,
    platform: Platform,
    settings: &SdkSettings,
) -> Result<Vec<Embedded>, EmbedError> {
    let native = Native::new(root, framework, platform)?;
    let text = settings.to_json();
    if platform == Platform::Android {
        let path = format!("{}/assets/{ANDROID_SETTINGS}", native.android_main()?);
        let before = native.source.read(&path)?;
        return Ok(vec![native.put(path, before.as_deref(), &text)?]);
    }
    let lists = native.property_lists()?.into_iter();
    lists
        .map(|(path, list)| native.put_key(path, &list, APPLE_SETTINGS_KEY, text.trim_end()))
        .collect()
}

/// The settings that the native project of `platform` contains, with the file that has them.
///
/// # Errors
/// There is no native project, or its files cannot be read.
pub fn embedded_settings(
    root: &Path,
    framework: Framework,
    platform: Platform,
) -> Result<Vec<(String, String)>, EmbedError> {
    let native = Native::new(root, framework, platform)?;
    if platform == Platform::Android {
        let path = format!("{}/assets/{ANDROID_SETTINGS}", native.android_main()?);
        let text = native.source.read(&path)?;
        return Ok(text.map(|text| (path, text)).into_iter().collect());
    }
    let lists = native.property_lists()?.into_iter();
    let found = lists.filter_map(|(path, list)| {
        let text = property_list::value(&list, APPLE_SETTINGS_KEY)?;
        Some((path, text))
    });
    Ok(found.collect())
}
