//! Validates the names of archive entries and converts them to paths.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::SourceError;
use crate::inside::MAX_DEPTH;

const MAX_BYTES: usize = 4096;
const MAX_PART_BYTES: usize = 255;

/// The path below the source for an entry name; empty for the source itself.
///
/// # Errors
/// The name leads out, or is not a path.
pub(super) fn path_of(name: &[u8]) -> Result<PathBuf, SourceError> {
    let refuse = |problem: &str| Err(SourceError::entry(name, problem));
    if name.len() > MAX_BYTES {
        return refuse("has a name that is too long");
    }
    if name.contains(&0) {
        return refuse("has a NUL in its name");
    }
    if name.starts_with(b"/") {
        return refuse("has an absolute path");
    }
    // Some Windows programs write archives with backslashes: such a name would become one strange file.
    if name.contains(&b'\\') {
        return refuse("has a backslash in its name");
    }
    let mut path = PathBuf::new();
    for part in name.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => return refuse("is outside the source"),
            part if part.len() > MAX_PART_BYTES => return refuse("has a name that is too long"),
            part => path.push(OsStr::from_bytes(part)),
        }
    }
    if path.components().count() > MAX_DEPTH {
        return refuse("is nested too deeply");
    }
    Ok(path)
}

/// Checks the target of a link by its text alone: it is relative and does not climb above the source.
/// [`super::check_links`] resolves links that lead through one another.
///
/// # Errors
/// The target leads out.
pub(super) fn check_target(name: &[u8], link: &Path, target: &[u8]) -> Result<(), SourceError> {
    let refuse = |problem: &str| Err(SourceError::entry(name, problem));
    if target.is_empty() || target.contains(&0) || target.len() > MAX_BYTES {
        return refuse("is a link without a target");
    }
    if target.starts_with(b"/") {
        return refuse("is a link to an absolute path");
    }
    let mut depth = link.components().count().saturating_sub(1);
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if depth == 0 => return refuse("is a link to outside the source"),
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        for (name, expected) in [
            ("a/b", "a/b"),
            ("./a//b/", "a/b"),
            (".", ""),
            ("", ""),
            ("a/.b", "a/.b"),
            ("...", "..."),
        ] {
            assert_eq!(path_of(name.as_bytes()).unwrap(), Path::new(expected), "{name}");
        }
        let long = "x".repeat(256);
        let longer = "x/".repeat(2049);
        let deep = "x/".repeat(MAX_DEPTH + 1);
        for name in [
            "/a", "//a", "..", "../a", "a/..", "a/../b", "./../a", "a\\b", "a\0b", &long, &longer, &deep,
        ] {
            assert!(path_of(name.as_bytes()).is_err(), "{name}");
        }
        assert!(path_of(b"\xff\xfe").is_ok());
    }

    #[test]
    fn targets_stay_inside() {
        for (link, target, good) in [
            ("a/link", "../b", true),
            ("a/link", "../../b", false),
            ("link", "b/../c", true),
            ("link", "b/../../c", false),
            ("link", "..", false),
            ("a/link", "..", true),
            ("link", "/etc/passwd", false),
            ("link", "", false),
            ("link", "a\0", false),
        ] {
            let checked = check_target(link.as_bytes(), Path::new(link), target.as_bytes());
            assert_eq!(checked.is_ok(), good, "{link} -> {target}");
        }
    }
}
