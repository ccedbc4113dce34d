//! Apps: a bundle id belongs to one organization of the service, regardless of letter case.

use launchway_domain::app::App;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{AppId, OrgId};

use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError, System};

/// The result of claiming a bundle id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It was free, or this organization had deleted it, and is now claimed.
    Claimed(App),
    /// It already belonged to this organization.
    AlreadyOwned(App),
    /// Another organization has claimed it, even if it deleted the app since.
    Foreign,
}

row! {
    struct AppRow {
        id: String,
        org_id: String,
        bundle_id: String,
        name: String,
        created_at: i64,
    }
}

impl AppRow {
    fn read(self) -> Result<App, StoreError> {
        Ok(App {
            id: typed("apps.id", &self.id)?,
            org_id: typed("apps.org_id", &self.org_id)?,
            bundle_id: self.bundle_id,
            name: self.name,
            created_at: self.created_at,
        })
    }
}

/// How much an organization keeps of a bundle id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppHoldings {
    /// Updates, of any status.
    pub updates: i64,
    /// Updates that phones are still offered.
    pub offered_updates: i64,
    /// Builds.
    pub builds: i64,
    /// Submissions.
    pub submissions: i64,
    /// Environment variables of this app alone.
    pub env_vars: i64,
    /// Credentials of this app alone.
    pub credentials: i64,
    /// Deployment keys, with which apps in the field ask for updates.
    pub deployment_keys: i64,
}

impl Org<'_> {
    /// Claims a bundle id for this organization, in the spelling of `app`.
    pub async fn claim_app(&mut self, bundle: &BundleId, app: &App) -> Result<Claim, StoreError> {
        let made = execute!(
            self.tx,
            "INSERT INTO apps (id, org_id, bundle_key, bundle_id, name, created_at) VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (bundle_key) DO NOTHING",
            app.id.to_string(),
            &self.id,
            bundle.key(),
            &app.bundle_id,
            &app.name,
            app.created_at
        )?;
        if made == 1 {
            return Ok(Claim::Claimed(app.clone()));
        }
        // The organization may delete or revive the app concurrently, so that neither query finds it: then repeat both.
        loop {
            let revived = fetch_optional!(
                self.tx,
                AppRow,
                "UPDATE apps SET deleted_at = NULL, name = $3 WHERE org_id = $1 AND bundle_key = $2 AND deleted_at IS NOT NULL \
                 RETURNING id, org_id, bundle_id, name, created_at",
                &self.id,
                bundle.key(),
                &app.name
            )?;
            if let Some(row) = revived {
                return Ok(Claim::Claimed(row.read()?));
            }
            if let Some(known) = self.app_by_bundle(bundle).await? {
                return Ok(Claim::AlreadyOwned(known));
            }
            let ours = fetch_optional!(
                self.tx,
                (String,),
                "SELECT id FROM apps WHERE org_id = $1 AND bundle_key = $2",
                &self.id,
                bundle.key()
            )?;
            if ours.is_none() {
                return Ok(Claim::Foreign);
            }
        }
    }

    /// Whether another organization has claimed a bundle id, even if it deleted the app since.
    pub async fn is_foreign_app(&mut self, bundle: &BundleId) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT id FROM apps WHERE bundle_key = $1 AND org_id <> $2",
            bundle.key(),
            &self.id
        )?;
        Ok(row.is_some())
    }

    /// The app with this bundle id.
    pub async fn app_by_bundle(&mut self, bundle: &BundleId) -> Result<Option<App>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            AppRow,
            "SELECT id, org_id, bundle_id, name, created_at FROM apps \
             WHERE org_id = $1 AND bundle_key = $2 AND deleted_at IS NULL",
            &self.id,
            bundle.key()
        )?;
        row.map(AppRow::read).transpose()
    }

    /// One app.
    pub async fn app(&mut self, id: AppId) -> Result<Option<App>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            AppRow,
            "SELECT id, org_id, bundle_id, name, created_at FROM apps WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL",
            &self.id,
            id.to_string()
        )?;
        row.map(AppRow::read).transpose()
    }

    /// The apps, newest first.
    pub async fn apps(&mut self, paging: Paging) -> Result<Rows<App>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            AppRow,
            "SELECT id, org_id, bundle_id, name, created_at FROM apps WHERE org_id = $1 AND deleted_at IS NULL \
             ORDER BY id DESC LIMIT $2 OFFSET $3",
            &self.id,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM apps WHERE org_id = $1 AND deleted_at IS NULL",
            &self.id
        )?;
        Rows::read(rows, total, AppRow::read)
    }

    /// What the organization keeps of a bundle id, whether or not its app is in the list.
    pub async fn app_holdings(&mut self, bundle: &BundleId) -> Result<AppHoldings, StoreError> {
        let (updates, offered_updates, builds, submissions, env_vars, credentials, deployment_keys) = fetch_one!(
            self.tx,
            (i64, i64, i64, i64, i64, i64, i64),
            "SELECT \
             (SELECT COUNT(*) FROM updates WHERE org_id = $1 AND bundle_key = $2 AND deleted_at IS NULL), \
             (SELECT COUNT(*) FROM updates WHERE org_id = $1 AND bundle_key = $2 AND deleted_at IS NULL \
              AND COALESCE(release_status, status) = 'published'), \
             (SELECT COUNT(*) FROM builds WHERE org_id = $1 AND bundle_key = $2), \
             (SELECT COUNT(*) FROM submissions WHERE org_id = $1 AND bundle_key = $2 AND deleted = 0), \
             (SELECT COUNT(*) FROM env_vars WHERE org_id = $1 AND bundle_key = $2), \
             (SELECT COUNT(*) FROM credentials WHERE org_id = $1 AND LOWER(bundle_id) = $2), \
             (SELECT COUNT(*) FROM deployment_keys WHERE org_id = $1 AND bundle_key = $2)",
            &self.id,
            bundle.key()
        )?;
        Ok(AppHoldings {
            updates,
            offered_updates,
            builds,
            submissions,
            env_vars,
            credentials,
            deployment_keys,
        })
    }

    /// Deletes an app from the list; its bundle id stays with the organization. Returns false if there is no such app.
    pub async fn delete_app(&mut self, id: AppId, now: i64) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "UPDATE apps SET deleted_at = $3 WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL",
            &self.id,
            id.to_string(),
            now
        )?;
        Ok(deleted == 1)
    }
}

impl System<'_> {
    /// Moves a bundle id with its updates, packages and signed metadata to another organization; only the operator does
    /// this. Returns the previous organization, or `None` if nobody has claimed it. The app's keys for online roles are
    /// still sealed for the previous one.
    pub async fn transfer_app(&mut self, bundle: &BundleId, to: OrgId, now: i64) -> Result<Option<OrgId>, StoreError> {
        let from = fetch_optional!(
            self.tx,
            (String,),
            "SELECT org_id FROM apps WHERE bundle_key = $1",
            bundle.key()
        )?;
        let Some((from,)) = from else { return Ok(None) };
        let to = to.to_string();
        crate::changes::touch_bundle(self.tx, &bundle.key(), now).await?;
        execute!(
            self.tx,
            "UPDATE apps SET org_id = $2, deleted_at = NULL WHERE bundle_key = $1",
            bundle.key(),
            &to
        )?;
        execute!(
            self.tx,
            "UPDATE packages SET org_id = $2 WHERE id IN (SELECT package_id FROM updates WHERE bundle_key = $1)",
            bundle.key(),
            &to
        )?;
        execute!(
            self.tx,
            "UPDATE updates SET org_id = $2 WHERE bundle_key = $1",
            bundle.key(),
            &to
        )?;
        for statement in [
            "UPDATE trust_repositories SET org_id = $2 WHERE bundle_key = $1",
            "UPDATE trust_online_keys SET org_id = $2 WHERE bundle_key = $1",
            "UPDATE trust_files SET org_id = $2 WHERE bundle_key = $1",
            "UPDATE trust_drafts SET org_id = $2 WHERE bundle_key = $1",
            "UPDATE foreign_ids SET org_id = $2 WHERE bundle_key = $1",
            "UPDATE deployment_keys SET org_id = $2 WHERE bundle_key = $1",
        ] {
            execute!(self.tx, statement, bundle.key(), &to)?;
        }
        Ok(Some(typed("apps.org_id", &from)?))
    }
}
