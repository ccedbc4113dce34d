//! The native parts of plain Gradle and Xcode projects: no plugins, but the whole project.

use std::path::Path;

use super::parts::{Parts, is_resource};
use crate::framework::{Framework, gradle_root, xcode_root};
use crate::source::Source;

/// Collects the native parts of the project.
pub fn parts(root: &Path, framework: Framework) -> Parts {
    let source = Source::new(root);
    let place = match framework {
        Framework::Gradle => gradle_root(&source, ""),
        _ => xcode_root(&source, ""),
    };
    Parts {
        places: vec![place.unwrap_or_default().to_owned()],
        is_resource: Box::new(is_resource),
        ..Parts::default()
    }
}
