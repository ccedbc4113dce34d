//! Finds files below a directory by a pattern: `*` is any part of a name, `**` any folders. No link is followed.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::inside::{Entry, Inside, Kind, MAX_DEPTH};

/// The regular files that a pattern names, each once, sorted.
///
/// # Errors
/// A directory cannot be read.
pub fn files(inside: &Inside, pattern: &str) -> io::Result<Vec<PathBuf>> {
    let parts: Vec<&str> = pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let mut found = Vec::new();
    search(inside, &mut PathBuf::new(), &parts, &mut found)?;
    found.sort();
    found.dedup();
    Ok(found)
}

fn search(here: &Inside, path: &mut PathBuf, parts: &[&str], found: &mut Vec<PathBuf>) -> io::Result<()> {
    let Some((first, rest)) = parts.split_first() else {
        return Ok(());
    };
    if path.components().count() > MAX_DEPTH {
        return Ok(());
    }
    if *first == "**" {
        // No folder at all, or one more.
        search(here, path, rest, found)?;
    }
    for entry in here.entries()? {
        let next = match *first {
            "**" => parts,
            name if fits(name.as_bytes(), entry.name.as_bytes()) => rest,
            _ => continue,
        };
        path.push(&entry.name);
        step(here, path, &entry, next, found)?;
        path.pop();
    }
    Ok(())
}

fn step(here: &Inside, path: &mut PathBuf, entry: &Entry, rest: &[&str], found: &mut Vec<PathBuf>) -> io::Result<()> {
    let whole = rest.is_empty() || rest == ["**"];
    match entry.kind {
        Kind::File if whole => found.push(path.clone()),
        Kind::Directory if !rest.is_empty() => match here.enter(Path::new(&entry.name)) {
            Ok(inner) => search(&inner, path, rest, found)?,
            // A folder that the build closed to itself holds nothing that it promised.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        },
        _ => {}
    }
    Ok(())
}

/// Whether a name fits a pattern without folders. Takes time in proportion to both lengths, not more.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut here) = (0, 0);
    // Where the last star was, and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    while here < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(byte) if *byte == name[here] => {
                at += 1;
                here += 1;
            }
            _ => match &mut star {
                Some((starred, taken)) => {
                    *taken += 1;
                    at = *starred + 1;
                    here = *taken;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// The name of a file for people and for the wire: text without control characters.
pub fn shown_name(name: &OsStr) -> String {
    let shown = name.to_string_lossy();
    shown
        .chars()
        .map(|letter| if letter.is_control() { '_' } else { letter })
        .take(255)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn finds_what_the_pattern_names() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("root");
        for file in [
            "a.apk",
            "out/b.apk",
            "out/b.txt",
            "out/x/c.apk",
            "out/x/y/d.apk",
            "out/.e.apk",
        ] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        fs::create_dir(root.join("folder.apk")).unwrap();
        fs::write(directory.path().join("secret.apk"), "").unwrap();
        symlink("../secret.apk", root.join("link.apk")).unwrap();
        symlink("..", root.join("up")).unwrap();
        let inside = Inside::open(&root).unwrap();
        for (pattern, expected) in [
            ("a.apk", &["a.apk"][..]),
            ("*.apk", &["a.apk"]),
            ("out/*.apk", &["out/.e.apk", "out/b.apk"]),
            (
                "out/**/*.apk",
                &["out/.e.apk", "out/b.apk", "out/x/c.apk", "out/x/y/d.apk"],
            ),
            ("**/d.apk", &["out/x/y/d.apk"]),
            ("**/x/**/*.apk", &["out/x/c.apk", "out/x/y/d.apk"]),
            ("out/x/**", &["out/x/c.apk", "out/x/y/d.apk"]),
            ("o*t/b.*", &["out/b.apk", "out/b.txt"]),
            ("up/secret.apk", &[]),
            ("../secret.apk", &[]),
            ("link.apk", &[]),
            ("nothing", &[]),
            ("out", &[]),
        ] {
            let found = files(&inside, pattern).unwrap();
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(found, expected, "{pattern}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let name = vec![b'a'; 255];
        let pattern = [b"*a".repeat(100), b"b".to_vec()].concat();
        assert!(!fits(&pattern, &name));
    }

    /// The meaning of a pattern, said in the simplest way.
    fn means(pattern: &[u8], name: &[u8]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((b'*', rest)) => (0..=name.len()).any(|taken| means(rest, &name[taken..])),
            Some((byte, rest)) => name
                .split_first()
                .is_some_and(|(first, name)| first == byte && means(rest, name)),
        }
    }

    proptest! {
        #[test]
        fn fits_as_the_pattern_means(pattern in "[ab*]{0,8}", name in "[ab]{0,8}") {
            prop_assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), means(pattern.as_bytes(), name.as_bytes()));
        }
    }
}
