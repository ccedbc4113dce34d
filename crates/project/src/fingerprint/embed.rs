//! Writes a fingerprint to where the app reads it from its native binary: a string resource on Android, a key of
//! `Info.plist` on Apple platforms. Neither counts for the fingerprint.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::LazyLock;

use launchway_domain::fingerprint::Fingerprint;
use launchway_domain::platform::Platform;
use regex::{NoExpand, Regex};

use super::problem::CollectError;
use super::{nativescript, or_current_dir};
use crate::framework::{Framework, gradle_root};
use crate::source::{FileError, Source};

/// Name of the file with the string resource.
pub const ANDROID_FILE: &str = "launchway_fingerprint.xml";
/// Name of the string resource.
pub const ANDROID_NAME: &str = "launchway_fingerprint";
/// The key in `Info.plist`.
pub const APPLE_KEY: &str = "LaunchwayFingerprint";

/// A file that contains the fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// Its path in the project, with forward slashes.
    pub path: String,
    /// Whether it was written; false when it already had this fingerprint.
    pub changed: bool,
}

/// Why no fingerprint was written.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// There is no native project to write to.
    #[error("{0} does not exist, so there is nothing to write the fingerprint into; create the native project first")]
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
    let root = or_current_dir(root);
    let source = Source::new(root);
    let config = ["nativescript.config.ts", "nativescript.config.js"];
    let config = config.iter().find_map(|name| source.text(name)).unwrap_or_default();
    let resources = match framework {
        Framework::NativeScript => Some(nativescript::resources(root, &config, platform)?),
        _ => None,
    };
    let embedded = match platform {
        Platform::Android => vec![android(root, &source, resources, hash)?],
        Platform::Ios | Platform::Visionos => apple(root, &source, resources, platform, hash)?,
    };
    Ok(embedded)
}

fn android(
    root: &Path,
    source: &Source,
    resources: Option<String>,
    hash: &Fingerprint,
) -> Result<Embedded, EmbedError> {
    let module = match resources {
        Some(resources) => resources,
        None => match gradle_root(source, "") {
            Some(folder) if !folder.is_empty() => format!("{folder}/app"),
            _ => "app".to_owned(),
        },
    };
    let main = format!("{module}/src/main");
    if !source.has_directory(&main) {
        return Err(EmbedError::NoProject(main));
    }
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- Written by `launchway fingerprint embed`. -->\n<resources>\n    \
         <string name=\"{ANDROID_NAME}\" translatable=\"false\">{}</string>\n</resources>\n",
        escaped(hash.as_str())
    );
    let path = format!("{main}/res/values/{ANDROID_FILE}");
    let changed = source.read(&path)?.as_deref() != Some(&text);
    if changed {
        write(root, &path, &text)?;
    }
    Ok(Embedded { path, changed })
}

fn apple(
    root: &Path,
    source: &Source,
    resources: Option<String>,
    platform: Platform,
    hash: &Fingerprint,
) -> Result<Vec<Embedded>, EmbedError> {
    let (places, first) = match resources {
        Some(resources) => {
            let place = format!("{resources}/Info.plist");
            (vec![place.clone()], place)
        }
        None => (info_plists(source, platform), format!("{platform}/<App>/Info.plist")),
    };
    let mut embedded = Vec::new();
    for path in places {
        let Some(text) = source.read(&path)? else { continue };
        let with = with_key(&text, hash).ok_or_else(|| EmbedError::NoPropertyList(path.clone()))?;
        let changed = with != text;
        if changed {
            write(root, &path, &with)?;
        }
        embedded.push(Embedded { path, changed });
    }
    if embedded.is_empty() {
        return Err(EmbedError::NoProject(first));
    }
    Ok(embedded)
}

/// The `Info.plist` of each Xcode project, in the directory of the project's name beside it.
fn info_plists(source: &Source, platform: Platform) -> Vec<String> {
    let folder = platform.as_str();
    let below = [format!("{folder}/App"), folder.to_owned(), String::new()];
    let in_folder = |folder: &String| {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let names = source.names(folder).into_iter();
        names
            .filter_map(|name| name.strip_suffix(".xcodeproj").map(str::to_owned))
            .filter(|name| name != "Pods")
            .map(|name| format!("{prefix}{name}/Info.plist"))
            .filter(|path| source.has_file(path))
            .collect::<Vec<_>>()
    };
    below
        .iter()
        .map(in_folder)
        .find(|places| !places.is_empty())
        .unwrap_or_default()
}

/// The property list with the key: its value replaced if the key exists, otherwise added at the end of the outermost
/// dictionary.
fn with_key(text: &str, hash: &Fingerprint) -> Option<String> {
    static VALUE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"<key>LaunchwayFingerprint</key>\s*<string>[^<]*</string>").ok());
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let pair = format!(
        "<key>{APPLE_KEY}</key>{end}\t<string>{}</string>",
        escaped(hash.as_str())
    );
    let value = VALUE.as_ref()?;
    if value.is_match(text) {
        return Some(value.replace(text, NoExpand(&pair)).into_owned());
    }
    let outermost = text.rfind("</plist>")?;
    let close = text[..outermost].rfind("</dict>")?;
    // Keep the line of the closing tag. If it shares its line with other tags, the file stays on one line.
    let line = text[..close].trim_end_matches([' ', '\t']).len();
    let before = &text[..line];
    if before.ends_with('\n') {
        return Some(format!("{before}\t{pair}{end}{}", &text[line..]));
    }
    Some(format!(
        "{}{}{}",
        &text[..close],
        pair.replace(&format!("{end}\t"), ""),
        &text[close..]
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Writes a temporary file and renames it, so that readers never see a partial file. Existing paths may be links to
/// outside the project.
fn write(root: &Path, path: &str, text: &str) -> Result<(), EmbedError> {
    let unwritable = |error| EmbedError::Unwritable(path.to_owned(), error);
    let inside = |folder: &Path| {
        let (root, folder) = (fs::canonicalize(root)?, fs::canonicalize(folder)?);
        match folder.starts_with(&root) {
            true => Ok(folder),
            false => Err(std::io::Error::new(
                ErrorKind::PermissionDenied,
                "it is outside the project",
            )),
        }
    };
    let place = root.join(path);
    let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else {
        return Err(EmbedError::NoProject(path.to_owned()));
    };
    // Directories are created only below one that is known to be inside the project.
    let there = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(root);
    inside(there).map_err(unwritable)?;
    fs::create_dir_all(folder).map_err(unwritable)?;
    // The file itself may be a link inside the project; its target is written.
    let target = match fs::canonicalize(&place) {
        Ok(target) => target,
        Err(_) => inside(folder).map_err(unwritable)?.join(name),
    };
    let folder = target.parent().unwrap_or(folder);
    let beside = inside(folder).map_err(unwritable)?.join(format!(".{ANDROID_NAME}.new"));
    fs::write(&beside, text).map_err(unwritable)?;
    fs::rename(&beside, &target).map_err(unwritable)
}
