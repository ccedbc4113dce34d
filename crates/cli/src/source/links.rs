//! Checks that the links of a source stay in it. A runner rejects the others; here they are reported before anything is
//! sent.

use std::path::{Component, Path};

/// Whether the link `name`, relative to the source, leads to a place in the source. `root` is the resolved source,
/// `path` the path of the link.
pub(super) fn stays_inside(name: &str, target: &Path, root: &Path, path: &Path) -> bool {
    let mut depth = name.matches('/').count();
    for part in target.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(_) => depth += 1,
            Component::ParentDir if depth > 0 => depth -= 1,
            // Absolute paths differ on another machine, even when they lead to the source here.
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    // The target may lead through other links. A dangling link is judged by its text alone.
    std::fs::canonicalize(path).map_or(true, |real| real.starts_with(root))
}
