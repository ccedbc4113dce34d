//! The versions of native packages, as in a document.

use std::collections::BTreeMap;
use std::path::Path;

use super::content::hashes;
use super::generated::is_script;
use super::installed::Package;
use super::patches::Patches;
use super::problem::CollectError;
use super::tree::Tree;
use super::walk::Walk;

/// Names and versions, as in a document.
pub type Plugins = BTreeMap<String, String>;

/// The document entries of these packages.
///
/// # Errors
/// A file of a local package cannot be read.
pub fn versions(packages: impl IntoIterator<Item = Package>, patches: &Patches) -> Result<Plugins, CollectError> {
    let one = |package: Package| {
        let version = version(&package, patches)?;
        Ok((package.name, version))
    };
    packages.into_iter().map(one).collect()
}

fn version(package: &Package, patches: &Patches) -> Result<String, CollectError> {
    let version = &package.version;
    if package.is_local() {
        return Ok(format!(
            "{version}+src.{}",
            source_digest(&package.name, &package.folder)?
        ));
    }
    Ok(match patches.digest(&package.name) {
        Some(digest) => format!("{version}+patch.{digest}"),
        None => version.clone(),
    })
}

/// The first 12 hex digits of the hash of the native files in the directory of a package.
///
/// # Errors
/// A file cannot be read. The error begins with the name of the package.
pub fn source_digest(name: &str, folder: &Path) -> Result<String, CollectError> {
    let digest = || {
        let mut walk = Walk::new(folder, &[])?;
        walk.add("")?;
        let files: Vec<_> = walk.files().into_iter().filter(|file| !is_script(&file.path)).collect();
        let mut tree = Tree::default();
        for (file, hashes) in files.iter().zip(hashes(&files)?) {
            tree.add(&file.path, hashes.first);
        }
        Ok(tree.hash()[..12].to_owned())
    };
    digest().map_err(|error: CollectError| error.in_package(name))
}
