//! Takes what a build promised out of its workspace, so that it is safe when the workspace goes.

use std::collections::HashSet;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use launchway_domain::build::plan::ArtifactRule;
use sha2::{Digest, Sha256};

use crate::glob;
use crate::inside::Inside;
use crate::journal::{Artifact, Record};

/// A build gives at most so many files.
const MOST_FILES: usize = 100;

/// Why a build's files are not there.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// No file fits a pattern.
    #[error(
        "No file of the workspace fits '{0}'. Correct the path in artifacts, or see in the log why no step made it; \
         links are not followed, and a folder has to be packed by a step"
    )]
    Missing(String),
    /// Far more files than anybody downloads.
    #[error("The patterns of artifacts fit more than {MOST_FILES} files: narrow them, or pack the files in a step")]
    TooMany,
    /// The runner failed.
    #[error("An artifact cannot be read: {0}")]
    Runner(#[from] io::Error),
}

/// Moves the files that the rules name from `source` into the record. All are found before the first is moved.
///
/// # Errors
/// A rule fits no file.
pub fn collect(source: &Path, rules: &[ArtifactRule], record: &Record) -> Result<Vec<Artifact>, ArtifactError> {
    let inside = Inside::open(source)?;
    let mut wanted: Vec<(PathBuf, &str)> = Vec::new();
    for rule in rules {
        let found = glob::files(&inside, &rule.path)?;
        if found.is_empty() {
            return Err(ArtifactError::Missing(rule.path.clone()));
        }
        for path in found {
            // The first rule that fits says what it is.
            if !wanted.iter().any(|(known, _)| *known == path) {
                wanted.push((path, &rule.kind));
            }
        }
        if wanted.len() > MOST_FILES {
            return Err(ArtifactError::TooMany);
        }
    }
    let mut names = HashSet::new();
    let mut artifacts = Vec::new();
    for (index, (path, kind)) in wanted.into_iter().enumerate() {
        let to = record.artifact(index);
        inside.move_out(&path, &to)?;
        let (size, sha256) = take_over(&to)?;
        let mut name = path.file_name().map(glob::shown_name).unwrap_or_default();
        if !names.insert(name.clone()) {
            name = glob::shown_name(path.as_os_str()).replace('/', "-");
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

/// Makes a file the runner's own, so that nobody changes it any more; gives its size and SHA-256.
fn take_over(path: &Path) -> io::Result<(u64, String)> {
    if rustix::process::geteuid().is_root() {
        chown(path, Some(0), Some(0))?;
    }
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    let mut file = File::open(path)?;
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
