//! Deployment keys: what CodePush's clients send to name a platform and a configuration of an app.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::DeploymentKeyId;
use launchway_domain::release::DeploymentKey;

use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError};

row! {
    struct DeploymentKeyRow {
        id: String,
        org_id: String,
        bundle_id: String,
        platform: String,
        configuration: String,
        deployment_key: String,
        created_by: String,
        created_at: i64,
    }
}

impl DeploymentKeyRow {
    fn read(self) -> Result<DeploymentKey, StoreError> {
        let configuration = (!self.configuration.is_empty()).then_some(self.configuration);
        Ok(DeploymentKey {
            id: typed("deployment_keys.id", &self.id)?,
            org_id: typed("deployment_keys.org_id", &self.org_id)?,
            bundle_id: self.bundle_id,
            platform: typed("deployment_keys.platform", &self.platform)?,
            configuration: configuration
                .map(|label| typed("deployment_keys.configuration", &label))
                .transpose()?,
            key: self.deployment_key,
            created_by: self.created_by,
            created_at: self.created_at,
        })
    }
}

/// Selects the columns of [`DeploymentKeyRow`]; a condition follows.
macro_rules! select_deployment_keys {
    ($rest:literal) => {
        concat!(
            "SELECT id, org_id, bundle_id, platform, configuration, deployment_key, created_by, created_at ",
            "FROM deployment_keys WHERE ",
            $rest
        )
    };
}

impl Org<'_> {
    /// Stores a key; returns false if the app has this key already.
    pub async fn create_deployment_key(&mut self, bundle: &BundleId, key: &DeploymentKey) -> Result<bool, StoreError> {
        let created = execute!(
            self.tx,
            "INSERT INTO deployment_keys (id, org_id, bundle_key, bundle_id, platform, configuration, deployment_key, \
             created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
             ON CONFLICT (bundle_key, deployment_key) DO NOTHING",
            key.id.to_string(),
            &self.id,
            bundle.key(),
            &key.bundle_id,
            key.platform.as_str(),
            key.configuration.as_ref().map_or("", Configuration::as_str),
            &key.key,
            &key.created_by,
            key.created_at
        )?;
        Ok(created == 1)
    }

    /// One key.
    pub async fn deployment_key(&mut self, id: DeploymentKeyId) -> Result<Option<DeploymentKey>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            DeploymentKeyRow,
            select_deployment_keys!("org_id = $1 AND id = $2"),
            &self.id,
            id.to_string()
        )?;
        row.map(DeploymentKeyRow::read).transpose()
    }

    /// The keys of an app, or, without one, of all apps, newest first.
    pub async fn deployment_keys(
        &mut self,
        bundle: Option<&BundleId>,
        paging: Paging,
    ) -> Result<Rows<DeploymentKey>, StoreError> {
        let bundle = bundle.map(BundleId::key).unwrap_or_default();
        let rows = fetch_all!(
            self.tx,
            DeploymentKeyRow,
            select_deployment_keys!("org_id = $1 AND ($2 = '' OR bundle_key = $2) ORDER BY id DESC LIMIT $3 OFFSET $4"),
            &self.id,
            &bundle,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM deployment_keys WHERE org_id = $1 AND ($2 = '' OR bundle_key = $2)",
            &self.id,
            &bundle
        )?;
        Rows::read(rows, total, DeploymentKeyRow::read)
    }

    /// Deletes a key; returns false if there is none.
    pub async fn delete_deployment_key(&mut self, id: DeploymentKeyId) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "DELETE FROM deployment_keys WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(deleted == 1)
    }
}
