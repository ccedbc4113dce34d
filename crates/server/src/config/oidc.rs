//! The OpenID Connect provider that users may sign in through.

use std::fmt;
use std::path::PathBuf;

use zeroize::Zeroizing;

use super::ConfigError;
use super::raw::RawSettings;
use crate::outbound::address_guard::{check_url, is_near};

/// The provider, and this service's credentials there. `Debug` hides the secret.
#[derive(Clone)]
pub struct Oidc {
    /// The provider's address as its tokens state it.
    pub issuer: String,
    /// The id of this service there.
    pub client_id: String,
    /// The secret that the provider issued to it.
    pub client_secret: Zeroizing<String>,
    /// The file that contains the secret.
    pub client_secret_file: PathBuf,
}

impl fmt::Debug for Oidc {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Oidc")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

impl Oidc {
    /// Parses the three settings: all of them, or none.
    pub fn parse(raw: &RawSettings) -> Result<Option<Oidc>, ConfigError> {
        const ISSUER: &str = "--oidc-issuer";
        const SECRET: &str = "--oidc-client-secret-file";
        let (issuer, client_id, file) = match (&raw.oidc_issuer, &raw.oidc_client_id, &raw.oidc_client_secret_file) {
            (None, None, None) => return Ok(None),
            (Some(issuer), Some(client_id), Some(file)) => (issuer, client_id, file),
            _ => {
                let problem = "needs --oidc-client-id and --oidc-client-secret-file beside it, and they need it";
                return Err(ConfigError::new(ISSUER, problem.to_owned()));
            }
        };
        let url = check_url(issuer, true).map_err(|refused| ConfigError::new(ISSUER, refused.to_string()))?;
        if url.scheme() == "http" && !is_near(&url) {
            let problem = "must start with https://; http is for this machine and private networks";
            return Err(ConfigError::new(ISSUER, problem.to_owned()));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(ConfigError::new(
                ISSUER,
                "must have no query and no fragment".to_owned(),
            ));
        }
        let read = std::fs::read_to_string(file).map(Zeroizing::new);
        let secret = read.map_err(|error| ConfigError::new(SECRET, format!("{file}: {error}")))?;
        if client_id.trim().is_empty() {
            return Err(ConfigError::new("--oidc-client-id", "must not be empty".to_owned()));
        }
        let client_secret = Zeroizing::new(secret.trim().to_owned());
        if client_secret.is_empty() {
            return Err(ConfigError::new(SECRET, format!("{file}: is empty")));
        }
        Ok(Some(Oidc {
            issuer: issuer.clone(),
            client_id: client_id.clone(),
            client_secret,
            client_secret_file: file.into(),
        }))
    }
}
