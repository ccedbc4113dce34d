//! Passwords: Argon2id, a bounded number at a time so that sign-ins cannot take the machine.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use tokio::sync::Semaphore;

use crate::failure::Failure;

const MIN_LENGTH: usize = 12;
const MAX_BYTES: usize = 1024;

/// Hashes and verifies passwords.
pub struct Passwords {
    slots: Semaphore,
    nobody: String,
}

impl Passwords {
    /// At most `at_a_time` passwords are hashed at once.
    pub fn new(at_a_time: usize) -> Self {
        // Verified when an address has no account, so that the time of the answer does not tell which ones have.
        let nobody = Argon2::default()
            .hash_password(b"nobody's password")
            .map(|hash| hash.to_string());
        Self {
            slots: Semaphore::new(at_a_time),
            nobody: nobody.unwrap_or_default(),
        }
    }

    /// Checks the form of a new password and hashes it.
    pub async fn hash(&self, password: &str) -> Result<String, Failure> {
        if password.chars().count() < MIN_LENGTH {
            return Err(Failure::bad(format!(
                "password must have at least {MIN_LENGTH} characters"
            )));
        }
        if password.len() > MAX_BYTES {
            return Err(Failure::bad(format!("password must have at most {MAX_BYTES} bytes")));
        }
        let password = password.to_owned();
        self.blocking(move || {
            Argon2::default()
                .hash_password(password.as_bytes())
                .map(|hash| hash.to_string())
        })
        .await?
        .map_err(|error| Failure::Internal(format!("hashing a password: {error}")))
    }

    /// Whether a password fits a hash; without a hash it takes the same time and does not.
    pub async fn verify(&self, password: &str, hash: Option<&str>) -> Result<bool, Failure> {
        if password.len() > MAX_BYTES {
            return Ok(false);
        }
        let (password, known, hash) = (
            password.to_owned(),
            hash.is_some(),
            hash.unwrap_or(&self.nobody).to_owned(),
        );
        let fits = self
            .blocking(move || {
                PasswordHash::new(&hash)
                    .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
            })
            .await?;
        Ok(fits && known)
    }

    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        let _slot = self
            .slots
            .acquire()
            .await
            .map_err(|error| Failure::Internal(error.to_string()))?;
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| Failure::Internal(error.to_string()))
    }
}
