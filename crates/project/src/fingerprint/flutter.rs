//! The native parts of Flutter projects: the plugins that Flutter's tool resolved, with the versions of `pubspec.lock`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use launchway_domain::platform::Platform;

use super::parts::{Parts, is_resource};
use super::plugins::{Plugins, source_digest};
use super::problem::CollectError;
use super::pubspec::{self, LOCK, LockedPackage, PUBSPEC};
use super::text_file;

const PLUGINS: &str = ".flutter-plugins-dependencies";
const PACKAGES: &str = ".dart_tool/package_config.json";
const GET: &str = "flutter pub get";

/// Collects the native parts of the project.
pub fn parts(root: &Path, platform: Platform) -> Result<Parts, CollectError> {
    let run = match platform {
        Platform::Android => "flutter create --platforms=android .",
        Platform::Ios => "flutter create --platforms=ios .",
        Platform::Visionos => return Err(CollectError::Platform("Flutter", "visionos")),
    };
    let folder = platform.as_str();
    if !root.join(folder).is_dir() {
        return Err(CollectError::NoFolder {
            folder: folder.to_owned(),
            run,
        });
    }
    Ok(Parts {
        plugins: plugins(root, platform)?,
        places: vec![folder.to_owned()],
        is_resource: Box::new(is_resource),
        ..Parts::default()
    })
}

fn missing(what: &str) -> CollectError {
    CollectError::NotInstalled {
        what: what.to_owned(),
        run: GET.to_owned(),
    }
}

fn plugins(root: &Path, platform: Platform) -> Result<Plugins, CollectError> {
    let resolved = text_file::json(&root.join(PLUGINS), PLUGINS)?.ok_or_else(|| missing("what pubspec.yaml names"))?;
    let locked = locked(root)?;
    let listed = resolved["plugins"][platform.as_str()].as_array();
    let listed = listed.ok_or_else(|| CollectError::broken(PLUGINS, format!("it has no list plugins.{platform}")))?;
    let mut plugins = Plugins::new();
    for plugin in listed {
        // Some packages are Dart only, and some are only for tests.
        if plugin["native_build"] == false || plugin["dev_dependency"] == true {
            continue;
        }
        let name = plugin["name"].as_str();
        let name = name.ok_or_else(|| CollectError::broken(PLUGINS, "a plugin in it has no name"))?;
        let entry = locked.get(name).ok_or_else(|| missing(name))?;
        let version = match (entry.source.as_str(), plugin["path"].as_str()) {
            ("hosted" | "sdk", _) => entry.version.clone(),
            // A package from a directory or repository: its content may change without its version.
            (_, Some(path)) if root.join(path).is_dir() => {
                format!("{}+src.{}", entry.version, source_digest(name, &root.join(path))?)
            }
            _ => return Err(missing(name)),
        };
        plugins.insert(name.to_owned(), version);
    }
    // The version of Flutter itself, where its tool records it.
    if let Some(version) = resolved["version"].as_str() {
        plugins.insert("flutter".to_owned(), version.to_owned());
    }
    Ok(plugins)
}

/// The packages of `pubspec.lock`, which has everything that `pubspec.yaml` names, and which Flutter's tool fetched: a
/// plugin that it does not know yet would be missing from the list of plugins.
fn locked(root: &Path) -> Result<BTreeMap<String, LockedPackage>, CollectError> {
    let manifest = text_file::read(&root.join(PUBSPEC), PUBSPEC)?.unwrap_or_default();
    let place = lock_folder(root, &manifest);
    let lock = text_file::read(&place.join(LOCK), LOCK)?.ok_or_else(|| missing(LOCK))?;
    let locked = pubspec::parse_lockfile(&lock)?;
    let named = pubspec::dependencies(&manifest);
    if let Some(name) = named.into_iter().find(|name| !locked.contains_key(*name)) {
        return Err(missing(name));
    }
    // The tool writes this file whenever it fetches packages. A project that was never opened with it has none.
    let fetched = text_file::json(&place.join(PACKAGES), PACKAGES)?.unwrap_or_default();
    let Some(fetched) = fetched["packages"].as_array() else {
        return Ok(locked);
    };
    let is_fetched = |name: &String| fetched.iter().any(|package| package["name"] == name.as_str());
    let of_tool = |package: &LockedPackage| package.source == "sdk";
    let mut stale = locked.iter().filter(|(_, package)| !of_tool(package));
    match stale.find(|(name, _)| !is_fetched(name)) {
        Some((name, _)) => Err(missing(name)),
        None => Ok(locked),
    }
}

/// The directory of `pubspec.lock`: that of the app, or of the workspace that the app belongs to.
fn lock_folder(root: &Path, manifest: &str) -> PathBuf {
    let above = || root.ancestors().find(|folder| folder.join(LOCK).is_file());
    let is_member = pubspec::is_workspace_member(manifest);
    above().filter(|_| is_member).unwrap_or(root).to_owned()
}
