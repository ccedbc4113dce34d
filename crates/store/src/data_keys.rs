//! The keys that seal values: one for each organization and one of the installation, each sealed by the master key.

use launchway_domain::id::OrgId;

use crate::sql::typed;
use crate::{StoreError, System};

fn owner(org: Option<OrgId>) -> String {
    org.map(|org| org.to_string()).unwrap_or_default()
}

impl System<'_> {
    /// The sealed key of an organization, or of the installation for `None`.
    pub async fn data_key(&mut self, org: Option<OrgId>) -> Result<Option<String>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT sealed FROM data_keys WHERE org_id = $1",
            owner(org)
        )?;
        Ok(row.map(|(sealed,)| sealed))
    }

    /// Stores a sealed key unless the owner already has one; returns the stored one.
    pub async fn keep_data_key(&mut self, org: Option<OrgId>, sealed: &str, now: i64) -> Result<String, StoreError> {
        execute!(
            self.tx,
            "INSERT INTO data_keys (org_id, sealed, created_at) VALUES ($1, $2, $3) ON CONFLICT (org_id) DO NOTHING",
            owner(org),
            sealed,
            now
        )?;
        let (kept,) = fetch_one!(
            self.tx,
            (String,),
            "SELECT sealed FROM data_keys WHERE org_id = $1",
            owner(org)
        )?;
        Ok(kept)
    }

    /// Every sealed key and its owner.
    pub async fn data_keys(&mut self) -> Result<Vec<(Option<OrgId>, String)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT org_id, sealed FROM data_keys ORDER BY org_id"
        )?;
        rows.into_iter()
            .map(|(org, sealed)| {
                let owner = if org.is_empty() {
                    None
                } else {
                    Some(typed("data_keys.org_id", &org)?)
                };
                Ok((owner, sealed))
            })
            .collect()
    }

    /// Replaces a sealed key with the same key, sealed again.
    pub async fn reseal_data_key(&mut self, org: Option<OrgId>, sealed: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE data_keys SET sealed = $1 WHERE org_id = $2",
            sealed,
            owner(org)
        )?;
        Ok(())
    }
}
