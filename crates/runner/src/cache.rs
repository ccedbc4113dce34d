//! Folders that are kept from one build to the next, per organization and key. They are copied into and out of a build,
//! so a build never accesses the kept copy. A broken cache is dropped; no cache problem fails a build.

mod key;
mod tree;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use launchway_domain::build::plan::CacheRule;
use launchway_domain::time::EpochMs;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::effort::Effort;
use crate::stop::Stopper;
use crate::workspace::Workspace;

/// All caches of a runner.
#[derive(Debug)]
pub struct Caches {
    directory: PathBuf,
    most_bytes: u64,
    /// Read-locked while a cache is copied from, write-locked while one is replaced or removed.
    lock: RwLock<()>,
}

/// A cache rule of a plan, with its key resolved.
#[derive(Clone, Debug)]
pub struct ResolvedRule {
    /// The key, with its hashes filled in.
    pub key: String,
    /// Whether the key identifies the content, so that an existing cache is not saved again.
    names_content: bool,
    paths: Vec<String>,
}

/// The build that caches are copied into or out of.
pub struct CacheUser<'u> {
    /// The scope whose caches the build shares.
    pub scope: &'u str,
    /// The directory of the build.
    pub workspace: &'u Workspace,
    /// Stops the copying.
    pub stopper: &'u Stopper,
    /// The maximum number of files and folders per save or restore.
    pub most_entries: u64,
    /// The time of day.
    pub now: EpochMs,
}

impl<'u> CacheUser<'u> {
    fn effort(&self) -> Effort<'u> {
        Effort::new(self.stopper, self.most_entries)
    }
}

/// The metadata stored beside a cache.
#[derive(Serialize, Deserialize)]
struct Note {
    key: String,
    bytes: u64,
    used: EpochMs,
}

/// The result of a cache operation, as a line for the log.
pub type Line = String;

impl Caches {
    /// Opens the caches in a directory, which hold at most `most_bytes` bytes together. Removes partial caches that a
    /// crash left behind.
    ///
    /// # Errors
    /// An I/O error.
    pub fn open(directory: PathBuf, most_bytes: u64) -> io::Result<Caches> {
        DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        for org in fs::read_dir(&directory)? {
            for entry in fs::read_dir(org?.path())? {
                let entry = entry?;
                if entry.file_name().to_string_lossy().starts_with('.') {
                    crate::workspace::remove(&entry.path())?;
                }
            }
        }
        Ok(Caches {
            directory,
            most_bytes,
            lock: RwLock::new(()),
        })
    }

    /// Resolves the keys of rules from the current state of the source. A rule whose key cannot be resolved is logged
    /// and skipped.
    pub fn keys(rules: &[CacheRule], source: &Path, stopper: &Stopper) -> (Vec<ResolvedRule>, Vec<Line>) {
        let (mut keyed, mut lines) = (Vec::new(), Vec::new());
        for rule in rules {
            match key::fill(&rule.key, source, stopper) {
                Ok(key) => keyed.push(ResolvedRule {
                    names_content: key != rule.key,
                    paths: rule.paths.clone(),
                    key,
                }),
                Err(problem) => lines.push(format!("Cache {}: skipped, because {problem}", rule.key)),
            }
        }
        (keyed, lines)
    }

    /// Copies the cache of a key into a build.
    pub fn restore(&self, keyed: &ResolvedRule, build: &CacheUser<'_>) -> Line {
        let place = self.place(build.scope, &keyed.key);
        let Ok(note) = read_note(&place) else {
            return format!("Cache {}: nothing saved yet", keyed.key);
        };
        let copied = {
            let (_reading, mut left, mut effort) = (self.lock.read(), u64::MAX, build.effort());
            keyed.paths.iter().enumerate().try_for_each(|(index, path)| {
                let (base, inner) = resolve(path, build.workspace);
                let name = PathBuf::from(index.to_string());
                tree::copy((&place, &name), (&base, &inner), &mut left, &mut effort).map(|_| ())
            })
        };
        match copied {
            Ok(()) => {
                let used = build.now;
                let _ = write_note(&place, &Note { used, ..note });
                format!("Cache {}: restored", keyed.key)
            }
            // The failure says nothing about the cache itself.
            Err(_) if build.stopper.is_stopped() => format!("Cache {}: the build was stopped", keyed.key),
            Err(problem) => {
                for path in &keyed.paths {
                    let (base, inner) = resolve(path, build.workspace);
                    let _ = tree::remove(&base, &inner);
                }
                self.remove(&place);
                format!("Cache {}: deleted, because it is broken: {problem}", keyed.key)
            }
        }
    }

    /// Saves the folders of a build under a key.
    pub fn save(&self, keyed: &ResolvedRule, build: &CacheUser<'_>) -> Line {
        let place = self.place(build.scope, &keyed.key);
        if keyed.names_content && read_note(&place).is_ok() {
            return format!("Cache {}: already saved", keyed.key);
        }
        let beside = self.beside(&place, "new", build.workspace);
        let line = match self.save_to(&beside, keyed, build) {
            Ok(None) => format!("Cache {}: nothing to save", keyed.key),
            Ok(Some(bytes)) => match self.put_in_place(&beside, &place, build.workspace) {
                Ok(()) => {
                    self.make_room();
                    format!("Cache {}: saved, {} KiB", keyed.key, bytes.div_ceil(1024))
                }
                Err(problem) => format!("Cache {}: not saved: {problem}", keyed.key),
            },
            Err(problem) => format!("Cache {}: not saved: {problem}", keyed.key),
        };
        let _ = crate::workspace::remove(&beside);
        line
    }

    /// Copies the folders. Returns the bytes copied, or `None` if none of the folders exists.
    fn save_to(&self, beside: &Path, keyed: &ResolvedRule, build: &CacheUser<'_>) -> io::Result<Option<u64>> {
        DirBuilder::new().recursive(true).mode(0o700).create(beside)?;
        let (mut left, mut any, mut effort) = (self.most_bytes, false, build.effort());
        for (index, path) in keyed.paths.iter().enumerate() {
            let (base, inner) = resolve(path, build.workspace);
            let name = PathBuf::from(index.to_string());
            any |= tree::copy((&base, &inner), (beside, &name), &mut left, &mut effort)?;
        }
        let bytes = self.most_bytes - left;
        let key = keyed.key.clone();
        let used = build.now;
        write_note(beside, &Note { key, bytes, used })?;
        Ok(any.then_some(bytes))
    }

    fn put_in_place(&self, beside: &Path, place: &Path, workspace: &Workspace) -> io::Result<()> {
        let old = self.beside(place, "old", workspace);
        {
            let _writing = self.lock.write();
            match fs::rename(place, &old) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            fs::rename(beside, place)?;
        }
        crate::workspace::remove(&old)
    }

    /// Removes the least recently used caches until the rest fits into the limit.
    fn make_room(&self) {
        let mut notes = Vec::new();
        let orgs = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        for place in orgs.flat_map(|org| fs::read_dir(org.path()).into_iter().flatten().flatten()) {
            if !place.file_name().to_string_lossy().starts_with('.') {
                match read_note(&place.path()) {
                    Ok(note) => notes.push((note.used, note.bytes, place.path())),
                    Err(_) => self.remove(&place.path()),
                }
            }
        }
        notes.sort();
        let mut sum: u64 = notes.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, place) in notes {
            if sum <= self.most_bytes {
                return;
            }
            self.remove(&place);
            sum -= bytes;
        }
    }

    fn remove(&self, place: &Path) {
        let _writing = self.lock.write();
        let _ = crate::workspace::remove(place);
    }

    /// The path of a cache. It is a hash, as a key may be any text and a file name may not.
    fn place(&self, scope: &str, key: &str) -> PathBuf {
        self.directory.join(hashed(scope)).join(hashed(key))
    }

    /// A temporary path beside the cache that no other build uses.
    fn beside(&self, place: &Path, what: &str, workspace: &Workspace) -> PathBuf {
        let build = hashed(&workspace.root.to_string_lossy());
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        place.with_file_name(format!(".{what}-{name}-{build}"))
    }
}

/// The base directory of a rule's path, and the path in it. Plans are validated: the path does not climb.
fn resolve(path: &str, workspace: &Workspace) -> (PathBuf, PathBuf) {
    match path.strip_prefix("~/") {
        Some(inner) => (workspace.home(), PathBuf::from(inner)),
        None => (workspace.source(), PathBuf::from(path)),
    }
}

fn hashed(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..16])
}

fn read_note(place: &Path) -> io::Result<Note> {
    Ok(serde_json::from_slice(&fs::read(place.join("note.json"))?)?)
}

fn write_note(place: &Path, note: &Note) -> io::Result<()> {
    let beside = place.join("note.new");
    fs::write(&beside, serde_json::to_vec(note)?)?;
    fs::rename(beside, place.join("note.json"))
}

#[cfg(test)]
mod tests;
