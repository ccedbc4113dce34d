//! The fingerprint of a project: what is native in it, found in its folder (`docs/reference/fingerprints.md`). The document
//! itself, its hash and the difference between two are in `launchway_domain::fingerprint`.
//!
//! Nothing of the project is run. What cannot be known without running it, such as a configuration that is a script, counts
//! by its text.

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
use crate::fingerprint::walk::{Walk, literal_start, patterns};
use crate::framework::{self, Framework};
use crate::packages::Packages;
use crate::resolve::AppPlace;
use crate::source::Source;

/// The framework of the app in `root` for `platform`.
///
/// # Errors
/// There is none that is known, or `package.json` is broken, which would hide it.
pub fn framework(root: &Path, platform: Platform) -> Result<Framework, CollectError> {
    text_file::json(&root.join("package.json"), "package.json")?;
    let source = Source::new(root);
    let packages = Packages::read(&source, "");
    match framework::recognise(&source, "", packages.as_ref(), platform) {
        Some(Framework::Gradle) if platform != Platform::Android => Err(CollectError::NoApp(platform.as_str())),
        Some(Framework::Xcode) if platform == Platform::Android => Err(CollectError::NoApp(platform.as_str())),
        found => found.ok_or(CollectError::NoApp(platform.as_str())),
    }
}

/// Whether the app in `root` has a native project for `platform`, or would get one when it is built.
///
/// # Errors
/// `package.json` is broken, or the configuration of NativeScript leads out of the project.
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

/// What a project is natively, by each algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documents {
    /// By `lwfp-1`: what apps embed, because every server and every update knows it.
    pub first: FingerprintDocument,
    /// By `lwfp-2`: the same for apps that differ only in what signs them.
    pub second: FingerprintDocument,
}

impl Documents {
    /// The hash that apps embed.
    pub fn hash(&self) -> Hash {
        self.first.hash()
    }
}

/// Makes the `lwfp-1` document of the project in `root`, whose path is trusted. `rules` are `[fingerprint]` of `launchway.toml`.
///
/// # Errors
/// What is wrong with the project, and what to do.
pub fn collect(
    root: &Path,
    framework: Framework,
    platform: Platform,
    rules: &Fingerprint,
) -> Result<FingerprintDocument, CollectError> {
    documents(root, framework, platform, rules).map(|documents| documents.first)
}

/// The lines of the trees of one algorithm.
#[derive(Default)]
struct Trees {
    resources: Vec<String>,
    native: Vec<String>,
}

/// Makes the documents of the project in `root` by each algorithm, in one look at its files.
///
/// # Errors
/// What is wrong with the project, and what to do.
pub fn documents(
    root: &Path,
    framework: Framework,
    platform: Platform,
    rules: &Fingerprint,
) -> Result<Documents, CollectError> {
    let root =
        fs::canonicalize(here(root)).map_err(|error| CollectError::unreadable(root.display().to_string(), error))?;
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
        let hashes = content::of_bytes(name, text);
        first.add(name, Some(hashes.first), false);
        second.add(name, hashes.second, false);
    }
    let document = |algorithm, trees: Trees| {
        FingerprintDocument::new(
            algorithm,
            in_document(framework),
            platform,
            parts.plugins.clone(),
            tree::hash(trees.resources),
            tree::hash(trees.native),
        )
    };
    Ok(Documents {
        first: document(Algorithm::Lwfp1, first)?,
        second: document(Algorithm::Lwfp2, second)?,
    })
}

impl Trees {
    fn add(&mut self, path: &str, hash: Option<content::Hash>, is_resource: bool) {
        let tree = if is_resource {
            &mut self.resources
        } else {
            &mut self.native
        };
        tree.extend(hash.map(|hash| tree::line(path, &hash)));
    }
}

/// Makes the documents of the app at `place` in the project in `root`, and gives what it is made with.
///
/// # Errors
/// What is wrong with the project, and what to do.
pub fn of_app(
    root: &Path,
    place: &AppPlace,
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

/// The rules where the native project was made from the configuration by another tool, so that it does not count.
pub fn without_native_project(rules: &Fingerprint, platform: Platform) -> Fingerprint {
    let mut rules = rules.clone();
    rules.exclude.push(format!("/{platform}"));
    rules
}

/// Documents know plain native projects by one name.
const fn in_document(framework: Framework) -> DocumentFramework {
    match framework {
        Framework::NativeScript => DocumentFramework::NativeScript,
        Framework::Capacitor => DocumentFramework::Capacitor,
        Framework::ReactNative => DocumentFramework::ReactNative,
        Framework::Expo => DocumentFramework::Expo,
        Framework::Flutter => DocumentFramework::Flutter,
        Framework::Gradle | Framework::Xcode => DocumentFramework::Native,
    }
}

/// The empty path is the current folder.
fn here(root: &Path) -> &Path {
    if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    }
}

#[cfg(test)]
mod tests;
