//! The revision of what a page shows: a change that is based on an older one is refused. It is computed from the rows
//! under the change's own locks; the browser's value is only compared.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_ops::api_error::ApiError;
use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::form_data::FormData;

/// Bytes of the digest that distinguishes states.
const BYTES: usize = 16;

/// The digest of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision(String);

impl Revision {
    /// The revision of a value, which must not contain what changes by itself, such as counts and times of last use.
    pub fn of(shown: &impl Serialize) -> Result<Revision, ApiError> {
        let text = serde_json::to_vec(shown).map_err(|error| ApiError::Internal(error.to_string()))?;
        let digest = Sha256::digest(&text);
        Ok(Revision(BASE64_URL_SAFE_NO_PAD.encode(&digest[..BYTES])))
    }

    /// The revision as a form carries it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Refuses a form that was filled in from another state.
pub fn check(form_data: &FormData, now: &Revision) -> Result<(), ApiError> {
    let given = form_data.text("revision")?;
    if bool::from(given.as_bytes().ct_eq(now.0.as_bytes())) {
        return Ok(());
    }
    Err(ApiError::Changed)
}
