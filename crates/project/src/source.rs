//! The files of a project. They are untrusted: of any size, of any kind, with links to anywhere.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes of the largest file that is read.
pub const LARGEST_FILE: u64 = 4 << 20;
/// Names that are listed in one directory.
const MOST_NAMES: usize = 10_000;

/// A directory that is read without leaving it. Paths are relative to it, with forward slashes.
#[derive(Clone, Debug)]
pub struct Source {
    /// The resolved path; `None` when the directory does not exist.
    root: Option<PathBuf>,
}

/// Why an existing file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// It is too large.
    #[error("{0} is larger than 4 MiB")]
    TooLarge(String),
    /// It is not UTF-8.
    #[error("{0} is not UTF-8 text")]
    NoText(String),
    /// It is a link out of the project, a device, or unreadable.
    #[error("cannot read {0}: it is not a file of the project")]
    NoFile(String),
}

impl Source {
    /// The files in `root`. The path to it is trusted.
    pub fn new(root: &Path) -> Self {
        // The empty path is the current directory.
        let root = if root.as_os_str().is_empty() {
            Path::new(".")
        } else {
            root
        };
        Self {
            root: fs::canonicalize(root).ok(),
        }
    }

    /// The text of a file; `None` when it does not exist.
    ///
    /// # Errors
    /// It is too large, not text, or not a regular file of the project.
    pub fn read(&self, place: &str) -> Result<Option<String>, FileError> {
        let no_file = || FileError::NoFile(place.to_owned());
        let Some(root) = &self.root else { return Ok(None) };
        let path = match fs::canonicalize(root.join(place)) {
            Ok(path) if path.starts_with(root) => path,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            _ => return Err(no_file()),
        };
        // Checked before it is opened: opening a pipe would block.
        let size = fs::metadata(&path)
            .ok()
            .filter(fs::Metadata::is_file)
            .map(|data| data.len());
        if size.ok_or_else(no_file)? > LARGEST_FILE {
            return Err(FileError::TooLarge(place.to_owned()));
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(&path).map_err(|_| no_file())?;
        file.take(LARGEST_FILE).read_to_end(&mut bytes).map_err(|_| no_file())?;
        let text = String::from_utf8(bytes).map_err(|_| FileError::NoText(place.to_owned()))?;
        Ok(Some(text))
    }

    /// The text of a file; `None` when there is no usable one.
    pub fn text(&self, place: &str) -> Option<String> {
        self.read(place).ok().flatten()
    }

    /// Whether there is a file, or a link to a file of the project.
    pub fn has_file(&self, place: &str) -> bool {
        self.inside(place).is_some_and(|path| path.is_file())
    }

    /// Whether there is a directory, or a link to a directory of the project.
    pub fn has_directory(&self, place: &str) -> bool {
        self.inside(place).is_some_and(|path| path.is_dir())
    }

    /// The names in a directory, sorted; empty when it does not exist.
    pub fn names(&self, place: &str) -> Vec<String> {
        let Some(Ok(entries)) = self.inside(place).map(fs::read_dir) else {
            return Vec::new();
        };
        let mut names: Vec<_> = entries
            .take(MOST_NAMES)
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }

    fn inside(&self, place: &str) -> Option<PathBuf> {
        let root = self.root.as_ref()?;
        fs::canonicalize(root.join(place))
            .ok()
            .filter(|path| path.starts_with(root))
    }
}

/// A directory and its parents, down to the empty path, which is the root of the source.
pub fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |place| match place.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None => (!place.is_empty()).then_some(""),
    })
}

/// A path in a directory, which may be empty.
pub fn join(directory: &str, path: &str) -> String {
    match (directory, path) {
        ("", path) => path.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, path) => format!("{directory}/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_there() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(directory.path().join("a")).expect("space");
        fs::write(directory.path().join("a/text"), "text").expect("space");
        fs::write(directory.path().join("bytes"), [0xff]).expect("space");
        fs::write(directory.path().join("large"), vec![b'a'; LARGEST_FILE as usize + 1]).expect("space");
        let source = Source::new(directory.path());
        assert_eq!(source.read("a/text"), Ok(Some("text".to_owned())));
        assert_eq!(source.read("a/none"), Ok(None));
        assert_eq!(source.read("a/text/none"), Ok(None));
        assert_eq!(source.read("bytes"), Err(FileError::NoText("bytes".to_owned())));
        assert_eq!(source.read("large"), Err(FileError::TooLarge("large".to_owned())));
        assert_eq!(source.read("a"), Err(FileError::NoFile("a".to_owned())));
        assert_eq!(source.names(""), ["a", "bytes", "large"]);
        assert_eq!(source.names("none"), [""; 0]);
        assert!(source.has_file("a/text") && !source.has_file("a") && source.has_directory("a"));
        assert_eq!(Source::new(Path::new("/nowhere/at all")).read("a"), Ok(None));
    }

    #[cfg(unix)]
    #[test]
    fn never_leaves_the_project() {
        use std::os::unix::fs::symlink;

        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().join("root");
        fs::create_dir_all(root.join("folder")).expect("space");
        fs::write(directory.path().join("secret"), "secret").expect("space");
        fs::write(root.join("own"), "own").expect("space");
        symlink("../secret", root.join("link")).expect("a link");
        symlink("..", root.join("up")).expect("a link");
        symlink("../own", root.join("folder/within")).expect("a link");
        symlink("loop", root.join("loop")).expect("a link");
        let pipe = std::process::Command::new("mkfifo").arg(root.join("pipe")).status();
        assert!(pipe.expect("mkfifo runs").success());
        let source = Source::new(&root);
        for place in ["link", "up/secret", "../secret", "loop", "pipe"] {
            assert_eq!(source.read(place), Err(FileError::NoFile(place.to_owned())), "{place}");
            assert!(!source.has_file(place), "{place}");
        }
        assert_eq!(source.names("up"), [""; 0]);
        assert_eq!(source.text("folder/within").as_deref(), Some("own"), "it stays inside");
    }

    #[test]
    fn directories_lead_up_to_the_root() {
        assert_eq!(ancestors("a/b/c").collect::<Vec<_>>(), ["a/b/c", "a/b", "a", ""]);
        assert_eq!(ancestors("").collect::<Vec<_>>(), [""]);
    }
}
