//! Randomness, replaceable in tests.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_domain::api_key::{ApiKey, RANDOM_BYTES};
use launchway_domain::id::{Id, Kind};
use launchway_domain::time::EpochMs;
use sha2::{Digest, Sha256};

/// A source of random bytes.
pub trait Random: Send + Sync + 'static {
    /// Fills a buffer with random bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's random number generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that asks the system for randomness"
    )]
    fn fill(&self, bytes: &mut [u8]) {
        // Without randomness no secret is safe, so the process must stop.
        getrandom::fill(bytes).expect("the operating system provides randomness");
    }
}

impl dyn Random {
    /// A new identifier.
    pub fn id<K: Kind>(&self, now: EpochMs) -> Id<K> {
        let mut random = [0; 10];
        self.fill(&mut random);
        Id::new(now, random)
    }

    /// A new API key.
    pub fn api_key(&self) -> ApiKey {
        loop {
            let mut random = [0; RANDOM_BYTES];
            self.fill(&mut random);
            if let Some(key) = ApiKey::from_random(&random) {
                return key;
            }
        }
    }

    /// A new token for a cookie or a link: 32 random bytes as text of 43 characters.
    pub fn token(&self) -> String {
        let mut random = [0; 32];
        self.fill(&mut random);
        BASE64_URL_SAFE_NO_PAD.encode(random)
    }
}

/// The stored form of a token: lower-case hex SHA-256.
pub fn token_hash(token: &str) -> String {
    hex::encode(Sha256::digest(token.as_bytes()))
}
