//! Finds the files that count: every file below a directory except those that `.gitignore` and `.fingerprintignore`
//! exclude, generated files, and files of one machine. The files are untrusted.

use std::fs::{self, FileType};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use unicode_normalization::UnicodeNormalization;

use super::generated;
use super::problem::CollectError;
use super::text_file;

/// Files and directories that are visited below one directory.
const MOST_ENTRIES: usize = 500_000;
/// Links to directories that are followed below one directory. A few links can make a small tree infinite.
const MOST_LINKS: usize = 1_000;
/// Nesting of directories.
const DEEPEST: usize = 128;
/// The two kinds of ignore files. Each kind is evaluated separately, so that neither includes what the other excludes.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".fingerprintignore"];

/// A file that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Its path below the root: NFC, with forward slashes.
    pub path: String,
    /// The path of its content.
    pub real: PathBuf,
}

/// Finds files below a root.
pub struct Walk {
    /// The root, with links resolved.
    root: PathBuf,
    excluded: Gitignore,
    found: Vec<TreeFile>,
    entries: usize,
    links: usize,
}

impl Walk {
    /// Starts at `root`, whose path is trusted. `exclude` has patterns as in `.gitignore`.
    ///
    /// # Errors
    /// `root` cannot be read, or a pattern is invalid.
    pub fn new(root: &Path, exclude: &[String]) -> Result<Self, CollectError> {
        let real =
            fs::canonicalize(root).map_err(|error| CollectError::unreadable(root.display().to_string(), error))?;
        Ok(Self {
            root: real,
            excluded: patterns(exclude)?,
            found: Vec::new(),
            entries: 0,
            links: 0,
        })
    }

    /// Adds the files below `start`, a path relative to the root with forward slashes, or `start` itself if it is a
    /// file. Adds nothing when it does not exist or is excluded.
    ///
    /// # Errors
    /// The first file, in the order of names, that cannot be read or is outside the root.
    pub fn add(&mut self, start: &str) -> Result<(), CollectError> {
        let mut rules = Rules(Vec::new());
        let (mut shown, mut real) = (String::new(), self.root.clone());
        for part in start.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                return Err(CollectError::LinkOut(start.to_owned()));
            }
            rules.0.push(self.rules_of(&real, &shown)?);
            shown = below(&shown, part);
            let Some((kind, place)) = self.kind(&shown, &real.join(part))? else {
                return Ok(());
            };
            if self.is_left_out(&shown, part, kind, &rules) {
                return Ok(());
            }
            real = place;
            if kind != Kind::Folder {
                return self.file(kind, &shown, real);
            }
        }
        self.folder(&shown, &real, &mut rules, &mut vec![real.clone()])
    }

    /// The files found, each once, sorted by path.
    pub fn files(mut self) -> Vec<TreeFile> {
        self.found
            .sort_by(|this, that| this.path.cmp(&that.path).then_with(|| this.real.cmp(&that.real)));
        self.found.dedup();
        self.found
    }

    /// `above` has the resolved directories that lead here, including this one.
    fn folder(
        &mut self,
        shown: &str,
        real: &Path,
        rules: &mut Rules,
        above: &mut Vec<PathBuf>,
    ) -> Result<(), CollectError> {
        if above.len() > DEEPEST {
            return Err(CollectError::TooMuch(shown.to_owned()));
        }
        let names = self.names(shown, real)?;
        // Some file systems find a file by a name in another case.
        let is_rules = |(name, _): &(String, _)| IGNORE_FILES.iter().any(|rules| name.eq_ignore_ascii_case(rules));
        rules.0.push(match names.iter().any(is_rules) {
            true => self.rules_of(real, shown)?,
            false => IGNORE_FILES.map(|_| Gitignore::empty()),
        });
        for (name, entry_type) in names {
            let inner = below(shown, &name);
            let path = real.join(&name);
            let Some((kind, place)) = self.kind_unless_left_out(&inner, &name, &path, entry_type, rules)? else {
                continue;
            };
            match kind {
                Kind::File | Kind::Other => self.file(kind, &inner, place)?,
                Kind::Folder if above.contains(&place) => return Err(CollectError::LinkLoop(inner)),
                Kind::Folder => {
                    self.links += usize::from(place != path);
                    if self.links > MOST_LINKS {
                        return Err(CollectError::TooMuch(inner));
                    }
                    above.push(place.clone());
                    self.folder(&inner, &place, rules, above)?;
                    above.pop();
                }
            }
        }
        rules.0.pop();
        Ok(())
    }

    /// The names in a folder, in order, with the types that the folder lists.
    fn names(&mut self, shown: &str, real: &Path) -> Result<Vec<(String, Option<FileType>)>, CollectError> {
        let unreadable = |error| CollectError::unreadable(shown, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(real).map_err(unreadable)? {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(CollectError::TooMuch(shown.to_owned()));
            }
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().into_string();
            let name = name.map_err(|name| CollectError::Name(below(shown, &name.to_string_lossy())))?;
            names.push((name, entry.file_type().ok()));
        }
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(names)
    }

    /// An excluded link may point anywhere.
    fn kind_unless_left_out(
        &self,
        shown: &str,
        name: &str,
        path: &Path,
        entry_type: Option<FileType>,
        rules: &Rules,
    ) -> Result<Option<(Kind, PathBuf)>, CollectError> {
        if let Some(found) = entry_type.filter(|found| !found.is_symlink()) {
            let kind = Kind::of(found);
            return Ok((!self.is_left_out(shown, name, kind, rules)).then(|| (kind, path.to_owned())));
        }
        let own = fs::symlink_metadata(path).map_err(|error| CollectError::unreadable(shown, error))?;
        if own.is_symlink() {
            let left_out = |kind| self.is_left_out(shown, name, kind, rules);
            if left_out(Kind::File) || (left_out(Kind::Folder) && !path.is_file()) {
                return Ok(None);
            }
        }
        let kind = self.kind(shown, path)?;
        Ok(kind.filter(|(kind, _)| !self.is_left_out(shown, name, *kind, rules)))
    }

    /// The kind of the entry, and its resolved path.
    fn kind(&self, shown: &str, path: &Path) -> Result<Option<(Kind, PathBuf)>, CollectError> {
        let unreadable = |error| CollectError::unreadable(shown, error);
        let own = match fs::symlink_metadata(path) {
            Ok(own) => own,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let (data, place) = if own.is_symlink() {
            let place = fs::canonicalize(path).map_err(|_| CollectError::BrokenLink(shown.to_owned()))?;
            if !place.starts_with(&self.root) {
                return Err(CollectError::LinkOut(shown.to_owned()));
            }
            (fs::metadata(&place).map_err(unreadable)?, place)
        } else {
            (own, path.to_owned())
        };
        Ok(Some((Kind::of(data.file_type()), place)))
    }

    /// Reading a pipe would block, and a device may never end.
    fn file(&mut self, kind: Kind, shown: &str, real: PathBuf) -> Result<(), CollectError> {
        if kind == Kind::Other {
            return Err(CollectError::NoFile(shown.to_owned()));
        }
        self.found.push(TreeFile { path: nfc(shown), real });
        Ok(())
    }

    fn is_left_out(&self, shown: &str, name: &str, kind: Kind, rules: &Rules) -> bool {
        let is_folder = kind == Kind::Folder;
        generated::is_left_out(shown, is_folder)
            || IGNORE_FILES.contains(&name)
            || self.excluded.matched(shown, is_folder).is_ignore()
            || (0..IGNORE_FILES.len()).any(|kind| rules.leave_out(kind, shown, is_folder))
    }

    /// An ignore file that is a link to outside the root excludes nothing.
    fn is_inside(&self, path: &Path) -> bool {
        match fs::symlink_metadata(path) {
            Ok(data) if data.is_symlink() => fs::canonicalize(path).is_ok_and(|path| path.starts_with(&self.root)),
            found => found.is_ok(),
        }
    }

    fn rules_of(&self, folder: &Path, shown: &str) -> Result<[Gitignore; 2], CollectError> {
        let [git, own] = IGNORE_FILES.map(|name| {
            let path = folder.join(name);
            let mut builder = GitignoreBuilder::new(shown);
            if self.is_inside(&path)
                && let Some(text) = text_file::read(&path, &below(shown, name))?
            {
                for line in text.lines() {
                    // As in git, an invalid line excludes nothing.
                    let _ = builder.add_line(None, line);
                }
            }
            builder
                .build()
                .map_err(|error| CollectError::broken(below(shown, name), error))
        });
        Ok([git?, own?])
    }
}

/// The kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Other,
}

impl Kind {
    fn of(found: FileType) -> Kind {
        match (found.is_dir(), found.is_file()) {
            (true, _) => Kind::Folder,
            (_, true) => Kind::File,
            _ => Kind::Other,
        }
    }
}

/// The ignore files, from the root down.
struct Rules(Vec<[Gitignore; 2]>);

impl Rules {
    /// As in git, the deepest file with a matching pattern decides.
    fn leave_out(&self, kind: usize, shown: &str, is_folder: bool) -> bool {
        let said = self.0.iter().rev().map(|rules| rules[kind].matched(shown, is_folder));
        said.into_iter()
            .find(|said| !said.is_none())
            .is_some_and(|said: Match<_>| said.is_ignore())
    }
}

/// Patterns of `launchway.toml`, in the syntax of `.gitignore`.
pub fn patterns(lines: &[String]) -> Result<Gitignore, CollectError> {
    let mut builder = GitignoreBuilder::new("");
    for line in lines {
        let wrong = |problem| CollectError::Pattern {
            pattern: line.clone(),
            place: "launchway.toml",
            problem,
        };
        if line.split('/').any(|part| part == "..") {
            return Err(wrong("is outside the project"));
        }
        builder
            .add_line(None, line)
            .map_err(|_| wrong("is not valid in .gitignore"))?;
    }
    builder
        .build()
        .map_err(|error| CollectError::broken("launchway.toml", error))
}

/// Nearly every path is ASCII, and so in this form already.
fn nfc(path: &str) -> String {
    match path.is_ascii() {
        true => path.to_owned(),
        false => path.nfc().collect(),
    }
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// The leading part of a pattern without wildcards: the directory or file to search. A pattern without a slash matches
/// everywhere.
pub fn literal_start(pattern: &str) -> &str {
    let inner = pattern.trim_start_matches('!').trim_start_matches('/');
    let anchored = pattern.trim_end_matches('/').contains('/');
    let wild = inner.find(['*', '?', '[', '{', '\\']);
    match (anchored, wild) {
        (false, _) => "",
        (true, None) => inner.trim_end_matches('/'),
        (true, Some(wild)) => inner[..wild].rsplit_once('/').map_or("", |(folder, _)| folder),
    }
}
