//! Keys of an S3-compatible store.

use std::fmt;

use launchway_domain::time::{SECOND, from_rfc3339};

use crate::BlobError;

/// The credentials from the standard AWS variables. `Debug` shows no secret.
#[derive(Clone, Default)]
pub struct Credentials {
    /// `AWS_ACCESS_KEY_ID`.
    pub access_key_id: String,
    /// `AWS_SECRET_ACCESS_KEY`.
    pub secret_access_key: String,
    /// `AWS_SESSION_TOKEN` of temporary credentials.
    pub session_token: Option<String>,
    /// `AWS_CREDENTIAL_EXPIRATION` in ISO 8601: no URL claims to live longer.
    pub expiration: Option<String>,
    /// The region if the storage URL names none; the final default is `us-east-1`.
    pub region: Option<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("access_key_id", &self.access_key_id)
            .finish_non_exhaustive()
    }
}

/// A time of the credentials in epoch seconds.
pub(super) fn epoch_second(iso: &str) -> Result<i64, BlobError> {
    let time = from_rfc3339(iso).ok_or_else(|| {
        BlobError::Settings(format!(
            "AWS_CREDENTIAL_EXPIRATION: `{iso}` is not a time such as 2026-11-20T10:00:00Z"
        ))
    })?;
    Ok(time.div_euclid(SECOND))
}
