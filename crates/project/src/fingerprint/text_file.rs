//! Reads the small files that describe a project.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde_json::Value;

use super::problem::CollectError;

/// Bytes of the largest one. Lockfiles of large projects have a few million.
const LARGEST: u64 = 64 << 20;

/// The text of a file without its byte order mark; `None` when it does not exist. `shown` is its name in errors.
///
/// # Errors
/// It is not a regular file, too large, or not UTF-8.
pub fn read(path: &Path, shown: &str) -> Result<Option<String>, CollectError> {
    let unreadable = |error: std::io::Error| CollectError::unreadable(shown, error);
    let data = match fs::metadata(path) {
        Ok(data) => data,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    // Checked before it is opened: opening a pipe would block.
    if !data.is_file() {
        return Err(CollectError::NoFile(shown.to_owned()));
    }
    if data.len() > LARGEST {
        return Err(CollectError::broken(shown, "it is larger than 64 MiB"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(LARGEST).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| CollectError::broken(shown, "it is not UTF-8 text"))?;
    Ok(Some(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }))
}

/// The JSON in a file; `None` when it does not exist.
///
/// # Errors
/// As [`read`], or the content is not JSON.
pub fn json(path: &Path, shown: &str) -> Result<Option<Value>, CollectError> {
    let text = read(path, shown)?;
    text.map(|text| serde_json::from_str(&text).map_err(|error| CollectError::broken(shown, error)))
        .transpose()
}
