//! Which links stay in a source. A runner refuses the others; here they are named before anything is sent.

use std::path::{Component, Path};

/// Whether the link `name`, relative to the source, leads to a place in it. `root` is the source without links in its way,
/// `path` where the link is.
pub(super) fn stays_inside(name: &str, target: &Path, root: &Path, path: &Path) -> bool {
    let mut depth = name.matches('/').count();
    for part in target.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(_) => depth += 1,
            Component::ParentDir if depth > 0 => depth -= 1,
            // Absolute paths are others on another machine, even when they lead to the source here.
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    // Its way may go through other links. One that leads nowhere yet is judged by its text alone.
    std::fs::canonicalize(path).map_or(true, |real| real.starts_with(root))
}
