//! Finds the files of a source, in the byte order of their names: all but those that `.gitignore` and
//! `.launchwayignore` exclude, plus those that git tracks nevertheless, and never generated files.

use std::cmp::Ordering;
use std::fs::{self, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tempfile::NamedTempFile;

use super::SourceError;
use super::links::stays_inside;

/// The user's ignore file besides `.gitignore`, over which it wins.
const IGNORE_FILE: &str = ".launchwayignore";
/// Excluded unless `.launchwayignore` includes it again (`!node_modules`).
const NEVER: &str = "\
.git
.hg
.svn
.DS_Store
node_modules
.gradle
.dart_tool
DerivedData
launchway-out
";

/// An entry to pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the archive: relative, with forward slashes.
    pub name: String,
    pub path: PathBuf,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    File {
        /// Its size in bytes.
        size: u64,
        /// Whether it is executable.
        executable: bool,
    },
    /// A link that stays in the source.
    Link {
        /// Its target.
        target: PathBuf,
    },
}

/// Finds every entry of the source in `root`; the empty path is the current directory. Directories are listed with
/// their contents.
pub fn walk(root: &Path) -> Result<Vec<Entry>, SourceError> {
    let not_there = || SourceError::NotADirectory(root.to_owned());
    let start = or_current_dir(root);
    let real = fs::canonicalize(start).map_err(|_| not_there())?;
    if !real.is_dir() {
        return Err(not_there());
    }
    let in_repository = real.ancestors().any(|directory| directory.join(".git").exists());
    let never = never().map_err(SourceError::Write)?;
    let mut builder = WalkBuilder::new(start);
    builder
        .standard_filters(false)
        .git_ignore(true)
        .git_exclude(true)
        // Outside a repository, nothing limits how far up ignore files apply. In one, no file above it does.
        .require_git(in_repository)
        .parents(in_repository)
        .add_custom_ignore_filename(IGNORE_FILE);
    if let Some(error) = builder.add_ignore(never.path()) {
        return Err(SourceError::Ignore(error.to_string()));
    }
    let mut entries = Vec::new();
    for found in builder.build() {
        let found = found.map_err(|error| unreadable(root, error))?;
        let is_directory = found.file_type().is_some_and(|kind| kind.is_dir());
        if found.depth() == 0 || is_directory {
            continue;
        }
        let name = name_of(found.path(), start)?;
        let path = root.join(&name);
        entries.push(entry(name, path, &real)?);
    }
    entries.sort_unstable_by(by_name);
    if in_repository {
        let left_out = fixed_exclusions(root)?;
        let found = entries.len();
        for name in tracked_but_ignored(root) {
            let path = root.join(&name);
            let wanted = !left_out.matched_path_or_any_parents(&name, false).is_ignore();
            let is_new = entries[..found]
                .binary_search_by(|entry| entry.name.cmp(&name))
                .is_err();
            if wanted && is_new && fs::symlink_metadata(&path).is_ok_and(|about| !about.is_dir()) {
                entries.push(entry(name_of(&path, root)?, path, &real)?);
            }
        }
        entries.sort_unstable_by(by_name);
        entries.dedup_by(|one, other| one.name == other.name);
    }
    if entries.is_empty() {
        return Err(SourceError::Empty(root.to_owned()));
    }
    Ok(entries)
}

fn or_current_dir(root: &Path) -> &Path {
    if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    }
}

fn by_name(one: &Entry, other: &Entry) -> Ordering {
    one.name.cmp(&other.name)
}

fn entry(name: String, path: PathBuf, root: &Path) -> Result<Entry, SourceError> {
    let unreadable = |error| SourceError::Read {
        path: path.clone(),
        error,
    };
    // Does not follow links.
    let about = fs::symlink_metadata(&path).map_err(unreadable)?;
    let kind = if about.is_symlink() {
        let target = fs::read_link(&path).map_err(unreadable)?;
        if !stays_inside(&name, &target, root, &path) {
            return Err(SourceError::LinkOut { path, target });
        }
        Kind::Link { target }
    } else if about.is_file() {
        Kind::File {
            size: about.len(),
            executable: is_executable(&about),
        }
    } else {
        return Err(SourceError::Special(path));
    };
    Ok(Entry { name, path, kind })
}

fn name_of(path: &Path, root: &Path) -> Result<String, SourceError> {
    let refuse = |why| SourceError::Name {
        path: path.to_owned(),
        why,
    };
    let below = path.strip_prefix(root).unwrap_or(path);
    let mut parts = Vec::new();
    for part in below.components() {
        let text = part.as_os_str().to_str().ok_or_else(|| refuse("it is not UTF-8"))?;
        if text.contains('\\') {
            return Err(refuse("it contains a backslash"));
        }
        if text.chars().any(char::is_control) {
            return Err(refuse("it contains a control character"));
        }
        if text != "." {
            parts.push(text);
        }
    }
    Ok(parts.join("/"))
}

/// Excludes entries that are never packed, in the form that the library needs.
fn never() -> std::io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(NEVER.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// The rules that also apply to tracked files.
fn fixed_exclusions(root: &Path) -> Result<Gitignore, SourceError> {
    let unclear = |error: ignore::Error| SourceError::Ignore(error.to_string());
    let mut builder = GitignoreBuilder::new(root);
    for line in NEVER.lines() {
        builder.add_line(None, line).map_err(unclear)?;
    }
    let file = root.join(IGNORE_FILE);
    if file.exists()
        && let Some(error) = builder.add(file)
    {
        return Err(unclear(error));
    }
    builder.build().map_err(unclear)
}

/// Files that `.gitignore` excludes but that are tracked, such as the JAR of a Gradle wrapper.
fn tracked_but_ignored(root: &Path) -> Vec<String> {
    let mut command = Command::new("git");
    command.args(["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"]);
    let directory = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    };
    command.current_dir(directory).stdin(Stdio::null());
    match command.output() {
        Ok(output) if output.status.success() => output
            .stdout
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .filter_map(|name| String::from_utf8(name.to_vec()).ok())
            .collect(),
        // Without git, nothing is tracked.
        _ => Vec::new(),
    }
}

fn unreadable(root: &Path, error: ignore::Error) -> SourceError {
    let mut path = root.to_owned();
    let mut error = error;
    loop {
        error = match error {
            ignore::Error::WithPath { path: named, err } => {
                path = named;
                *err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => *err,
            ignore::Error::Io(error) => return SourceError::Read { path, error },
            other => return SourceError::Ignore(other.to_string()),
        };
    }
}

#[cfg(unix)]
fn is_executable(about: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    about.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_about: &Metadata) -> bool {
    false
}
