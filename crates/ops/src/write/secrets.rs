//! Sealing and opening within a change.

use launchway_domain::id::OrgId;
use launchway_vault::Place;
use zeroize::Zeroizing;

use super::{NOTHING, Write};
use crate::api_error::ApiError;

impl Write<'_> {
    /// Seals a secret for its place.
    pub async fn seal(&mut self, place: &Place<'_>, value: &[u8]) -> Result<String, ApiError> {
        self.seal_for(self.org, place, value).await
    }

    pub(super) async fn seal_for(&mut self, org: OrgId, place: &Place<'_>, value: &[u8]) -> Result<String, ApiError> {
        let key = match self.keys.get(&org) {
            Some(key) => key.clone(),
            None => self.app.vault.sealing_key(&mut self.tx, org).await?,
        };
        let sealed = key.seal(org, place, value, &*self.app.random);
        self.keys.insert(org, key);
        Ok(sealed)
    }

    /// Opens a secret, and records the reason in the audit log.
    pub async fn open_secret(
        &mut self,
        place: &Place<'_>,
        sealed: &str,
        what_for: &str,
    ) -> Result<Zeroizing<Vec<u8>>, ApiError> {
        let value = self.app.vault.unseal(&mut self.tx, self.org, place, sealed).await?;
        let details = serde_json::json!({"field": place.field, "for": what_for});
        self.audit("secret.open", &place.record, NOTHING, Some(&details))
            .await?;
        Ok(value)
    }

    /// Opens a value that everybody who may list it may read.
    pub async fn open_plain(&mut self, place: &Place<'_>, sealed: &str) -> Result<Zeroizing<Vec<u8>>, ApiError> {
        Ok(self.app.vault.unseal(&mut self.tx, self.org, place, sealed).await?)
    }
}
