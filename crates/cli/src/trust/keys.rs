//! The private keys on this machine: one encrypted file for each, in the user's configuration directory.

use std::fs;
use std::io;
use std::path::PathBuf;

use launchway_trust::{PublicKey, SigningKey, SigningKeyError};
use ring::rand::SystemRandom;
use zeroize::Zeroizing;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::private_file;

/// The directory `launchway/keys` in the user's configuration directory. A file is named after the id of its key.
#[derive(Debug)]
pub struct KeyDirectory {
    path: Option<PathBuf>,
}

impl KeyDirectory {
    /// The directory. It need not exist.
    pub fn of(environment: &Environment) -> Self {
        Self {
            path: private_file::directory(environment).map(|directory| directory.join("keys")),
        }
    }

    /// The PEM of a key; `None` if it is not here. Fails when others can read the file.
    pub fn load(&self, public: &PublicKey) -> Result<Option<Zeroizing<String>>, Failure> {
        let Some(path) = self.path.as_ref().map(|path| path.join(file_name(public))) else {
            return Ok(None);
        };
        let text = match fs::read_to_string(&path) {
            Ok(text) => Zeroizing::new(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::failed(format!("cannot read {}: {error}", path.display()))),
        };
        if private_file::is_open_to_others(&path) {
            let shown = path.display();
            return Err(
                Failure::failed(format!("other users can read the private key {shown}")).hint(format!(
                    "run chmod 600 {shown}; replace the key if somebody may have copied it"
                )),
            );
        }
        Ok(Some(text))
    }

    /// Saves a new key, encrypted. Returns the path of its file.
    pub fn save(&self, key: &SigningKey, passphrase: &str, random: &SystemRandom) -> Result<PathBuf, Failure> {
        let directory = self.path.as_ref().ok_or_else(|| {
            Failure::failed("no directory to save keys in").hint("set HOME or XDG_CONFIG_HOME to a directory")
        })?;
        let text = key.to_encrypted_pem(passphrase, random).map_err(key_failure)?;
        let path = directory.join(file_name(key.public()));
        private_file::write(&path, &text)?;
        Ok(path)
    }
}

/// A new key.
pub fn generate(random: &SystemRandom) -> Result<SigningKey, Failure> {
    SigningKey::generate(random).map_err(key_failure)
}

/// The failure of a key that cannot be used.
pub fn key_failure(error: SigningKeyError) -> Failure {
    Failure::failed(error.to_string())
}

/// The first digits of a key's id, enough for a person to distinguish keys.
pub fn short_id(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

fn file_name(public: &PublicKey) -> String {
    format!("{}.pem", public.id())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory_in(home: &std::path::Path) -> KeyDirectory {
        KeyDirectory::of(&Environment::from([("HOME", home.to_str().expect("a path of text"))]))
    }

    #[test]
    fn a_key_is_encrypted_on_disk_and_found_by_its_id() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let (directory, random) = (directory_in(home.path()), SystemRandom::new());
        let key = generate(&random).expect("a key");
        assert!(directory.load(key.public()).expect("no directory").is_none());
        let path = directory.save(&key, "a long passphrase", &random).expect("space");
        assert!(path.ends_with(format!(".config/launchway/keys/{}.pem", key.public().id())));
        let text = directory.load(key.public()).expect("readable").expect("it is there");
        assert!(text.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"), "{}", *text);
        let read = SigningKey::from_pem(&text, Some("a long passphrase")).expect("the passphrase");
        assert_eq!(read.public(), key.public());
        let other = generate(&random).expect("a key");
        assert!(directory.load(other.public()).expect("readable").is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().expect("a temporary directory");
        let (directory, random) = (directory_in(home.path()), SystemRandom::new());
        let key = generate(&random).expect("a key");
        let path = directory.save(&key, "a long passphrase", &random).expect("space");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        let failure = directory.load(key.public()).expect_err("others can read it");
        assert!(failure.hint.is_some_and(|hint| hint.contains("chmod 600")));
    }
}
