//! Resolves every link of a source tree as the kernel would, and finds those that lead out of it.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::SourceError;
use crate::effort::Effort;
use crate::inside::{Inside, Kind};

/// The maximum number of links that the kernel follows for one path.
const MAX_HOPS: u32 = 40;

/// Checks that no link in the tree `root` leads out of it, now or after its missing target is created.
///
/// # Errors
/// A link leads out; the tree cannot be read; the effort is used up.
pub fn check(root: &Path, effort: &mut Effort<'_>) -> Result<(), SourceError> {
    let inside = Inside::open(root)?;
    let mut links = Vec::new();
    let walked = inside.walk(effort, &mut |_, path, entry| {
        if entry.kind == Kind::Link {
            links.push(path.to_owned());
        }
        Ok(())
    });
    walked.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::Other => SourceError::Invalid(error.to_string()),
        _ => SourceError::Runner(error),
    })?;
    for link in links {
        effort.check_stopped()?;
        let refuse = |problem: &str| SourceError::entry(link.as_os_str().as_bytes(), problem);
        match stays_inside(&inside, &link)? {
            Way::Inside => {}
            Way::Out => return Err(refuse("is a link to outside the source")),
            Way::Round => return Err(refuse("is a link to itself")),
        }
    }
    Ok(())
}

enum Way {
    Inside,
    Out,
    Round,
}

fn stays_inside(inside: &Inside, link: &Path) -> io::Result<Way> {
    let mut at = PathBuf::new();
    let mut ahead: VecDeque<OsString> = link.iter().map(OsStr::to_owned).collect();
    let mut hops = 0;
    while let Some(part) = ahead.pop_front() {
        if part == "." || part.is_empty() {
            continue;
        }
        if part == ".." {
            if !at.pop() {
                return Ok(Way::Out);
            }
            continue;
        }
        at.push(&part);
        // A missing or non-directory component may become a directory later, so the path through it is resolved too.
        let kind = inside.kind(&at).unwrap_or(None);
        if kind != Some(Kind::Link) {
            continue;
        }
        hops += 1;
        if hops > MAX_HOPS {
            return Ok(Way::Round);
        }
        let target = inside.target(&at)?;
        if target.as_bytes().starts_with(b"/") {
            return Ok(Way::Out);
        }
        at.pop();
        for part in target.as_bytes().rsplit(|byte| *byte == b'/') {
            ahead.push_front(OsStr::from_bytes(part).to_owned());
        }
    }
    Ok(Way::Inside)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::stop::Stopper;

    fn checked(links: &[(&str, &str)]) -> Result<(), SourceError> {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("root");
        fs::create_dir_all(root.join("d/e/f")).unwrap();
        fs::write(root.join("file"), "").unwrap();
        for (link, target) in links {
            symlink(target, root.join(link)).unwrap();
        }
        check(&root, &mut Effort::new(&Stopper::default(), 1 << 20))
    }

    #[test]
    fn links_inside_are_fine() {
        checked(&[
            ("a", "file"),
            ("d/e/up", "../../file"),
            ("gone", "not/there"),
            ("d/e/f/root", "../../.."),
            ("b", "a"),
        ])
        .unwrap();
    }

    #[test]
    fn links_out_are_found_also_through_others() {
        for links in [
            &[("a", "/etc")][..],
            &[("a", "..")],
            &[("d/a", "../../x")],
            // By its text alone it stays inside.
            &[("d/e/f/s", "../../.."), ("t", "d/e/f/s/../x")],
            &[("a", "b"), ("b", "c"), ("c", "/etc")],
            &[("a", "not-there/../../x")],
            &[("a", "file/../../x")],
        ] {
            let problem = checked(links).unwrap_err().to_string();
            assert!(
                problem.contains("is a link to outside the source"),
                "{links:?}: {problem}"
            );
        }
    }

    #[test]
    fn links_in_a_circle_are_found() {
        for links in [&[("a", "a")][..], &[("a", "b"), ("b", "a")], &[("a", "a/x")]] {
            let problem = checked(links).unwrap_err().to_string();
            assert!(problem.contains("is a link to itself"), "{links:?}: {problem}");
        }
    }
}
