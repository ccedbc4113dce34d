//! Fingerprint documents, by bundle and hash: they explain why two builds or updates differ.

use launchway_domain::bundle_id::BundleId;

use crate::{Org, StoreError};

impl Org<'_> {
    /// Stores a fingerprint document of a bundle under its hash, unless the bundle belongs to another organization. Returns
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

    /// The document of a bundle under a hash, if it is known; never of a bundle of another organization.
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

    /// Records the `lwfp-2` hash of a stored document. Only for a bundle of this organization, because it decides which
    /// apps are offered an update; the first recorded value stays. Returns whether anything changed.
    pub async fn pair_fingerprint(&mut self, bundle: &BundleId, hash: &str, lwfp2: &str) -> Result<bool, StoreError> {
        let noted = execute!(
            self.tx,
            "UPDATE fingerprints SET lwfp2 = $3 WHERE bundle_key = $1 AND hash = $2 AND lwfp2 IS NULL \
             AND EXISTS (SELECT 1 FROM apps WHERE bundle_key = $1 AND org_id = $4)",
            bundle.key(),
            hash,
            lwfp2,
            &self.id
        )?;
        Ok(noted > 0)
    }

    /// The `lwfp-2` hash recorded for a hash; never of a bundle of another organization.
    pub async fn paired_fingerprint(&mut self, bundle: &BundleId, hash: &str) -> Result<Option<String>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (Option<String>,),
            "SELECT lwfp2 FROM fingerprints WHERE bundle_key = $1 AND hash = $2 \
             AND EXISTS (SELECT 1 FROM apps WHERE bundle_key = $1 AND org_id = $3)",
            bundle.key(),
            hash,
            &self.id
        )?;
        Ok(row.and_then(|(lwfp2,)| lwfp2))
    }
}
