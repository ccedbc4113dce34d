//! The file with a runner's token, readable only by its owner.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use launchway_api::secret::SecretText;
use zeroize::Zeroizing;

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("cannot use the token file {path}: {source}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// Other users can read the file.
    #[error("others can read the token file {0}: run chmod 600 on it")]
    Open(PathBuf),
    /// The file is empty.
    #[error("the token file {0} is empty: enroll the runner again")]
    Empty(PathBuf),
}

/// Reads the token from a file of mode 0600 or stricter.
///
/// # Errors
/// The file is missing or empty, or other users can read it.
pub fn read(path: &Path) -> Result<SecretText, TokenError> {
    let failed = |source| TokenError::File {
        path: path.to_owned(),
        source,
    };
    if fs::metadata(path).map_err(failed)?.mode() & 0o077 != 0 {
        return Err(TokenError::Open(path.to_owned()));
    }
    let text = Zeroizing::new(fs::read_to_string(path).map_err(failed)?);
    match text.trim() {
        "" => Err(TokenError::Empty(path.to_owned())),
        token => Ok(SecretText::new(token.to_owned())),
    }
}

/// Atomically writes the token to a file of mode 0600.
///
/// # Errors
/// An I/O error.
pub fn write(path: &Path, token: &SecretText) -> Result<(), TokenError> {
    let beside = path.with_extension("new");
    let written = (|| {
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside)?;
        file.write_all(token.reveal().as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    written.map_err(|source| TokenError::File {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn keeps_a_token_for_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        assert!(matches!(read(&path), Err(TokenError::File { .. })));
        write(&path, &SecretText::new("first".to_owned())).unwrap();
        write(&path, &SecretText::new("hunter2".to_owned())).unwrap();
        assert_eq!(read(&path).unwrap().reveal(), "hunter2");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(read(&path), Err(TokenError::Open(_))));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        assert_eq!(read(&path).unwrap().reveal(), "hunter2");
    }

    #[test]
    fn an_empty_file_is_no_token() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        write(&path, &SecretText::new("\n".to_owned())).unwrap();
        assert!(matches!(read(&path), Err(TokenError::Empty(_))));
    }
}
