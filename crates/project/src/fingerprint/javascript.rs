//! The native parts of Capacitor, React Native and Expo projects: packages with native code, and the native projects.

use std::path::Path;
use std::sync::LazyLock;

use launchway_domain::platform::Platform;
use regex::Regex;
use serde_json::Value;

use super::expo_config;
use super::installed::{DependencyScope, Installed, Package};
use super::parts::{Parts, is_resource};
use super::patches::Patches;
use super::plugins;
use super::problem::CollectError;
use super::text_file;

/// Capacitor: packages that declare themselves plugins of Capacitor or Cordova.
pub fn capacitor(root: &Path, platform: Platform) -> Result<Parts, CollectError> {
    let (runtime, other, run) = match platform {
        Platform::Android => ("@capacitor/android", "@capacitor/ios", "npx cap add android"),
        Platform::Ios => ("@capacitor/ios", "@capacitor/android", "npx cap add ios"),
        Platform::Visionos => return Err(CollectError::Platform("Capacitor", "visionos")),
    };
    let installed = Installed::open(root)?;
    let runtimes = [needed(&installed, "@capacitor/core")?, needed(&installed, runtime)?];
    let mut packages = installed.find(DependencyScope::Direct, &[other])?;
    packages.retain(|package| is_capacitor_plugin(package, platform));
    packages.extend(runtimes);
    let folder = native_folder(root, platform, run)?;
    Ok(Parts {
        plugins: plugins::versions(packages, &Patches::read(root)?)?,
        places: vec![folder],
        is_resource: Box::new(is_resource),
        ..Parts::default()
    })
}

fn is_capacitor_plugin(package: &Package, platform: Platform) -> bool {
    let (capacitor, cordova) = (&package.manifest["capacitor"], &package.manifest["cordova"]);
    if capacitor.is_object() {
        return capacitor.get(platform.as_str()).is_some();
    }
    match cordova["platforms"].as_array() {
        Some(platforms) => platforms.iter().any(|name| name == platform.as_str()),
        None => cordova.is_object(),
    }
}

/// React Native: the packages that its autolinking selects.
pub fn react_native(root: &Path, platform: Platform) -> Result<Parts, CollectError> {
    let installed = Installed::open(root)?;
    let runtime = needed(&installed, "react-native")?;
    let mut packages = installed.find(DependencyScope::Direct, &[])?;
    packages.retain(|package| is_react_native_plugin(package, platform));
    packages.push(runtime);
    let run = "npx @react-native-community/cli init, in another folder, and copy its native projects";
    let folder = native_folder(root, platform, run)?;
    Ok(Parts {
        plugins: plugins::versions(packages, &Patches::read(root)?)?,
        places: vec![folder],
        is_resource: Box::new(is_resource),
        ..Parts::default()
    })
}

fn is_react_native_plugin(package: &Package, platform: Platform) -> bool {
    let has = match platform {
        Platform::Android => package.has("android/build.gradle") || package.has("android/build.gradle.kts"),
        Platform::Ios | Platform::Visionos => package.has_file_ending(".podspec"),
    };
    has && !is_switched_off(package, platform)
}

/// A package with `platforms: { ios: null }` is not linked on that platform.
fn is_switched_off(package: &Package, platform: Platform) -> bool {
    static OFF: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\b(ios|android|visionos)['\x22]?\s*:\s*null\b").ok());
    let texts = ["js", "cjs", "ts"].iter().filter_map(|end| {
        let name = format!("react-native.config.{end}");
        text_file::read(&package.folder.join(&name), &name).ok().flatten()
    });
    let names = |text: String| {
        let found = OFF.iter().flat_map(|off| off.captures_iter(&text));
        found.map(|found| found[1].to_owned()).collect::<Vec<_>>()
    };
    texts.flat_map(names).any(|name| name == platform.as_str())
}

/// Expo: its modules and the packages that React Native's autolinking selects, including indirect dependencies. The
/// native projects may be missing, because they are generated from the configuration.
pub fn expo(root: &Path, platform: Platform) -> Result<Parts, CollectError> {
    if platform == Platform::Visionos {
        return Err(CollectError::Platform("Expo", "visionos"));
    }
    let installed = Installed::open(root)?;
    let runtimes = [needed(&installed, "expo")?, needed(&installed, "react-native")?];
    let mut packages = installed.find(DependencyScope::Everything, &[])?;
    packages.retain(|package| {
        is_expo_module(package, platform).unwrap_or_else(|| is_react_native_plugin(package, platform))
    });
    packages.extend(runtimes);
    let mut parts = Parts {
        plugins: plugins::versions(packages, &Patches::read(root)?)?,
        places: vec![platform.as_str().to_owned()],
        is_resource: Box::new(|path| is_resource(path) || is_picture(path)),
        ..Parts::default()
    };
    let mut named = Vec::new();
    for name in ["app.json", "app.config.json"] {
        let text = text_file::read(&root.join(name), name)?;
        let Some(text) = text else { continue };
        let config: Value = serde_json::from_str(&text).map_err(|error| CollectError::broken(name, error))?;
        let config = expo_config::of_platform(config, platform.as_str());
        named.extend(expo_config::named_files(&config));
        parts.made.push((name.to_owned(), config.to_string().into_bytes()));
    }
    for name in ["app.config.ts", "app.config.js", "app.config.cjs", "app.config.mjs"] {
        if let Some(text) = text_file::read(&root.join(name), name)? {
            named.extend(expo_config::named_in_script(&text));
            parts.places.push(name.to_owned());
        }
    }
    parts.places.extend(named.into_iter().flat_map(|name| {
        let ends = ["", ".js", ".ts", ".cjs", ".mjs"];
        ends.map(|end| format!("{name}{end}"))
            .into_iter()
            .filter(|name| root.join(name).is_file())
    }));
    Ok(parts)
}

/// `None` when the package is not an Expo module.
fn is_expo_module(package: &Package, platform: Platform) -> Option<bool> {
    const CONFIG: &str = "expo-module.config.json";
    let config = text_file::json(&package.folder.join(CONFIG), CONFIG).ok().flatten()?;
    let own: &[&str] = match platform {
        Platform::Android => &["android"],
        Platform::Ios | Platform::Visionos => &["ios", "apple"],
    };
    let platforms = config["platforms"].as_array();
    Some(platforms.is_none_or(|names| names.iter().any(|name| own.iter().any(|own| name == own))))
}

/// The icons and splash screens that a configuration names.
fn is_picture(path: &str) -> bool {
    ["png", "jpg", "jpeg", "webp", "svg", "gif"]
        .iter()
        .any(|end| path.ends_with(&format!(".{end}")))
}

/// A package that every app of this framework needs.
fn needed(installed: &Installed, name: &str) -> Result<Package, CollectError> {
    installed.find_package(name)?.ok_or_else(|| installed.missing(name))
}

/// The directory of the native project, which `run` generates.
fn native_folder(root: &Path, platform: Platform, run: &'static str) -> Result<String, CollectError> {
    let folder = platform.as_str();
    if root.join(folder).is_dir() {
        return Ok(folder.to_owned());
    }
    Err(CollectError::NoFolder {
        folder: folder.to_owned(),
        run,
    })
}
