//! Reads what `npx expo export` wrote: `metadata.json`, which lists the script and the assets of each platform
//! (`docs/reference/expo.md#export`).

use std::collections::BTreeSet;

use launchway_domain::platform::Platform;
use serde_json::Value;

use super::manifest::MAX_ASSETS;

/// The name of the list in an export.
pub const METADATA_FILE: &str = "metadata.json";
/// The largest list, in bytes.
pub const MAX_METADATA_BYTES: usize = 4 * 1024 * 1024;
/// The longest path, in bytes.
const MAX_PATH_BYTES: usize = 1024;

/// The files of one platform in an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The path of the script, with `/`.
    pub bundle: String,
    /// All other files, each content once.
    pub assets: Vec<ExportedFile>,
}

/// An asset of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    /// Its path, with `/`.
    pub path: String,
    /// Its extension without a dot; may be empty.
    pub extension: String,
}

impl ExportedFile {
    /// The name by which the app's code finds it: the hash that Metro, the bundler, gave it, which is the name of the file.
    pub fn key(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// The list is not what `npx expo export` writes, or does not have the platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// The list has another form.
    #[error("metadata.json is not that of an Expo export; run `npx expo export` again")]
    Form,
    /// The platform was not exported.
    #[error("the export has no {0} app; run `npx expo export --platform {0}`")]
    Platform(Platform),
    /// A path leads out of the folder.
    #[error("metadata.json lists a path outside the export: {0}")]
    Path(String),
    /// There are too many assets.
    #[error("the export has more than 4,096 assets")]
    TooManyAssets,
}

impl Export {
    /// Reads the files of one platform.
    ///
    /// # Errors
    /// The list has another form, or lacks the platform.
    pub fn parse(metadata: &[u8], platform: Platform) -> Result<Export, ExportError> {
        if metadata.len() > MAX_METADATA_BYTES {
            return Err(ExportError::Form);
        }
        let json: Value = serde_json::from_slice(metadata).map_err(|_| ExportError::Form)?;
        let files = json
            .get("fileMetadata")
            .and_then(Value::as_object)
            .ok_or(ExportError::Form)?;
        let of_platform = files.get(platform.as_str()).ok_or(ExportError::Platform(platform))?;
        let bundle = path(of_platform.get("bundle"))?;
        let listed = of_platform
            .get("assets")
            .and_then(Value::as_array)
            .ok_or(ExportError::Form)?;
        let mut paths = BTreeSet::new();
        let mut assets = Vec::new();
        for asset in listed {
            let path = path(asset.get("path"))?;
            let extension = asset.get("ext").and_then(Value::as_str).ok_or(ExportError::Form)?;
            if extension.len() > 32 || !extension.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return Err(ExportError::Form);
            }
            // An asset that the app uses twice is listed twice.
            if paths.insert(path.clone()) {
                assets.push(ExportedFile {
                    path,
                    extension: extension.to_owned(),
                });
            }
        }
        if assets.len() > MAX_ASSETS {
            return Err(ExportError::TooManyAssets);
        }
        Ok(Export { bundle, assets })
    }
}

/// A path inside the export. Exports that were made on Windows have backslashes.
fn path(value: Option<&Value>) -> Result<String, ExportError> {
    let text = value.and_then(Value::as_str).ok_or(ExportError::Form)?;
    let path = text.replace('\\', "/");
    let is_inside = path
        .split('/')
        .all(|part| !matches!(part, "" | "." | "..") && !part.contains(':'));
    if path.len() > MAX_PATH_BYTES || !is_inside || path.chars().any(char::is_control) {
        return Err(ExportError::Path(text.chars().take(MAX_PATH_BYTES).collect()));
    }
    Ok(path)
}

/// The path of the source map of a script. It is kept aside and never served.
pub fn source_map_of(bundle: &str) -> String {
    format!("{bundle}.map")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const METADATA: &str = r#"{
        "version": 0, "bundler": "metro",
        "fileMetadata": {
            "ios": {"bundle": "_expo/static/js/ios/index-0123.hbc", "assets": [
                {"path": "assets/4e3f888fc8475f69fd5fa32f1ad5216a", "ext": "png"},
                {"path": "assets\\0fc3d1e7a0", "ext": "ttf"},
                {"path": "assets/4e3f888fc8475f69fd5fa32f1ad5216a", "ext": "png"}
            ]}
        }
    }"#;

    #[test]
    fn the_files_of_a_platform_are_read() {
        let export = Export::parse(METADATA.as_bytes(), Platform::Ios).unwrap();
        assert_eq!(export.bundle, "_expo/static/js/ios/index-0123.hbc");
        assert_eq!(source_map_of(&export.bundle), "_expo/static/js/ios/index-0123.hbc.map");
        let [image, font] = &export.assets[..] else {
            panic!("{export:?}")
        };
        assert_eq!(
            (image.key(), image.extension.as_str()),
            ("4e3f888fc8475f69fd5fa32f1ad5216a", "png")
        );
        assert_eq!((font.path.as_str(), font.key()), ("assets/0fc3d1e7a0", "0fc3d1e7a0"));
        let missing = Export::parse(METADATA.as_bytes(), Platform::Android).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "the export has no android app; run `npx expo export --platform android`"
        );
    }

    #[test]
    fn other_lists_are_refused() {
        let list = |bundle: &str, assets: &str| {
            format!(r#"{{"fileMetadata": {{"ios": {{"bundle": {bundle}, "assets": {assets}}}}}}}"#)
        };
        let many: Vec<_> = (0..=MAX_ASSETS)
            .map(|number| format!(r#"{{"path": "a/{number}", "ext": ""}}"#))
            .collect();
        for (metadata, expected) in [
            (String::new(), ExportError::Form),
            ("{}".to_owned(), ExportError::Form),
            (list("5", "[]"), ExportError::Form),
            (list("\"a\"", "{}"), ExportError::Form),
            (list("\"a\"", r#"[{"path": "b"}]"#), ExportError::Form),
            (list("\"a\"", r#"[{"path": "b", "ext": "p/ng"}]"#), ExportError::Form),
            (list("\"../a\"", "[]"), ExportError::Path("../a".into())),
            (list("\"/etc/passwd\"", "[]"), ExportError::Path("/etc/passwd".into())),
            (list(r#""C:\\a""#, "[]"), ExportError::Path("C:\\a".into())),
            (
                list("\"a\"", &format!("[{}]", many.join(","))),
                ExportError::TooManyAssets,
            ),
        ] {
            assert_eq!(
                Export::parse(metadata.as_bytes(), Platform::Ios),
                Err(expected),
                "{metadata:.80}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_list_is_read_or_refused(place in 0..METADATA.len(), byte in any::<u8>(), cut in 0..METADATA.len()) {
            let mut changed = METADATA.as_bytes().to_vec();
            changed[place] = byte;
            let _ = Export::parse(&changed, Platform::Ios);
            let _ = Export::parse(&changed[..cut], Platform::Ios);
        }
    }
}
