//! HMAC-SHA256 under a key of one purpose: what shows that something was said here.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of a short MAC: enough against who can only try it out here.
pub const SHORT: usize = 16;

/// A key that MACs are made with. It is not printed.
#[derive(Clone)]
pub struct MacKey(Hmac<Sha256>);

impl MacKey {
    /// The key of these bytes.
    pub fn new(key: &[u8; 32]) -> MacKey {
        MacKey(Hmac::new_from_slice(key).expect("HMAC takes keys of any length"))
    }

    /// The MAC of these parts, one behind the other. Where one ends must be clear from the parts themselves.
    pub fn of(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// The beginning of the same.
    pub fn short(&self, parts: &[&[u8]]) -> [u8; SHORT] {
        let mut short = [0; SHORT];
        short.copy_from_slice(&self.of(parts)[..SHORT]);
        short
    }
}
