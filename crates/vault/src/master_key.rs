//! The master key: 32 bytes in a file outside the database. Keys for single purposes are derived from it.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hkdf::Hkdf;
use launchway_domain::mac::MacKey;
use launchway_os::folders::{folder_of, make_private_dir, new_private_file, sync_folder};
use launchway_os::random::Random;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The key that seals all others. It has no `Debug`, so that no log can contain it.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; 32]>);

/// The purpose of a derived key.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// Signs URLs of the local object directory.
    SignedUrls,
    /// Signs install links of builds.
    InstallLinks,
    /// Signs the tokens of device reports.
    DeviceReports,
    /// Derives the secrets with which app stores sign their events.
    StoreEvents,
    /// Chains the audit log.
    Audit,
    /// MACs the bodies of idempotent requests.
    Idempotency,
    /// MACs the tokens of the dashboard's forms.
    Forms,
    /// Seals the secrets that users share with their authenticator apps.
    TwoFactor,
    /// Seals forms that were submitted after their session had ended.
    KeptForms,
    /// Signs the proof of a right password for the page that asks for the code.
    SecondStep,
    /// Signs the proof that a device has signed a user in before.
    KnownDevices,
    /// Assigns budgets of tries to addresses without an account.
    UnknownAccounts,
    /// Seals the data keys of organizations.
    DataKeys,
    /// MACs the local snapshot of the index.
    LocalIndex,
    /// Shows whether the master key belongs to the database.
    Check,
}

impl Purpose {
    /// The text that separates this purpose from the others.
    pub const fn label(self) -> &'static [u8] {
        match self {
            Purpose::SignedUrls => b"launchway signed urls 1",
            Purpose::InstallLinks => b"launchway install links 1",
            Purpose::DeviceReports => b"launchway device reports 1",
            Purpose::StoreEvents => b"launchway store events 1",
            Purpose::Audit => b"launchway audit 1",
            Purpose::Idempotency => b"launchway idempotency 1",
            Purpose::Forms => b"launchway forms 1",
            Purpose::TwoFactor => b"launchway two-factor 1",
            Purpose::KeptForms => b"launchway kept forms 1",
            Purpose::SecondStep => b"launchway second step 1",
            Purpose::KnownDevices => b"launchway known devices 1",
            Purpose::UnknownAccounts => b"launchway unknown accounts 1",
            Purpose::DataKeys => b"launchway data keys 1",
            Purpose::LocalIndex => b"launchway local index 1",
            Purpose::Check => b"launchway master key check 1",
        }
    }
}

/// Derives a key for one purpose from another key (HKDF-SHA256, RFC 5869).
pub(crate) fn derive(key: &[u8; 32], purpose: Purpose) -> Zeroizing<[u8; 32]> {
    let mut derived = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(None, key)
        .expand(purpose.label(), &mut *derived)
        .expect("32 bytes are within HKDF's bounds");
    derived
}

/// Why the master key cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum MasterKeyError {
    /// The file is missing, although the database is sealed with its key.
    #[error("{}: is missing, although this database was sealed with it; restore the file", .0.display())]
    Missing(PathBuf),
    /// The file cannot be read or written, or does not contain a key.
    #[error("{}: {cause}", .file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        cause: std::io::Error,
    },
}

impl MasterKey {
    /// Reads the key file. If it is missing and `may_make`, creates it (mode 0600).
    ///
    /// # Errors
    /// [`MasterKeyError`].
    pub fn load(path: &Path, may_make: bool, random: &dyn Random) -> Result<MasterKey, MasterKeyError> {
        let key = match Self::read_file(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if !may_make {
                    return Err(MasterKeyError::Missing(path.to_owned()));
                }
                Self::make_file(path, random)
            }
            read => read,
        };
        key.map_err(|cause| MasterKeyError::Unusable {
            file: path.to_owned(),
            cause,
        })
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// The error of the operating system, or a sentence about contents that are not a key.
    pub fn read_file(path: &Path) -> std::io::Result<MasterKey> {
        let bytes = Zeroizing::new(std::fs::read(path)?);
        let open_to_others = std::fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0);
        if open_to_others {
            tracing::warn!(file = %path.display(), "other users can read the master key; run chmod 600 on it");
        }
        Self::read(&bytes).ok_or_else(|| std::io::Error::other("must have 32 bytes, raw or as 64 hex digits"))
    }

    /// A new random key.
    pub fn make(random: &dyn Random) -> MasterKey {
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        Self::from_bytes(bytes)
    }

    /// The contents of the key file: 64 hex digits and a line feed.
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{}\n", hex::encode(*self.0)))
    }

    /// Whether a database with this check value is sealed with this key.
    pub fn fits(&self, check: &str) -> bool {
        bool::from(self.check_value().as_bytes().ct_eq(check.as_bytes()))
    }

    /// A key from its bytes, for tests and restores.
    pub fn from_bytes(bytes: [u8; 32]) -> MasterKey {
        MasterKey(Zeroizing::new(bytes))
    }

    fn read(bytes: &[u8]) -> Option<MasterKey> {
        if let Ok(raw) = <[u8; 32]>::try_from(bytes) {
            return Some(Self::from_bytes(raw));
        }
        let text = Zeroizing::new(hex::decode(bytes.trim_ascii()).ok()?);
        <[u8; 32]>::try_from(text.as_slice()).ok().map(Self::from_bytes)
    }

    fn make_file(path: &Path, random: &dyn Random) -> std::io::Result<MasterKey> {
        let key = Self::make(random);
        make_private_dir(folder_of(path))?;
        match new_private_file(path) {
            Ok(mut file) => {
                file.write_all(key.to_text().as_bytes())?;
                file.sync_all()?;
                sync_folder(folder_of(path))?;
                Ok(key)
            }
            // Another process created the file first, so its key is the one to use.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let bytes = Zeroizing::new(std::fs::read(path)?);
                Self::read(&bytes)
                    .ok_or_else(|| std::io::Error::other("is being written by another process; try again"))
            }
            Err(error) => Err(error),
        }
    }

    /// Derives the key for one purpose.
    pub fn derive(&self, purpose: Purpose) -> Zeroizing<[u8; 32]> {
        derive(&self.0, purpose)
    }

    /// A value that identifies the key of a database without revealing it.
    pub fn check_value(&self) -> String {
        hex::encode(MacKey::new(&self.derive(Purpose::Check)).of(&[b"launchway"]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use launchway_os::random::SystemRandom;

    #[test]
    fn is_made_once_and_readable_by_its_owner_only() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("data/master.key");
        assert!(MasterKey::load(&path, false, &SystemRandom).is_err());
        let made = MasterKey::load(&path, true, &SystemRandom).expect("makes a key");
        let again = MasterKey::load(&path, false, &SystemRandom).expect("reads it");
        assert_eq!(made.check_value(), again.check_value());
        assert_eq!(
            std::fs::metadata(&path).expect("the file").permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn purposes_have_keys_of_their_own() {
        let key = MasterKey::from_bytes([1; 32]);
        assert_ne!(*key.derive(Purpose::SignedUrls), *key.derive(Purpose::DeviceReports));
        assert_ne!(key.check_value(), MasterKey::from_bytes([2; 32]).check_value());
    }
}
