//! Passwords: hashed with Argon2id, a bounded number at a time, so that sign-ins cannot exhaust the machine.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use tokio::sync::Semaphore;

use crate::api_error::ApiError;

/// The maximum number of passwords waiting for a slot. More would wait longer than people do.
const WAITING: usize = 100;
const BUSY: &str = "Too many users are signing in. Try again in a few seconds.";
const MIN_LENGTH: usize = 12;
const MAX_BYTES: usize = 1024;
/// Verified when an address has no account, so that the response time does not reveal which ones have. Fixed, because to
/// make one at each start would take 19 MiB that most servers need for nothing else.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5J3Mgc2FsdC4uLg$bm8gcGFzc3dvcmQgaGFzIHRoaXMgaGFzaCwgZXZlci4";

/// Hashes and verifies passwords.
pub struct Passwords {
    slots: Arc<Semaphore>,
    /// Permits for waiting and running calls.
    queue: Semaphore,
}

impl Passwords {
    /// Hashes at most `at_a_time` passwords at once.
    pub fn new(at_a_time: usize) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(at_a_time)),
            queue: Semaphore::new(at_a_time + WAITING),
        }
    }

    /// Validates the form of a new password and hashes it.
    pub async fn hash(&self, password: &str) -> Result<String, ApiError> {
        if password.chars().count() < MIN_LENGTH {
            return Err(ApiError::bad(format!(
                "password must have at least {MIN_LENGTH} characters"
            )));
        }
        if password.len() > MAX_BYTES {
            return Err(ApiError::bad(format!("password must have at most {MAX_BYTES} bytes")));
        }
        let password = password.to_owned();
        self.blocking(move || {
            Argon2::default()
                .hash_password(password.as_bytes())
                .map(|hash| hash.to_string())
        })
        .await?
        .map_err(|error| ApiError::Internal(format!("hashing a password: {error}")))
    }

    /// Whether a password matches a hash. Without a hash it takes the same time and returns false.
    pub async fn verify(&self, password: &str, hash: Option<&str>) -> Result<bool, ApiError> {
        if password.len() > MAX_BYTES {
            return Ok(false);
        }
        let (password, known, hash) = (password.to_owned(), hash.is_some(), hash.unwrap_or(NOBODY).to_owned());
        let fits = self
            .blocking(move || {
                PasswordHash::new(&hash)
                    .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
            })
            .await?;
        Ok(fits && known)
    }

    /// Runs work in a slot. The work owns the slot, so it remains taken if the caller is dropped while the work runs.
    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
        let internal = |error: &dyn std::fmt::Display| ApiError::Internal(error.to_string());
        let place = self.queue.try_acquire();
        let _place = place.map_err(|_| ApiError::Unavailable(BUSY.to_owned()))?;
        let slot = self.slots.clone().acquire_owned().await;
        let slot = slot.map_err(|error| internal(&error))?;
        let worked = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            work()
        });
        worked.await.map_err(|error| internal(&error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures::FutureExt;

    use super::*;

    /// Another cost would reveal by its time which addresses have an account.
    #[test]
    fn the_hash_of_nobody_costs_what_others_cost() {
        let hash = Argon2::default()
            .hash_password(b"a password")
            .expect("a hash")
            .to_string();
        let cost = |hash: &str| hash.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(cost(NOBODY), cost(&hash));
        let nobody = PasswordHash::new(NOBODY).expect("a hash");
        let refusal = Argon2::default().verify_password(b"a password", &nobody);
        assert!(
            matches!(refusal, Err(argon2::password_hash::Error::PasswordInvalid)),
            "{refusal:?}"
        );
    }

    /// Otherwise a disconnected client would leave a hash running while its slot goes to the next.
    #[tokio::test]
    async fn a_hash_whose_caller_has_gone_keeps_its_slot() {
        let passwords = Passwords::new(1);
        let (go, gone) = mpsc::channel::<()>();
        let mut first = Box::pin(passwords.blocking(move || gone.recv()));
        assert!(first.as_mut().now_or_never().is_none());
        drop(first);
        assert_eq!(passwords.slots.available_permits(), 0);
        let mut second = Box::pin(passwords.blocking(|| ()));
        assert!(second.as_mut().now_or_never().is_none());
        go.send(()).expect("the hash still runs");
        second.await.expect("the slot is free");
    }

    #[tokio::test]
    async fn a_bounded_number_waits() {
        let passwords = Passwords::new(1);
        let (go, gone) = mpsc::channel::<()>();
        let mut running = vec![Box::pin(passwords.blocking(move || _ = gone.recv())).boxed()];
        for _ in 0..WAITING {
            running.push(Box::pin(passwords.blocking(|| ())).boxed());
        }
        for one in &mut running {
            assert!(one.now_or_never().is_none());
        }
        let refused = passwords.verify("a password", None).await;
        assert!(matches!(refused, Err(ApiError::Unavailable(_))), "{refused:?}");
        go.send(()).expect("the hash still runs");
        for done in futures::future::join_all(running).await {
            done.expect("those who waited are served");
        }
        assert!(!passwords.verify("a password", None).await.expect("there is room again"));
    }
}
