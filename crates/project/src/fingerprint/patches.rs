//! Patched packages, whose content changes without their version. Supports patch-package, pnpm, Bun and Yarn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::content::fold_line_ends;
use super::generated::is_script;
use super::problem::CollectError;
use super::text_file;

/// The texts of patches, by package.
#[derive(Debug, Default)]
pub struct Patches(BTreeMap<String, BTreeSet<Vec<u8>>>);

impl Patches {
    /// Reads the patches of the project in `root`, and of its workspace.
    ///
    /// # Errors
    /// A patch, or the file that names it, cannot be read.
    pub fn read(root: &Path) -> Result<Self, CollectError> {
        let mut patches = Self::default();
        patches.read_in(root)?;
        if let Some(top) = workspace(root)? {
            patches.read_in(top)?;
        }
        Ok(patches)
    }

    /// The first 12 hex digits of the hash of a package's patches; `None` when no patch touches native code.
    pub fn digest(&self, package: &str) -> Option<String> {
        let texts = self.0.get(package)?;
        let mut hash = Sha256::new();
        texts.iter().for_each(|text| hash.update(text));
        Some(hex::encode(hash.finalize())[..12].to_owned())
    }

    fn read_in(&mut self, folder: &Path) -> Result<(), CollectError> {
        for entry in std::fs::read_dir(folder.join("patches"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(package) = of_patch_package(&name) {
                self.add(&package, folder, &format!("patches/{name}"))?;
            }
        }
        let manifest = text_file::json(&folder.join("package.json"), "package.json")?.unwrap_or_default();
        for listed in [
            &manifest["pnpm"]["patchedDependencies"],
            &manifest["patchedDependencies"],
        ] {
            for (package, path) in listed.as_object().into_iter().flatten() {
                if let Some(path) = path.as_str() {
                    self.add(without_version(package), folder, path)?;
                }
            }
        }
        for group in ["dependencies", "devDependencies", "resolutions"] {
            for (package, wanted) in manifest[group].as_object().into_iter().flatten() {
                if let Some(path) = of_yarn(wanted) {
                    self.add(without_version(package), folder, path)?;
                }
            }
        }
        let workspace = text_file::read(&folder.join(PNPM_WORKSPACE), PNPM_WORKSPACE)?.unwrap_or_default();
        for (package, path) in of_pnpm_workspace(&workspace) {
            self.add(without_version(package), folder, path)?;
        }
        Ok(())
    }

    fn add(&mut self, package: &str, folder: &Path, path: &str) -> Result<(), CollectError> {
        let path = path.trim_start_matches("./");
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err(CollectError::broken(path, "this patch is outside the project"));
        }
        let Some(text) = text_file::read(&folder.join(path), path)? else {
            return Err(CollectError::broken(
                path,
                "the project refers to this patch, which does not exist",
            ));
        };
        if touches_native_code(&text) {
            self.0
                .entry(package.to_owned())
                .or_default()
                .insert(fold_line_ends(text.as_bytes()));
        }
        Ok(())
    }
}

const PNPM_WORKSPACE: &str = "pnpm-workspace.yaml";

/// The nearest directory above that declares a workspace.
fn workspace(root: &Path) -> Result<Option<&Path>, CollectError> {
    for above in root.ancestors().skip(1) {
        let manifest = text_file::json(&above.join("package.json"), "the package.json of the workspace")?;
        if above.join(PNPM_WORKSPACE).is_file() || manifest.is_some_and(|manifest| manifest.get("workspaces").is_some())
        {
            return Ok(Some(above));
        }
    }
    Ok(None)
}

/// The package of `@scope+name+1.0.0.patch`, `name+1.0.0+001+why.patch`, or `outer++name+1.0.0.patch` for a nested one.
fn of_patch_package(name: &str) -> Option<String> {
    let stem = name.strip_suffix(".patch")?;
    let innermost = stem.rsplit("++").next().unwrap_or(stem);
    let mut parts = innermost.split('+');
    let first = parts.next().filter(|first| !first.is_empty())?;
    let package = if first.starts_with('@') {
        format!("{first}/{}", parts.next()?)
    } else {
        first.to_owned()
    };
    // Without a version, the file name follows another convention.
    parts.next().map(|_| package)
}

/// The path in `patch:name@npm%3A1.0.0#~/.yarn/patches/name.patch`, where `~` is the root of the workspace.
fn of_yarn(wanted: &Value) -> Option<&str> {
    let (_, place) = wanted.as_str()?.strip_prefix("patch:")?.split_once('#')?;
    let place = place.split("::").next().unwrap_or(place);
    // `builtin<…>` are Yarn's own patches.
    let place = place
        .trim_start_matches("optional!")
        .trim_start_matches("~/")
        .trim_start_matches("./");
    (!place.contains('<')).then_some(place)
}

/// The entries of `patchedDependencies:`.
fn of_pnpm_workspace<'t>(text: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let lines = text
        .lines()
        .skip_while(|line| line.trim_end() != "patchedDependencies:")
        .skip(1);
    let below = lines.take_while(|line| line.trim().is_empty() || line.starts_with([' ', '\t', '#']));
    below.filter_map(|line| {
        let line = line.trim();
        // The first colon before a space: a path or a quoted name may contain colons.
        let (name, path) = line.split_once(": ")?;
        let plain = |text: &'t str| text.trim().trim_matches(['"', '\'']);
        (!line.starts_with('#')).then(|| (plain(name), plain(path)))
    })
}

/// The package of a specifier: `@scope/name` for `@scope/name@1.0.0`.
fn without_version(package: &str) -> &str {
    match package.rfind('@') {
        Some(at) if at > 0 => &package[..at],
        _ => package,
    }
}

/// Whether a patch changes more than scripts. A patch that names no files counts as doing so.
fn touches_native_code(text: &str) -> bool {
    let named = |line: &str| {
        let path = ["+++ b/", "--- a/"].iter().find_map(|start| line.strip_prefix(start))?;
        let path = path.split('\t').next().unwrap_or(path).trim_end();
        let inner = path.rsplit_once("node_modules/").map_or(path, |(_, inner)| inner);
        Some(inner.to_owned())
    };
    let mut paths = text.lines().filter_map(named).peekable();
    paths.peek().is_none() || paths.any(|path| !is_script(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_patches() {
        let rows = [
            ("name+1.0.0.patch", Some("name")),
            ("@scope+name+1.0.0.patch", Some("@scope/name")),
            ("name+1.0.0+001+why.patch", Some("name")),
            ("outer++@scope+name+1.0.0.dev.patch", Some("@scope/name")),
            ("@scope__name@1.0.0.patch", None),
            ("name.patch", None),
            ("@scope+name.patch", None),
            ("+1.0.0.patch", None),
            ("name+1.0.0.txt", None),
        ];
        for (name, package) in rows {
            assert_eq!(of_patch_package(name).as_deref(), package, "{name}");
        }
        assert_eq!(without_version("@scope/name@1.0.0"), "@scope/name");
        assert_eq!(without_version("@scope/name"), "@scope/name");
        assert_eq!(without_version("name@1"), "name");
        let yarn = Value::from("patch:name@npm%3A1.0.0#~/.yarn/patches/name.patch::version=1");
        assert_eq!(of_yarn(&yarn), Some(".yarn/patches/name.patch"));
        assert_eq!(of_yarn(&Value::from("patch:a@1#optional!builtin<compat/a>")), None);
        let workspace = "packages:\n  - a\npatchedDependencies:\n  '@a/b@1.0.0': patches/ab.patch\n  # why\n  c: \
                         \"patches/c.patch\"\nother: x\n";
        let found: Vec<_> = of_pnpm_workspace(workspace).collect();
        assert_eq!(found, [("@a/b@1.0.0", "patches/ab.patch"), ("c", "patches/c.patch")]);
    }

    #[test]
    fn patches_of_scripts_do_not_count() {
        let of = |path: &str| touches_native_code(&format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n"));
        assert!(!of("node_modules/@a/b/lib/index.js") && !of("dist/index.d.ts") && !of("README.md"));
        assert!(of("node_modules/@a/b/android/src/A.java") && of("ios/A.m") && of("src/NativeA.ts"));
        assert!(touches_native_code("nothing that is known"));
    }
}
