//! Moves the artifacts of a build out of its workspace, so that they survive the removal of the workspace.

use std::collections::HashSet;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use launchway_domain::build::plan::ArtifactRule;
use sha2::{Digest, Sha256};

use crate::effort::{Effort, EffortError, Reading};
use crate::glob;
use crate::inside::Inside;
use crate::journal::{Artifact, Record};
use crate::stop::Stopper;

/// The maximum number of artifacts of a build.
const MAX_FILES: usize = 100;

/// Why the artifacts of a build could not be collected.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// No file matches a pattern.
    #[error(
        "No file in the workspace matches `{0}`. Correct the path in artifacts, or check the log for why no step \
         created it. Links are not followed, and a step must pack folders."
    )]
    Missing(String),
    /// The patterns match more files than a build may have.
    #[error("The patterns of artifacts match more than {MAX_FILES} files. Narrow them, or pack the files in a step.")]
    TooMany,
    /// The workspace has more entries than the search may visit.
    #[error(
        "The patterns of artifacts search the whole workspace, in which {0}. Narrow them to the folder of the files."
    )]
    TooWide(String),
    /// A file exceeds the size limit of artifacts: its name, its size and the limit, in bytes.
    #[error("The artifact `{0}` has {1} bytes, more than the limit of {2} bytes")]
    TooLarge(String, u64, u64),
    /// An I/O error of the runner.
    #[error("Cannot read an artifact: {0}")]
    Runner(#[from] io::Error),
}

impl ArtifactError {
    fn of(error: io::Error) -> ArtifactError {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<EffortError>());
        match inner {
            Some(EffortError::TooMany(_)) => ArtifactError::TooWide(error.to_string()),
            _ => ArtifactError::Runner(error),
        }
    }
}

/// Bounds on the collection of artifacts.
#[derive(Clone, Copy, Debug)]
pub struct ArtifactBounds {
    /// The maximum size of one file, in bytes.
    pub file_bytes: u64,
    /// The maximum number of files and folders that the search visits.
    pub entries: u64,
}

/// Moves the files that the rules match from `source` into the record. All files are found and their sizes checked
/// before the first one is moved or read.
///
/// # Errors
/// A rule matches no file; a file is too large; the build is stopped.
pub fn collect(
    source: &Path,
    rules: &[ArtifactRule],
    record: &Record,
    bounds: ArtifactBounds,
    stopper: &Stopper,
) -> Result<Vec<Artifact>, ArtifactError> {
    let inside = Inside::open(source)?;
    let wanted = find(&inside, rules, bounds, &mut Effort::new(stopper, bounds.entries))?;
    let mut names = HashSet::new();
    let mut artifacts = Vec::new();
    for (index, (path, kind)) in wanted.into_iter().enumerate() {
        let to = record.artifact(index);
        inside.move_out(&path, &to)?;
        let (size, sha256) = take_over(&to, stopper)?;
        let mut name = path.file_name().map(glob::printable_name).unwrap_or_default();
        if !names.insert(name.clone()) {
            name = glob::printable_name(path.as_os_str()).replace('/', "-");
            names.insert(name.clone());
        }
        artifacts.push(Artifact {
            kind: kind.to_owned(),
            name,
            size,
            sha256,
            id: None,
        });
    }
    Ok(artifacts)
}

/// The files that the rules match, each once, with the kind of the first rule that matches it.
fn find<'r>(
    inside: &Inside,
    rules: &'r [ArtifactRule],
    bounds: ArtifactBounds,
    effort: &mut Effort<'_>,
) -> Result<Vec<(PathBuf, &'r str)>, ArtifactError> {
    let patterns: Vec<&str> = rules.iter().map(|rule| rule.path.as_str()).collect();
    let found = glob::files(inside, &patterns, MAX_FILES, effort).map_err(ArtifactError::of)?;
    let mut wanted: Vec<(PathBuf, &str)> = Vec::new();
    for (rule, found) in rules.iter().zip(found) {
        if found.is_empty() {
            return Err(ArtifactError::Missing(rule.path.clone()));
        }
        for path in found {
            if !wanted.iter().any(|(known, _)| *known == path) {
                wanted.push((path, &rule.kind));
            }
        }
        if wanted.len() > MAX_FILES {
            return Err(ArtifactError::TooMany);
        }
    }
    for (path, _) in &wanted {
        let size = inside.file_size(path)?;
        if size > bounds.file_bytes {
            let name = glob::printable_name(path.as_os_str());
            return Err(ArtifactError::TooLarge(name, size, bounds.file_bytes));
        }
    }
    Ok(wanted)
}

/// Makes the runner the owner of a file, so that the build can no longer change it. Returns its size and SHA-256.
fn take_over(path: &Path, stopper: &Stopper) -> io::Result<(u64, String)> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if rustix::process::geteuid().is_root() {
        chown(path, Some(0), Some(0))?;
    }
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    let mut file = Reading::new(File::open(path)?, stopper);
    let (mut hash, mut size, mut buffer) = (Sha256::new(), 0, vec![0; 256 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((size, hex::encode(hash.finalize()))),
            count => {
                hash.update(&buffer[..count]);
                size += count as u64;
            }
        }
    }
}
