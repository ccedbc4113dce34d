//! The metadata of signed updates, as the bytes that were signed: every root, and the current and previous version of the
//! other roles. Of the timestamp, which has no version in its address, only the current one.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::EpochMs;
use launchway_domain::trust::first_notice;

use crate::{Org, StoreError, System};

/// One version of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustFileRow {
    /// The role: `root`, `timestamp`, `snapshot`, `targets` or a delegated one.
    pub role: String,
    /// Its version.
    pub version: u64,
    /// The file, byte for byte.
    pub content: String,
    /// When it expires.
    pub expires_at: EpochMs,
    /// When it was accepted.
    pub accepted_at: EpochMs,
    /// The actor that sent it or completed its signatures, as text.
    pub accepted_by: String,
}

/// A new version of a role.
#[derive(Clone, Copy, Debug)]
pub struct NewTrustFile<'f> {
    /// The app.
    pub bundle: &'f BundleId,
    /// The id of the repository.
    pub repository: &'f str,
    /// The role.
    pub role: &'f str,
    /// Its version, above the ones that are stored.
    pub version: u64,
    /// The file, byte for byte.
    pub content: &'f str,
    /// When it expires.
    pub expires_at: EpochMs,
    /// The time.
    pub accepted_at: EpochMs,
    /// The actor, as text.
    pub accepted_by: &'f str,
}

/// The current version of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedVersion {
    /// The app.
    pub bundle_id: String,
    /// The role.
    pub role: String,
    /// Its version.
    pub version: u64,
}

row! {
    struct FileRow {
        bundle_key: String,
        role: String,
        version: i64,
        content: String,
        expires_at: i64,
        accepted_at: i64,
        accepted_by: String,
    }
}

impl FileRow {
    fn read(self) -> Result<TrustFileRow, StoreError> {
        Ok(TrustFileRow {
            role: self.role,
            version: version("trust_files.version", self.version)?,
            content: self.content,
            expires_at: self.expires_at,
            accepted_at: self.accepted_at,
            accepted_by: self.accepted_by,
        })
    }
}

/// Reads the version of a role.
pub(crate) fn version(column: &'static str, number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|_| StoreError::Corrupt(column))
}

/// A version as a column takes it. Metadata has none above 2^53 - 1.
pub(crate) fn version_column(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

/// Selects the columns of [`FileRow`]; a condition follows.
macro_rules! select_files {
    ($rest:literal) => {
        concat!(
            "SELECT f.bundle_key, f.role, f.version, f.content, f.expires_at, f.accepted_at, f.accepted_by FROM trust_files f ",
            $rest
        )
    };
}

/// How many versions of a role are kept.
fn kept_versions(role: &str) -> i64 {
    match role {
        "root" => i64::MAX,
        "timestamp" => 1,
        _ => 2,
    }
}

impl Org<'_> {
    /// The current version of a role.
    pub async fn trust_file(
        &mut self,
        bundle: &BundleId,
        repository: &str,
        role: &str,
    ) -> Result<Option<TrustFileRow>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            FileRow,
            select_files!(
                "WHERE f.org_id = $1 AND f.bundle_key = $2 AND f.repository = $3 AND f.role = $4 \
                 ORDER BY f.version DESC LIMIT 1"
            ),
            &self.id,
            bundle.key(),
            repository,
            role
        )?;
        row.map(FileRow::read).transpose()
    }

    /// The current version of each role, by role.
    pub async fn trust_files(&mut self, bundle: &BundleId, repository: &str) -> Result<Vec<TrustFileRow>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            FileRow,
            select_files!(
                "WHERE f.org_id = $1 AND f.bundle_key = $2 AND f.repository = $3 AND f.version = \
                 (SELECT MAX(n.version) FROM trust_files n WHERE n.bundle_key = f.bundle_key \
                 AND n.repository = f.repository AND n.role = f.role) ORDER BY f.role"
            ),
            &self.id,
            bundle.key(),
            repository
        )?;
        rows.into_iter().map(FileRow::read).collect()
    }

    /// The roots from a version on, the lowest first, at most `limit`.
    pub async fn trust_roots(
        &mut self,
        bundle: &BundleId,
        repository: &str,
        from_version: u64,
        limit: i64,
    ) -> Result<Vec<TrustFileRow>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            FileRow,
            select_files!(
                "WHERE f.org_id = $1 AND f.bundle_key = $2 AND f.repository = $3 AND f.role = 'root' \
                 AND f.version >= $4 ORDER BY f.version LIMIT $5"
            ),
            &self.id,
            bundle.key(),
            repository,
            version_column(from_version),
            limit
        )?;
        rows.into_iter().map(FileRow::read).collect()
    }

    /// Stores a new version of a role and deletes those that nobody needs any more. The notices about the expiry of earlier
    /// versions end. An error unless this organization has claimed the app: the caller has checked that it has.
    pub async fn add_trust_file(&mut self, new: &NewTrustFile<'_>) -> Result<(), StoreError> {
        let key = new.bundle.key();
        fetch_one!(
            self.tx,
            (i64,),
            "INSERT INTO trust_files (org_id, bundle_key, repository, role, version, content, expires_at, accepted_at, \
             accepted_by, notice_at) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 \
             WHERE EXISTS (SELECT 1 FROM apps WHERE bundle_key = $2 AND org_id = $1) RETURNING version",
            &self.id,
            &key,
            new.repository,
            new.role,
            version_column(new.version),
            new.content,
            new.expires_at,
            new.accepted_at,
            new.accepted_by,
            first_notice(new.role, new.expires_at)
        )?;
        execute!(
            self.tx,
            "UPDATE trust_files SET notice_at = NULL WHERE org_id = $1 AND bundle_key = $2 AND repository = $3 AND role = $4 \
             AND version < $5 AND notice_at IS NOT NULL",
            &self.id,
            &key,
            new.repository,
            new.role,
            version_column(new.version)
        )?;
        execute!(
            self.tx,
            "DELETE FROM trust_files WHERE org_id = $1 AND bundle_key = $2 AND repository = $3 AND role = $4 AND version IN \
             (SELECT version FROM (SELECT n.version, ROW_NUMBER() OVER (ORDER BY n.version DESC) AS place FROM trust_files n \
             WHERE n.bundle_key = $2 AND n.repository = $3 AND n.role = $4) AS placed WHERE place > $5)",
            &self.id,
            &key,
            new.repository,
            new.role,
            kept_versions(new.role)
        )?;
        Ok(())
    }

    /// Deletes the versions of a role that are not below `version`: its new keys count from there again
    /// (`docs/reference/trust.md#floors`).
    pub async fn delete_trust_files_from(
        &mut self,
        bundle: &BundleId,
        repository: &str,
        role: &str,
        version: u64,
    ) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "DELETE FROM trust_files WHERE org_id = $1 AND bundle_key = $2 AND repository = $3 AND role = $4 AND version >= $5",
            &self.id,
            bundle.key(),
            repository,
            role,
            version_column(version)
        )?;
        Ok(())
    }

    /// When the next notice about a role's expiry is due; `None` for no more. Returns false if the role has a newer version,
    /// or its notice was set to that already.
    pub async fn set_trust_notice(
        &mut self,
        bundle: &BundleId,
        role: &str,
        version: u64,
        notice_at: Option<EpochMs>,
    ) -> Result<bool, StoreError> {
        let set = execute!(
            self.tx,
            "UPDATE trust_files SET notice_at = $5 WHERE org_id = $1 AND bundle_key = $2 AND role = $3 AND version = $4 \
             AND notice_at IS NOT NULL AND ($5 IS NULL OR notice_at < $5)",
            &self.id,
            bundle.key(),
            role,
            version_column(version),
            notice_at
        )?;
        Ok(set > 0)
    }

    /// Deletes what nobody needs of a repository that another one has replaced: its drafts and all its files but the roots.
    pub async fn retire_trust_repository(&mut self, bundle: &BundleId, repository: &str) -> Result<(), StoreError> {
        let key = bundle.key();
        execute!(
            self.tx,
            "DELETE FROM trust_files WHERE org_id = $1 AND bundle_key = $2 AND repository = $3 AND role <> 'root'",
            &self.id,
            &key,
            repository
        )?;
        execute!(
            self.tx,
            "UPDATE trust_files SET notice_at = NULL WHERE org_id = $1 AND bundle_key = $2 AND repository = $3",
            &self.id,
            &key,
            repository
        )?;
        execute!(
            self.tx,
            "DELETE FROM trust_drafts WHERE org_id = $1 AND bundle_key = $2",
            &self.id,
            &key
        )?;
        Ok(())
    }
}

impl System<'_> {
    /// The kept files of a repository, by role, the lowest version first.
    pub(crate) async fn trust_files_of(
        &mut self,
        bundle_key: &str,
        repository: &str,
    ) -> Result<Vec<TrustFileRow>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            FileRow,
            select_files!("WHERE f.bundle_key = $1 AND f.repository = $2 ORDER BY f.role, f.version"),
            bundle_key,
            repository
        )?;
        rows.into_iter().map(FileRow::read).collect()
    }

    /// Passes the key of every app with a root and each file of its repository to `take`: unordered, for a node's start.
    pub async fn for_each_trust_file(&mut self, mut take: impl FnMut(String, TrustFileRow)) -> Result<(), StoreError> {
        for_each!(
            self.tx,
            FileRow,
            select_files!("JOIN trust_repositories r ON r.bundle_key = f.bundle_key AND r.repository = f.repository"),
            |row| {
                let key = row.bundle_key.clone();
                take(key, row.read()?);
            }
        )
    }
    /// The current version of each role that developers signed, by app and role.
    pub async fn signed_versions(&mut self) -> Result<Vec<SignedVersion>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String, i64),
            "SELECT r.bundle_id, f.role, MAX(f.version) FROM trust_repositories r JOIN trust_files f \
             ON f.bundle_key = r.bundle_key AND f.repository = r.repository AND f.role NOT IN ('snapshot', 'timestamp') \
             GROUP BY r.bundle_key, r.bundle_id, f.role ORDER BY r.bundle_key, f.role"
        )?;
        rows.into_iter()
            .map(|(bundle_id, role, number)| {
                Ok(SignedVersion {
                    bundle_id,
                    role,
                    version: version("trust_files.version", number)?,
                })
            })
            .collect()
    }
}
