//! Passwords in the encodings that key derivations use, and the limit on derivations for one file.

use zeroize::Zeroizing;

use crate::parse_error::ParseError;

/// The maximum number of derivation rounds for one file. Programs write 2,000 to 100,000 for each part of a file.
const MAX_ROUNDS: u64 = 10_000_000;
/// The maximum length of a password in bytes: each key of a file costs a digest of it.
const MAX_PASSWORD: usize = 1024;

/// A password in the encoding of each derivation.
pub(crate) struct Password {
    /// UTF-8, for PBKDF2.
    pub(crate) utf8: Zeroizing<Vec<u8>>,
    /// UTF-16, big endian, for JKS.
    pub(crate) utf16: Zeroizing<Vec<u8>>,
    /// UTF-16, big endian, for PKCS#12's own derivation: NUL-terminated, except in one form of the empty password.
    pub(crate) pkcs12: Zeroizing<Vec<u8>>,
}

impl Password {
    /// The form of a password, or the two forms that programs use for the empty one. Empty if the password is too long
    /// to open anything.
    pub(crate) fn forms(text: &str) -> Vec<Self> {
        if text.len() > MAX_PASSWORD {
            return Vec::new();
        }
        let utf16: Zeroizing<Vec<u8>> = Zeroizing::new(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
        let mut ended = Zeroizing::new(Vec::with_capacity(utf16.len() + 2));
        ended.extend_from_slice(&utf16);
        ended.extend([0, 0]);
        let form = |pkcs12| Self {
            utf8: Zeroizing::new(text.as_bytes().to_vec()),
            utf16: utf16.clone(),
            pkcs12,
        };
        let mut forms = vec![form(ended)];
        if text.is_empty() {
            forms.push(form(Zeroizing::default()));
        }
        forms
    }
}

/// The remaining derivation rounds of a file.
pub(crate) struct Rounds(u64);

impl Rounds {
    pub(crate) fn new() -> Self {
        Self(MAX_ROUNDS)
    }

    /// Deducts the rounds for a derivation of `bytes` bytes, when each run of `iterations` yields `per_run` bytes.
    pub(crate) fn spend(&mut self, iterations: u64, bytes: usize, per_run: usize) -> Result<(), ParseError> {
        if iterations == 0 {
            return Err(ParseError::MalformedError);
        }
        let runs = bytes.div_ceil(per_run) as u64;
        let left = self.0.checked_sub(iterations.saturating_mul(runs));
        self.0 = left.ok_or(ParseError::TooManyIterations)?;
        Ok(())
    }
}
