//! Versions of roles that lack signatures: one of each role of an app.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::UpdateId;
use launchway_domain::time::EpochMs;

use crate::sql::typed;
use crate::trust_files::{version, version_column};
use crate::{Org, StoreError};

/// The next version of a role, on its way to its threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustDraft {
    /// The role.
    pub role: String,
    /// Its version.
    pub version: u64,
    /// The file with its signatures so far.
    pub content: String,
    /// The updates that it publishes.
    pub update_ids: Vec<UpdateId>,
    /// When it was made.
    pub created_at: EpochMs,
    /// The actor that made it, as text.
    pub created_by: String,
}

/// A draft to store in place of the one that its role has.
#[derive(Clone, Copy, Debug)]
pub struct NewTrustDraft<'d> {
    /// The app.
    pub bundle: &'d BundleId,
    /// The draft.
    pub draft: &'d TrustDraft,
}

row! {
    struct DraftRow {
        role: String,
        version: i64,
        content: String,
        update_ids: String,
        created_at: i64,
        created_by: String,
    }
}

impl DraftRow {
    fn read(self) -> Result<TrustDraft, StoreError> {
        let ids = self.update_ids.split(',').filter(|id| !id.is_empty());
        Ok(TrustDraft {
            role: self.role,
            version: version("trust_drafts.version", self.version)?,
            content: self.content,
            update_ids: ids
                .map(|id| typed("trust_drafts.update_ids", id))
                .collect::<Result<_, _>>()?,
            created_at: self.created_at,
            created_by: self.created_by,
        })
    }
}

impl Org<'_> {
    /// The draft of a role.
    pub async fn trust_draft(&mut self, bundle: &BundleId, role: &str) -> Result<Option<TrustDraft>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            DraftRow,
            "SELECT role, version, content, update_ids, created_at, created_by FROM trust_drafts \
             WHERE org_id = $1 AND bundle_key = $2 AND role = $3",
            &self.id,
            bundle.key(),
            role
        )?;
        row.map(DraftRow::read).transpose()
    }

    /// The drafts of an app, by role.
    pub async fn trust_drafts(&mut self, bundle: &BundleId) -> Result<Vec<TrustDraft>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            DraftRow,
            "SELECT role, version, content, update_ids, created_at, created_by FROM trust_drafts \
             WHERE org_id = $1 AND bundle_key = $2 ORDER BY role",
            &self.id,
            bundle.key()
        )?;
        rows.into_iter().map(DraftRow::read).collect()
    }

    /// Stores a draft in place of the one that its role has. Returns false unless this organization has claimed the app.
    pub async fn put_trust_draft(&mut self, new: &NewTrustDraft<'_>) -> Result<bool, StoreError> {
        let ids: Vec<_> = new.draft.update_ids.iter().map(ToString::to_string).collect();
        let stored = execute!(
            self.tx,
            "INSERT INTO trust_drafts (org_id, bundle_key, role, version, content, update_ids, created_at, created_by) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8 \
             WHERE EXISTS (SELECT 1 FROM apps WHERE bundle_key = $2 AND org_id = $1) ON CONFLICT (bundle_key, role) DO UPDATE SET \
             version = excluded.version, content = excluded.content, update_ids = excluded.update_ids, \
             created_at = excluded.created_at, created_by = excluded.created_by \
             WHERE trust_drafts.org_id = excluded.org_id",
            &self.id,
            new.bundle.key(),
            &new.draft.role,
            version_column(new.draft.version),
            &new.draft.content,
            ids.join(","),
            new.draft.created_at,
            &new.draft.created_by
        )?;
        Ok(stored == 1)
    }

    /// Deletes the draft of a role; returns whether there was one.
    pub async fn delete_trust_draft(&mut self, bundle: &BundleId, role: &str) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "DELETE FROM trust_drafts WHERE org_id = $1 AND bundle_key = $2 AND role = $3",
            &self.id,
            bundle.key(),
            role
        )?;
        Ok(deleted == 1)
    }
}
