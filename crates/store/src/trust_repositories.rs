//! The repository of an app's signed updates: its identity and the versions that are served now. A row stays when its app is
//! deleted, because phones hold its root. Change one only after [`Org::touch_updates`]: every node then reads it again.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::time::EpochMs;

use crate::sql::typed;
use crate::trust_files::{TrustFileRow, version, version_column};
use crate::{Org, StoreError, System};

/// An app with a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustRepository {
    /// The app, in the spelling that its metadata names.
    pub bundle_id: String,
    /// The id of the repository: 32 hexadecimal digits.
    pub repository: String,
    /// The version of the current root.
    pub root_version: u64,
    /// The version of the current snapshot.
    pub snapshot_version: u64,
    /// The version of the current timestamp.
    pub timestamp_version: u64,
    /// The server's key that the current root names.
    pub online_key_id: String,
    /// Whether an owner allowed updates of other formats.
    pub other_formats: bool,
    /// When the first root of this repository was accepted.
    pub began_at: EpochMs,
    /// When a role last changed.
    pub changed_at: EpochMs,
}

/// What a node needs of an app with a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexTrust {
    /// The repository.
    pub repository: TrustRepository,
    /// All its roots, and the versions of its other roles that are kept: by role, the lowest version first.
    pub files: Vec<TrustFileRow>,
}

/// An app whose snapshot and timestamp expire soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueOnlineRoles {
    /// The organization of the app.
    pub org_id: OrgId,
    /// The app.
    pub bundle: BundleId,
    /// When its timestamp expires.
    pub expires_at: EpochMs,
}

/// A role whose notice is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiringRole {
    /// The organization of the app.
    pub org_id: OrgId,
    /// The app.
    pub bundle_id: String,
    /// The role.
    pub role: String,
    /// Its current version.
    pub version: u64,
    /// When that version expires.
    pub expires_at: EpochMs,
}

row! {
    struct RepositoryRow {
        bundle_id: String,
        repository: String,
        root_version: i64,
        snapshot_version: i64,
        timestamp_version: i64,
        online_key_id: String,
        other_formats: i64,
        began_at: i64,
        changed_at: i64,
    }
}

impl RepositoryRow {
    fn read(self) -> Result<TrustRepository, StoreError> {
        Ok(TrustRepository {
            bundle_id: self.bundle_id,
            repository: self.repository,
            root_version: version("trust_repositories.root_version", self.root_version)?,
            snapshot_version: version("trust_repositories.snapshot_version", self.snapshot_version)?,
            timestamp_version: version("trust_repositories.timestamp_version", self.timestamp_version)?,
            online_key_id: self.online_key_id,
            other_formats: self.other_formats != 0,
            began_at: self.began_at,
            changed_at: self.changed_at,
        })
    }
}

/// Selects the columns of [`RepositoryRow`]; a condition may follow.
macro_rules! select_repositories {
    ($rest:literal) => {
        concat!(
            "SELECT bundle_id, repository, root_version, snapshot_version, timestamp_version, online_key_id, other_formats, ",
            "began_at, changed_at FROM trust_repositories ",
            $rest
        )
    };
}

impl Org<'_> {
    /// The repository of an app; `None` for one without a root.
    pub async fn trust_repository(&mut self, bundle: &BundleId) -> Result<Option<TrustRepository>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            RepositoryRow,
            select_repositories!("WHERE org_id = $1 AND bundle_key = $2"),
            &self.id,
            bundle.key()
        )?;
        row.map(RepositoryRow::read).transpose()
    }

    /// Stores the repository of an app in place of an earlier one. Returns false unless this organization has claimed the
    /// app.
    pub async fn put_trust_repository(
        &mut self,
        bundle: &BundleId,
        repository: &TrustRepository,
    ) -> Result<bool, StoreError> {
        let stored = execute!(
            self.tx,
            "INSERT INTO trust_repositories (bundle_key, org_id, bundle_id, repository, root_version, snapshot_version, \
             timestamp_version, online_key_id, other_formats, began_at, changed_at) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 \
             WHERE EXISTS (SELECT 1 FROM apps WHERE bundle_key = $1 AND org_id = $2) ON CONFLICT (bundle_key) DO UPDATE SET \
             bundle_id = excluded.bundle_id, repository = excluded.repository, root_version = excluded.root_version, \
             snapshot_version = excluded.snapshot_version, timestamp_version = excluded.timestamp_version, \
             online_key_id = excluded.online_key_id, other_formats = excluded.other_formats, \
             began_at = excluded.began_at, changed_at = excluded.changed_at \
             WHERE trust_repositories.org_id = excluded.org_id",
            bundle.key(),
            &self.id,
            &repository.bundle_id,
            &repository.repository,
            version_column(repository.root_version),
            version_column(repository.snapshot_version),
            version_column(repository.timestamp_version),
            &repository.online_key_id,
            i64::from(repository.other_formats),
            repository.began_at,
            repository.changed_at
        )?;
        Ok(stored == 1)
    }
}

impl System<'_> {
    /// The repository of one app with its files; `None` for an app without a root.
    pub async fn trust_for_index(&mut self, bundle_key: &str) -> Result<Option<IndexTrust>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            RepositoryRow,
            select_repositories!("WHERE bundle_key = $1"),
            bundle_key
        )?;
        let Some(repository) = row.map(RepositoryRow::read).transpose()? else {
            return Ok(None);
        };
        let files = self.trust_files_of(bundle_key, &repository.repository).await?;
        Ok(Some(IndexTrust { repository, files }))
    }

    /// Passes the key of every app with a root and its repository to `take`, unordered.
    pub async fn for_each_trust_repository(
        &mut self,
        mut take: impl FnMut(String, TrustRepository),
    ) -> Result<(), StoreError> {
        for_each!(self.tx, RepositoryRow, select_repositories!(""), |row| {
            let repository = row.read()?;
            take(repository.bundle_id.to_ascii_lowercase(), repository);
        })
    }

    /// The apps whose timestamp expires before `time`, the first to expire first, at most `limit` of those that follow
    /// `after` in this order. Phones of a deleted app still check.
    pub async fn online_roles_due(
        &mut self,
        time: i64,
        after: Option<&DueOnlineRoles>,
        limit: i64,
    ) -> Result<Vec<DueOnlineRoles>, StoreError> {
        let (expires_at, key) = after.map_or((i64::MIN, String::new()), |due| (due.expires_at, due.bundle.key()));
        let rows = fetch_all!(
            self.tx,
            (String, String, i64),
            "SELECT r.org_id, r.bundle_id, f.expires_at FROM trust_files f JOIN trust_repositories r \
             ON r.bundle_key = f.bundle_key AND r.repository = f.repository AND r.timestamp_version = f.version \
             WHERE f.role = 'timestamp' AND f.expires_at < $1 AND f.expires_at >= $2 \
             AND (f.expires_at > $2 OR f.bundle_key > $3) ORDER BY f.expires_at, f.bundle_key LIMIT $4",
            time,
            expires_at,
            &key,
            limit
        )?;
        rows.into_iter()
            .map(|(org, bundle, expires_at)| {
                Ok(DueOnlineRoles {
                    org_id: typed("trust_repositories.org_id", &org)?,
                    bundle: typed("trust_repositories.bundle_id", &bundle)?,
                    expires_at,
                })
            })
            .collect()
    }

    /// The roles whose notice is due at `now`, at most `limit`.
    pub async fn trust_expiring(&mut self, now: i64, limit: i64) -> Result<Vec<ExpiringRole>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String, String, i64, i64),
            "SELECT r.org_id, r.bundle_id, f.role, f.version, f.expires_at FROM trust_files f \
             JOIN trust_repositories r ON r.bundle_key = f.bundle_key AND r.repository = f.repository \
             WHERE f.notice_at IS NOT NULL AND f.notice_at <= $1 ORDER BY f.notice_at LIMIT $2",
            now,
            limit
        )?;
        rows.into_iter()
            .map(|(org, bundle_id, role, number, expires_at)| {
                Ok(ExpiringRole {
                    org_id: typed("trust_repositories.org_id", &org)?,
                    bundle_id,
                    role,
                    version: version("trust_files.version", number)?,
                    expires_at,
                })
            })
            .collect()
    }

    /// The updates that have awaited their signature since before `time`, the oldest first, at most `limit`.
    pub async fn awaiting_before(&mut self, time: i64, limit: i64) -> Result<Vec<(OrgId, UpdateId)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT org_id, id FROM updates WHERE awaiting_since IS NOT NULL AND deleted_at IS NULL \
             AND awaiting_since < $1 ORDER BY awaiting_since LIMIT $2",
            time,
            limit
        )?;
        rows.into_iter()
            .map(|(org, id)| Ok((typed("updates.org_id", &org)?, typed("updates.id", &id)?)))
            .collect()
    }
}
