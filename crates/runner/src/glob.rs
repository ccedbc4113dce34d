//! Finds files below a directory by patterns: `*` matches any part of a name, `**` any folders. Links are not followed.
//! The tree is walked once for all patterns, even if a pattern matches a path in many ways, and only where one can match.
//!
//! The crate `globset` does not say whether a pattern can match below a folder, so every folder would be walked. It is what
//! the tests compare with.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::effort::Effort;
use crate::inside::{Entry, Inside, Kind, MAX_DEPTH};

/// The maximum number of components in a pattern: each position in it is a bit.
const MAX_PARTS: usize = 127;

/// The regular files that each pattern matches, sorted. A pattern that matches more than `most` files returns one more
/// than that.
///
/// # Errors
/// A pattern is too long; a directory cannot be read; the effort is used up.
pub fn files(
    inside: &Inside,
    patterns: &[&str],
    most: usize,
    effort: &mut Effort<'_>,
) -> io::Result<Vec<Vec<PathBuf>>> {
    let mut patterns = patterns
        .iter()
        .map(|text| Pattern::new(text))
        .collect::<io::Result<Vec<_>>>()?;
    let starts = patterns.iter().map(|pattern| pattern.reach(1)).collect::<Vec<_>>();
    let mut search = Search {
        patterns: &mut patterns,
        most,
        path: PathBuf::new(),
        effort,
    };
    search.folder(inside, &starts, 0)?;
    let found = patterns.into_iter().map(|mut pattern| {
        pattern.found.sort();
        pattern.found
    });
    Ok(found.collect())
}

/// The positions in a pattern that a path may have reached, one bit each; the last bit is the end of the pattern.
type Places = u128;

struct Pattern {
    parts: Vec<String>,
    found: Vec<PathBuf>,
}

impl Pattern {
    fn new(text: &str) -> io::Result<Pattern> {
        let parts = text.split('/').filter(|part| !part.is_empty() && *part != ".");
        let parts: Vec<String> = parts.map(str::to_owned).collect();
        if parts.len() > MAX_PARTS {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the pattern is too long"));
        }
        let found = Vec::new();
        Ok(Pattern { parts, found })
    }

    /// The positions after one more component of the path.
    fn after(&self, places: Places, name: &[u8]) -> Places {
        let mut next = 0;
        for (at, part) in self.parts.iter().enumerate() {
            let here = 1 << at;
            if places & here == 0 {
                continue;
            }
            if part == "**" {
                next |= here;
            } else if fits(part.as_bytes(), name) {
                next |= here << 1;
            }
        }
        self.reach(next)
    }

    /// Adds the positions behind a `**` that matches no folder.
    fn reach(&self, mut places: Places) -> Places {
        for (at, part) in self.parts.iter().enumerate() {
            if part == "**" && places & (1 << at) != 0 {
                places |= 1 << (at + 1);
            }
        }
        places
    }

    fn end(&self) -> Places {
        1 << self.parts.len()
    }
}

struct Search<'p, 'e, 's> {
    patterns: &'p mut [Pattern],
    most: usize,
    path: PathBuf,
    effort: &'e mut Effort<'s>,
}

impl Search<'_, '_, '_> {
    fn folder(&mut self, here: &Inside, places: &[Places], depth: usize) -> io::Result<()> {
        for entry in here.entries(self.effort)? {
            let each = self.patterns.iter().zip(places);
            let next: Vec<Places> = each
                .map(|(pattern, places)| pattern.after(*places, entry.name.as_bytes()))
                .collect();
            self.path.push(&entry.name);
            self.entry(here, &entry, &next, depth)?;
            self.path.pop();
        }
        Ok(())
    }

    fn entry(&mut self, here: &Inside, entry: &Entry, places: &[Places], depth: usize) -> io::Result<()> {
        match entry.kind {
            Kind::File => {
                for (pattern, places) in self.patterns.iter_mut().zip(places) {
                    if places & pattern.end() != 0 && pattern.found.len() <= self.most {
                        pattern.found.push(self.path.clone());
                    }
                }
                Ok(())
            }
            Kind::Directory if depth < MAX_DEPTH && self.is_open(places) => {
                match here.enter(Path::new(&entry.name)) {
                    Ok(inner) => self.folder(&inner, places, depth + 1),
                    // A folder that the build made unreadable for itself contains no artifacts.
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
                    Err(error) => Err(error),
                }
            }
            _ => Ok(()),
        }
    }

    /// Whether any pattern can match below this folder.
    fn is_open(&self, places: &[Places]) -> bool {
        let mut each = self.patterns.iter().zip(places);
        each.any(|(pattern, places)| places & (pattern.end() - 1) != 0)
    }
}

/// Whether a name matches a pattern without folders, in time proportional to the product of both lengths.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut here) = (0, 0);
    // The position of the last star, and how many bytes of the name it matches.
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

/// The name of a file for messages and the API: text without control characters.
pub fn printable_name(name: &OsStr) -> String {
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
    use crate::stop::Stopper;

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
        let (inside, stopper) = (Inside::open(&root).unwrap(), Stopper::default());
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
            let found = files(&inside, &[pattern, "a.apk"], 100, &mut Effort::new(&stopper, 1000)).unwrap();
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(found, [expected, vec![PathBuf::from("a.apk")]], "{pattern}");
        }
    }

    /// A tree in which each folder has the same two folders.
    fn bush(levels: usize) -> (tempfile::TempDir, Inside) {
        let directory = tempfile::tempdir().unwrap();
        let mut folders = vec![directory.path().to_owned()];
        for _ in 0..levels {
            let both = |folder: &PathBuf| ["a", "b"].map(|name| folder.join(name));
            folders = folders.iter().flat_map(both).collect();
            folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
        }
        fs::write(folders[0].join("file"), "").unwrap();
        let inside = Inside::open(directory.path()).unwrap();
        (directory, inside)
    }

    #[test]
    fn every_folder_is_looked_into_once_however_a_pattern_fits() {
        let (_directory, inside) = bush(7);
        let stopper = Stopper::default();
        // 254 folders and a file. A search that tries every way would not finish.
        for pattern in [
            format!("{}missing", "**/".repeat(80)),
            format!("{}missing", "**/a/".repeat(50)),
            format!("{}*/missing", "**/*/".repeat(60)),
        ] {
            let found = files(&inside, &[&pattern], 100, &mut Effort::new(&stopper, 255)).unwrap();
            assert_eq!(found, [Vec::<PathBuf>::new()], "{pattern}");
        }
        let found = files(
            &inside,
            &[&format!("{}file", "**/".repeat(80))],
            100,
            &mut Effort::new(&stopper, 255),
        );
        assert_eq!(found.unwrap(), [vec![PathBuf::from("a/a/a/a/a/a/a/file")]]);
        assert!(files(&inside, &["**/file"], 100, &mut Effort::new(&stopper, 254)).is_err());
        assert!(
            files(
                &inside,
                &[&"a/".repeat(MAX_PARTS + 1)],
                100,
                &mut Effort::new(&stopper, 255)
            )
            .is_err()
        );
    }

    #[test]
    fn a_search_ends_with_the_build_and_after_enough_files() {
        let (directory, inside) = bush(1);
        for number in 0..10 {
            fs::write(directory.path().join(number.to_string()), "").unwrap();
        }
        let stopper = Stopper::default();
        let found = files(&inside, &["*"], 3, &mut Effort::new(&stopper, 100)).unwrap();
        assert_eq!(found[0].len(), 4);
        stopper.stop(crate::stop::StopReason::Canceled);
        assert!(files(&inside, &["*"], 3, &mut Effort::new(&stopper, 100)).is_err());
    }

    #[test]
    fn many_stars_take_no_time() {
        let name = vec![b'a'; 255];
        let pattern = [b"*a".repeat(100), b"b".to_vec()].concat();
        assert!(!fits(&pattern, &name));
    }

    /// The meaning of a pattern, in its simplest form.
    fn means(pattern: &[u8], name: &[u8]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((b'*', rest)) => (0..=name.len()).any(|taken| means(rest, &name[taken..])),
            Some((byte, rest)) => name
                .split_first()
                .is_some_and(|(first, name)| first == byte && means(rest, name)),
        }
    }

    /// Whether a pattern matches a path, without a tree.
    fn matches(pattern: &str, path: &str) -> bool {
        let pattern = Pattern::new(pattern).unwrap();
        let names = path.split('/').map(str::as_bytes);
        let places = names.fold(pattern.reach(1), |places, name| pattern.after(places, name));
        places & pattern.end() != 0
    }

    /// Whether `globset` says that it does. There a `**` at the end stands for one name at least.
    fn matches_by_globset(pattern: &str, path: &str) -> bool {
        let glob = globset::GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .unwrap();
        let before = pattern.strip_suffix("/**");
        glob.compile_matcher().is_match(path) || before.is_some_and(|pattern| matches_by_globset(pattern, path))
    }

    proptest! {
        #[test]
        fn a_pattern_matches_what_globset_says(
            pattern in prop::collection::vec(prop_oneof![Just("**"), Just("*"), Just("a"), Just("a*"), Just("*b*")], 1..6),
            path in prop::collection::vec("[ab]{1,3}", 1..6),
        ) {
            let (pattern, path) = (pattern.join("/"), path.join("/"));
            prop_assert_eq!(matches(&pattern, &path), matches_by_globset(&pattern, &path), "{} {}", pattern, path);
        }

        #[test]
        fn fits_as_the_pattern_means(pattern in "[ab*]{0,8}", name in "[ab]{0,8}") {
            prop_assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), means(pattern.as_bytes(), name.as_bytes()));
        }
    }
}
