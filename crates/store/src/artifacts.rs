//! The files that builds produced.

use std::collections::HashMap;

use launchway_domain::build::Artifact;
use launchway_domain::id::{ArtifactId, BuildId};

use crate::sql::typed;
use crate::{Org, StoreError, System};

row! {
    struct ArtifactRow {
        id: String,
        build_id: String,
        attempt: i64,
        status: String,
        kind: String,
        name: String,
        size: i64,
        sha256: String,
        blob_key: String,
        facts: Option<String>,
        created_at: i64,
    }
}

impl ArtifactRow {
    fn read(self) -> Result<Artifact, StoreError> {
        let facts = self.facts.map(|facts| serde_json::from_str(&facts));
        Ok(Artifact {
            id: typed("artifacts.id", &self.id)?,
            build_id: typed("artifacts.build_id", &self.build_id)?,
            attempt: u32::try_from(self.attempt).map_err(|_| StoreError::Corrupt("artifacts.attempt"))?,
            is_stored: self.status == "stored",
            kind: self.kind,
            name: self.name,
            size: self.size,
            sha256: self.sha256,
            blob_key: self.blob_key,
            facts: facts.transpose().map_err(|_| StoreError::Corrupt("artifacts.facts"))?,
            created_at: self.created_at,
        })
    }
}

impl Org<'_> {
    /// Stores an announced artifact.
    pub async fn create_artifact(&mut self, artifact: &Artifact) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO artifacts (id, org_id, build_id, attempt, status, kind, name, size, sha256, blob_key, created_at) \
             VALUES ($1, $2, $3, $4, 'pending', $5, $6, $7, $8, $9, $10)",
            artifact.id.to_string(),
            &self.id,
            artifact.build_id.to_string(),
            i64::from(artifact.attempt),
            &artifact.kind,
            &artifact.name,
            artifact.size,
            &artifact.sha256,
            &artifact.blob_key,
            artifact.created_at
        )?;
        Ok(())
    }

    /// One artifact.
    pub async fn artifact(&mut self, id: ArtifactId) -> Result<Option<Artifact>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            ArtifactRow,
            "SELECT id, build_id, attempt, status, kind, name, size, sha256, blob_key, facts, created_at \
             FROM artifacts WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        row.map(ArtifactRow::read).transpose()
    }

    /// The artifacts of a build, announced ones included, oldest first.
    pub async fn artifacts(&mut self, build: BuildId) -> Result<Vec<Artifact>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            ArtifactRow,
            "SELECT id, build_id, attempt, status, kind, name, size, sha256, blob_key, facts, created_at \
             FROM artifacts WHERE org_id = $1 AND build_id = $2 ORDER BY id",
            &self.id,
            build.to_string()
        )?;
        rows.into_iter().map(ArtifactRow::read).collect()
    }

    /// The artifacts of a page of builds, by build: announced ones included, oldest first.
    pub async fn artifacts_of_builds(
        &mut self,
        builds: &[BuildId],
    ) -> Result<HashMap<BuildId, Vec<Artifact>>, StoreError> {
        let rows = fetch_all_of!(
            self.tx,
            ArtifactRow,
            "SELECT id, build_id, attempt, status, kind, name, size, sha256, blob_key, facts, created_at \
             FROM artifacts WHERE org_id = $1 AND build_id IN",
            builds,
            "ORDER BY build_id, id",
            &self.id
        )?;
        let mut artifacts: HashMap<BuildId, Vec<_>> = HashMap::new();
        for row in rows {
            let artifact = row.read()?;
            artifacts.entry(artifact.build_id).or_default().push(artifact);
        }
        Ok(artifacts)
    }

    /// Marks an artifact as stored after its bytes were verified: they are at `blob_key`, and their metadata is `facts`
    /// (JSON).
    pub async fn store_artifact(
        &mut self,
        id: ArtifactId,
        blob_key: &str,
        facts: Option<&str>,
    ) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE artifacts SET status = 'stored', blob_key = $3, facts = $4 WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            blob_key,
            facts
        )?;
        Ok(())
    }

    /// Deletes an artifact.
    pub async fn forget_artifact(&mut self, id: ArtifactId) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "DELETE FROM artifacts WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(())
    }
}

impl System<'_> {
    /// Whether an artifact has this key in object storage.
    pub async fn has_artifact_blob(&mut self, blob_key: &str) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT id FROM artifacts WHERE blob_key = $1 LIMIT 1",
            blob_key
        )?;
        Ok(row.is_some())
    }

    /// Whether the bytes of an announced artifact are still expected.
    pub async fn is_open_artifact(&mut self, id: ArtifactId) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT artifacts.id FROM artifacts JOIN builds ON builds.id = artifacts.build_id \
             WHERE artifacts.id = $1 AND artifacts.status = 'pending' AND builds.status = 'running' \
             AND builds.attempt = artifacts.attempt",
            id.to_string()
        )?;
        Ok(row.is_some())
    }
}
