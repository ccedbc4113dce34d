//! The native parts of NativeScript projects: plugins with native content, the app resources, and the native source
//! that the configuration names.

use std::path::Path;

use launchway_domain::platform::Platform;

use super::installed::{DependencyScope, Installed, Package};
use super::parts::Parts;
use super::patches::Patches;
use super::plugins;
use super::problem::CollectError;
use super::text_file;
use crate::native_version::scan::{Form, assigned};

const CORE: &str = "@nativescript/core";
const CONFIGS: [&str; 2] = ["nativescript.config.ts", "nativescript.config.js"];

/// Collects the native parts of the project.
pub fn parts(root: &Path, platform: Platform) -> Result<Parts, CollectError> {
    let installed = Installed::open(root)?;
    let core = installed.find_package(CORE)?.ok_or_else(|| installed.missing(CORE))?;
    let runtime = runtime(&installed, platform)?;
    let mut packages = installed.find(DependencyScope::Production, &others(platform))?;
    packages.retain(|package| has_native_content(package, platform));
    packages.extend([core, runtime]);
    let config = config(root)?;
    let resources = resources(root, config.as_deref().unwrap_or_default(), platform)?;
    let below = format!("{resources}/");
    let mut parts = Parts {
        plugins: plugins::versions(packages, &Patches::read(root)?)?,
        places: vec![resources],
        is_resource: Box::new(move |path| path.starts_with(&below)),
        ..Parts::default()
    };
    if let Some(block) = config.and_then(|text| block(&text, platform.as_str()).map(str::to_owned)) {
        parts.patterns = native_source(&block)?;
        // It also contains Swift packages and settings of the runtime.
        parts.made.push((CONFIGS[0].to_owned(), block.into_bytes()));
    }
    Ok(parts)
}

const fn runtime_name(platform: Platform) -> &'static str {
    match platform {
        Platform::Android => "@nativescript/android",
        Platform::Ios => "@nativescript/ios",
        Platform::Visionos => "@nativescript/visionos",
    }
}

/// The runtimes of the other platforms, which this one does not need.
fn others(platform: Platform) -> Vec<&'static str> {
    let others = Platform::ALL.into_iter().filter(|other| *other != platform);
    others.map(runtime_name).collect()
}

fn runtime(installed: &Installed, platform: Platform) -> Result<Package, CollectError> {
    let name = runtime_name(platform);
    let run = match platform {
        Platform::Android => "ns platform add android",
        Platform::Ios => "ns platform add ios",
        Platform::Visionos => "ns platform add visionos",
    };
    let listed = ["dependencies", "devDependencies"]
        .iter()
        .any(|group| installed.manifest()[*group].get(name).is_some());
    installed.find_package(name)?.ok_or_else(|| match listed {
        true => installed.not_installed(name),
        false => CollectError::NotInstalled {
            what: name.to_owned(),
            run: run.to_owned(),
        },
    })
}

/// As in NativeScript's tools, an app for visionOS uses the content for iOS.
fn has_native_content(package: &Package, platform: Platform) -> bool {
    let has = |name: &str| {
        let entries = std::fs::read_dir(package.folder.join("platforms").join(name));
        entries.is_ok_and(|mut entries| entries.next().is_some())
    };
    match platform {
        Platform::Android => has("android"),
        Platform::Ios => has("ios"),
        Platform::Visionos => has("visionos") || has("ios"),
    }
}

fn config(root: &Path) -> Result<Option<String>, CollectError> {
    for name in CONFIGS {
        if let Some(text) = text_file::read(&root.join(name), name)? {
            return Ok(Some(text.replace("\r\n", "\n")));
        }
    }
    Ok(None)
}

/// The directory of a platform's app resources: `App_Resources/Android`, unless the configuration names another.
pub fn resources(root: &Path, config: &str, platform: Platform) -> Result<String, CollectError> {
    let setting = assigned(config, "appResourcesPath", Form::Quoted).into_iter().next();
    let setting = setting.unwrap_or_else(|| "App_Resources".to_owned());
    let folder = setting.trim_start_matches("./").trim_end_matches('/');
    if folder.split('/').any(|part| part == "..") || folder.starts_with('/') {
        return Err(leads_out(setting.clone()));
    }
    Ok(match platform {
        Platform::Android => format!("{folder}/Android"),
        Platform::Ios => format!("{folder}/iOS"),
        Platform::Visionos if root.join(folder).join("visionOS").is_dir() => format!("{folder}/visionOS"),
        Platform::Visionos => format!("{folder}/iOS"),
    })
}

/// Whether the project has its own app resources for a platform.
pub fn has_resources(root: &Path, platform: Platform) -> Result<bool, CollectError> {
    let config = config(root)?.unwrap_or_default();
    let place = resources(root, &config, platform)?;
    let is_own = platform != Platform::Visionos || place.ends_with("visionOS");
    Ok(is_own && root.join(place).is_dir())
}

fn leads_out(pattern: String) -> CollectError {
    CollectError::Pattern {
        pattern,
        place: CONFIGS[0],
        problem: "is outside the project",
    }
}

/// The block after `name:`, including its braces.
fn block<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let starts = text.match_indices(name).map(|(at, _)| at);
    starts.into_iter().find_map(|at| {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let rest = text[at + name.len()..].trim_start_matches(['"', '\'']).trim_start();
        let rest = rest.strip_prefix(':')?.trim_start();
        let whole = !text[..at].ends_with(is_word) && rest.starts_with('{');
        whole.then(|| balanced(rest)).flatten()
    })
}

/// The text up to the brace that closes the first one. Braces in strings and comments do not count.
fn balanced(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return text.get(..=at);
                }
            }
            '"' | '\'' | '`' => loop {
                match letters.next()?.1 {
                    '\\' => drop(letters.next()),
                    end if end == letter => break,
                    _ => {}
                }
            },
            '/' if text[at..].starts_with("//") => {
                letters.find(|(_, letter)| *letter == '\n')?;
            }
            _ => {}
        }
    }
    None
}

/// The patterns of `NativeSource: [{ name, path }]`.
fn native_source(block: &str) -> Result<Vec<String>, CollectError> {
    let Some((_, rest)) = block.split_once("NativeSource") else {
        return Ok(Vec::new());
    };
    let list = rest.split(']').next().unwrap_or(rest);
    let paths = assigned(list, "path", Form::Quoted);
    let pattern = |path: String| {
        let inner = path.trim_start_matches("./");
        if inner.split('/').any(|part| part == "..") || inner.starts_with('/') {
            return Err(leads_out(path.clone()));
        }
        Ok(format!("/{inner}"))
    };
    paths.into_iter().map(pattern).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_block_of_a_platform() {
        let text =
            "export default {\n  id: 'ios',\n  ios: {\n    a: '}', // }\n    b: { c: 1 },\n  },\n  android: {}\n}";
        assert_eq!(block(text, "ios"), Some("{\n    a: '}', // }\n    b: { c: 1 },\n  }"));
        assert_eq!(block(text, "android"), Some("{}"));
        assert_eq!(block(text, "visionos"), None);
        for broken in ["ios: {", "ios: { a: '", "ios", "ios: [", "ios: { } }"] {
            let _ = block(broken, "ios");
        }
    }

    #[test]
    fn reads_native_source() {
        let block =
            "{ NativeSource: [{ name: 'A', path: './src/native/**/*.swift' }, { name: 'B', path: 'b.m' }], x: [] }";
        assert_eq!(
            native_source(block),
            Ok(vec!["/src/native/**/*.swift".to_owned(), "/b.m".to_owned()])
        );
        assert_eq!(native_source("{}"), Ok(Vec::new()));
        let out = native_source("{ NativeSource: [{ name: 'A', path: '../a.swift' }] }");
        assert!(matches!(out, Err(CollectError::Pattern { .. })), "{out:?}");
    }
}
