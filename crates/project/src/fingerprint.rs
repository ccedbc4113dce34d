//! The fingerprint of a project: its native parts, found in its directory (`docs/reference/fingerprints.md`). The
//! document, its hash and the difference between two documents are in `launchway_domain::fingerprint`.
//!
//! Nothing of the project is executed. Where only an execution would show the value, such as in a configuration script,
//! the text of the file counts.

mod content;
pub mod embed;
mod expo_config;
mod flutter;
mod generated;
mod installed;
mod javascript;
mod mask;
mod native;
mod nativescript;
mod parts;
mod patches;
mod plugins;
mod problem;
mod pubspec;
mod signing;
mod text_file;
mod tree;
mod walk;

use std::fs;
use std::path::Path;

use launchway_domain::fingerprint::{
    Algorithm, Fingerprint as Hash, FingerprintDocument, Framework as DocumentFramework,
};
use launchway_domain::platform::Platform;

pub use self::problem::CollectError;
use crate::file::Fingerprint;
use crate::fingerprint::tree::Tree;
use crate::fingerprint::walk::{Walk, literal_start, patterns};
use crate::framework::{self, Framework};
use crate::packages::Packages;
use crate::resolve::AppLocation;
use crate::source::Source;

/// The framework of the app in `root` for `platform`.
///
/// # Errors
/// No framework is recognized, or `package.json` is invalid and hides it.
pub fn framework(root: &Path, platform: Platform) -> Result<Framework, CollectError> {
    text_file::json(&root.join("package.json"), "package.json")?;
    let source = Source::new(root);
    let packages = Packages::read(&source, "");
    match framework::detect(&source, "", packages.as_ref(), platform) {
        Some(Framework::Gradle) if platform != Platform::Android => Err(CollectError::NoApp(platform.as_str())),
        Some(Framework::Xcode) if platform == Platform::Android => Err(CollectError::NoApp(platform.as_str())),
        found => found.ok_or(CollectError::NoApp(platform.as_str())),
    }
}

/// Whether the app in `root` has a native project for `platform`, or a build would generate one.
///
/// # Errors
/// `package.json` is invalid, or the configuration of NativeScript names a path outside the project.
pub fn has_project(root: &Path, platform: Platform) -> Result<bool, CollectError> {
    let source = Source::new(root);
    match framework(root, platform) {
        Err(CollectError::NoApp(_)) => Ok(false),
        Err(error) => Err(error),
        Ok(Framework::NativeScript) => nativescript::has_resources(root, platform),
        Ok(Framework::Expo) => Ok(platform != Platform::Visionos),
        Ok(Framework::Gradle | Framework::Xcode) => Ok(true),
        Ok(_) => Ok(source.has_directory(platform.as_str())),
    }
}

/// The fingerprint documents of a project, one for each algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documents {
    /// By `lwfp-1`, the algorithm that every server and every update knows. Apps embed its hash.
    pub first: FingerprintDocument,
    /// By `lwfp-2`, which ignores differences that only concern signing.
    pub second: FingerprintDocument,
}

impl Documents {
    /// The hash that apps embed.
    pub fn hash(&self) -> Hash {
        self.first.hash()
    }
}

/// The `lwfp-1` document of the project in `root`, whose path is trusted. `rules` is `[fingerprint]` of
/// `launchway.toml`.
///
/// # Errors
/// The problem of the project, and how to solve it.
pub fn collect(
    root: &Path,
    framework: Framework,
    platform: Platform,
    rules: &Fingerprint,
) -> Result<FingerprintDocument, CollectError> {
    documents(root, framework, platform, rules).map(|documents| documents.first)
}

/// The trees of one algorithm.
#[derive(Default)]
struct Trees<'p> {
    resources: Tree<'p>,
    native: Tree<'p>,
}

/// The documents of all algorithms for the project in `root`, in one pass over its files.
///
/// # Errors
/// The problem of the project, and how to solve it.
pub fn documents(
    root: &Path,
    framework: Framework,
    platform: Platform,
    rules: &Fingerprint,
) -> Result<Documents, CollectError> {
    let root = fs::canonicalize(or_current_dir(root))
        .map_err(|error| CollectError::unreadable(root.display().to_string(), error))?;
    let parts = match framework {
        Framework::NativeScript => nativescript::parts(&root, platform)?,
        Framework::Capacitor => javascript::capacitor(&root, platform)?,
        Framework::ReactNative => javascript::react_native(&root, platform)?,
        Framework::Expo => javascript::expo(&root, platform)?,
        Framework::Flutter => flutter::parts(&root, platform)?,
        Framework::Gradle | Framework::Xcode => native::parts(&root, framework),
    };

    let mut walk = Walk::new(&root, &rules.exclude)?;
    for place in &parts.places {
        walk.add(place)?;
    }
    let mut files = walk.files();
    let more: Vec<String> = parts.patterns.iter().chain(&rules.include).cloned().collect();
    if !more.is_empty() {
        let wanted = patterns(&more)?;
        let mut walk = Walk::new(&root, &rules.exclude)?;
        for pattern in &more {
            walk.add(literal_start(pattern))?;
        }
        let is_wanted = |path: &str| wanted.matched_path_or_any_parents(path, false).is_ignore();
        files.extend(walk.files().into_iter().filter(|file| is_wanted(&file.path)));
        files.sort_by(|this, that| this.path.cmp(&that.path));
        files.dedup();
    }

    let (mut first, mut second) = (Trees::default(), Trees::default());
    for (file, hashes) in files.iter().zip(content::hashes(&files)?) {
        let is_resource = (parts.is_resource)(&file.path);
        first.add(&file.path, Some(hashes.first), is_resource);
        second.add(&file.path, hashes.second, is_resource);
    }
    for (name, text) in &parts.made {
        let hashes = content::hash_bytes(name, text);
        first.add(name, Some(hashes.first), false);
        second.add(name, hashes.second, false);
    }
    let document = |algorithm, trees: Trees<'_>| {
        FingerprintDocument::new(
            algorithm,
            document_framework(framework),
            platform,
            parts.plugins.clone(),
            trees.resources.hash(),
            trees.native.hash(),
        )
    };
    Ok(Documents {
        first: document(Algorithm::Lwfp1, first)?,
        second: document(Algorithm::Lwfp2, second)?,
    })
}

impl<'p> Trees<'p> {
    fn add(&mut self, path: &'p str, hash: Option<content::Hash>, is_resource: bool) {
        let tree = if is_resource {
            &mut self.resources
        } else {
            &mut self.native
        };
        if let Some(hash) = hash {
            tree.add(path, hash);
        }
    }
}

/// The documents of the app at `place` in the project in `root`, and its framework.
///
/// # Errors
/// The problem of the project, and how to solve it.
pub fn app_documents(
    root: &Path,
    place: &AppLocation,
    platform: Platform,
    rules: &Fingerprint,
) -> Result<(Framework, Documents), CollectError> {
    let root = root.join(&place.directory);
    let framework = match place.framework {
        Some(framework) => framework,
        None => self::framework(&root, platform)?,
    };
    Ok((framework, documents(&root, framework, platform, rules)?))
}

/// The rules for a native project that another tool generates from the configuration, so that its files do not count.
pub fn without_native_project(rules: &Fingerprint, platform: Platform) -> Fingerprint {
    let mut rules = rules.clone();
    rules.exclude.push(format!("/{platform}"));
    rules
}

/// The framework as documents name it. Gradle and Xcode projects share one name.
const fn document_framework(framework: Framework) -> DocumentFramework {
    match framework {
        Framework::NativeScript => DocumentFramework::NativeScript,
        Framework::Capacitor => DocumentFramework::Capacitor,
        Framework::ReactNative => DocumentFramework::ReactNative,
        Framework::Expo => DocumentFramework::Expo,
        Framework::Flutter => DocumentFramework::Flutter,
        Framework::Gradle | Framework::Xcode => DocumentFramework::Native,
    }
}

/// The root, where the empty path is the current directory.
fn or_current_dir(root: &Path) -> &Path {
    if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    }
}

#[cfg(test)]
mod tests;
