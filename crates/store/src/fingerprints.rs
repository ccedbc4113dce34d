//! Fingerprint documents, by bundle and hash: what explains why two builds or updates differ.

use launchway_domain::bundle_id::BundleId;

use crate::{Org, StoreError};

impl Org<'_> {
    /// Keeps a fingerprint document of a bundle under its hash; not when the bundle belongs to another organization. Gives
    /// whether it is new.
    pub async fn keep_fingerprint(
        &mut self,
        bundle: &BundleId,
        hash: &str,
        document: &str,
        now: i64,
    ) -> Result<bool, StoreError> {
        let kept = execute!(
            self.tx,
            "INSERT INTO fingerprints (bundle_key, hash, document, created_at) SELECT $1, $2, $3, $4 \
             WHERE NOT EXISTS (SELECT 1 FROM apps WHERE bundle_key = $1 AND org_id <> $5) ON CONFLICT DO NOTHING",
            bundle.key(),
            hash,
            document,
            now,
            &self.id
        )?;
        Ok(kept > 0)
    }

    /// The document of a bundle under a hash, if it is known; never of a bundle that belongs to another organization.
    pub async fn fingerprint_document(&mut self, bundle: &BundleId, hash: &str) -> Result<Option<String>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT document FROM fingerprints WHERE bundle_key = $1 AND hash = $2 \
             AND NOT EXISTS (SELECT 1 FROM apps WHERE bundle_key = $1 AND org_id <> $3)",
            bundle.key(),
            hash,
            &self.id
        )?;
        Ok(row.map(|(document,)| document))
    }
}
