//! The OpenID Connect provider that users may sign in through.

use launchway_outbound::address_guard::{check_url, is_near};
use launchway_outbound::provider::ProviderSettings;
use zeroize::Zeroizing;

use super::ConfigError;
use super::raw::RawSettings;

/// Parses the three settings: all of them, or none.
pub fn parse(raw: &RawSettings) -> Result<Option<ProviderSettings>, ConfigError> {
    const ISSUER: &str = "--oidc-issuer";
    const SECRET: &str = "--oidc-client-secret-file";
    let (issuer, client_id, file) = match (&raw.oidc_issuer, &raw.oidc_client_id, &raw.oidc_client_secret_file) {
        (None, None, None) => return Ok(None),
        (Some(issuer), Some(client_id), Some(file)) => (issuer, client_id, file),
        _ => {
            let problem = "must be set together with --oidc-client-id and --oidc-client-secret-file";
            return Err(ConfigError::new(ISSUER, problem.to_owned()));
        }
    };
    let url = check_url(issuer, true).map_err(|refused| ConfigError::new(ISSUER, refused.to_string()))?;
    if url.scheme() == "http" && !is_near(&url) {
        let problem = "must start with https://; http is only for this machine and private networks";
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
    Ok(Some(ProviderSettings {
        issuer: issuer.clone(),
        client_id: client_id.clone(),
        client_secret,
        client_secret_file: file.into(),
    }))
}
