//! The files of the master key. During a rotation the new key waits in a file beside the old one until the database is
//! sealed with it, so that a crash at any moment leaves a matching key.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use launchway_os::folders::{folder_of, new_private_file, sync_folder};

use crate::MasterKey;

/// The master key that matches the database: the one in its file, or one that a rotation left beside it, which then
/// replaces it.
pub fn finish_rotation(file: &Path, check: &str) -> Option<MasterKey> {
    let present = MasterKey::read_file(file).ok();
    if let Some(key) = present.filter(|key| key.fits(check)) {
        return Some(key);
    }
    let key = MasterKey::read_file(&waiting(file))
        .ok()
        .filter(|key| key.fits(check))?;
    if let Err(error) = put_in_place(file) {
        tracing::warn!(%error, file = %file.display(), "cannot replace the old master key with the new one");
    }
    Some(key)
}

/// The file in which the next master key waits, beside the present one.
pub fn waiting(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    file.with_file_name(name)
}

/// Writes the next master key into its waiting file, replacing what an earlier rotation left there.
///
/// # Errors
/// The error of the operating system.
pub fn write_waiting(file: &Path, key: &MasterKey) -> io::Result<()> {
    let path = waiting(file);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut out = new_private_file(&path)?;
    out.write_all(key.to_text().as_bytes())?;
    out.sync_all()?;
    sync_folder(folder_of(&path))
}

fn put_in_place(file: &Path) -> io::Result<()> {
    std::fs::rename(waiting(file), file)?;
    sync_folder(folder_of(file))
}

#[cfg(test)]
mod tests {
    use launchway_os::random::SystemRandom;

    use super::*;

    #[test]
    fn the_key_that_fits_the_database_ends_in_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("master.key");
        let old = MasterKey::load(&file, true, &SystemRandom).expect("a key");
        let new = MasterKey::make(&SystemRandom);
        write_waiting(&file, &MasterKey::make(&SystemRandom)).expect("an abandoned rotation");
        write_waiting(&file, &new).expect("the waiting key");
        let found = |check: &MasterKey| finish_rotation(&file, &check.check_value()).map(|key| key.check_value());
        // The process died before the database was sealed with the new key, or after it.
        assert_eq!(found(&old), Some(old.check_value()));
        assert!(
            waiting(&file).exists(),
            "the database may be sealed with the new key in a moment"
        );
        assert_eq!(found(&new), Some(new.check_value()));
        assert!(!waiting(&file).exists());
        let present = MasterKey::read_file(&file).expect("the key file");
        assert_eq!(present.check_value(), new.check_value());
        assert_eq!(found(&old), None, "the old key is gone");
    }
}
