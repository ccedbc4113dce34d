//! HMAC-SHA256 under a key of one purpose: proves that this service issued something.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of a short MAC: enough where an attacker can only guess online.
pub const SHORT: usize = 16;

/// A MAC key. `Debug` hides it.
#[derive(Clone)]
pub struct MacKey(Hmac<Sha256>);

impl MacKey {
    /// The key with these bytes.
    pub fn new(key: &[u8; 32]) -> MacKey {
        MacKey(Hmac::new_from_slice(key).expect("HMAC takes keys of any length"))
    }

    /// The MAC of the concatenated parts. The parts themselves must make clear where each ends.
    pub fn of(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// The first [`SHORT`] bytes of the MAC.
    pub fn short(&self, parts: &[&[u8]]) -> [u8; SHORT] {
        let mut short = [0; SHORT];
        short.copy_from_slice(&self.of(parts)[..SHORT]);
        short
    }
}
