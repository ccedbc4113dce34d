//! Reads the data of the index: published and paused updates and fingerprint documents of all organizations.

use launchway_domain::build_number::BuildNumber;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::time::EpochMs;
use launchway_domain::update::UpdateStatus;
use launchway_domain::version::Version;
use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};

use crate::sql::typed;
use crate::updates::rollout;
use crate::{StoreError, System};

/// The part of a published or paused update that checks need. It is smaller than the whole record, because a node reads all
/// of them at its start.
#[derive(Clone, Debug)]
pub struct OfferedUpdate {
    /// Its id.
    pub id: UpdateId,
    /// Whom its bundle belongs to.
    pub org_id: OrgId,
    /// Published or paused.
    pub status: UpdateStatus,
    /// The bundle id, in the spelling of the app's record.
    pub bundle_id: String,
    /// The target platform.
    pub platform: Platform,
    /// The version, parsed.
    pub version: Version,
    /// The version as written.
    pub version_text: String,
    /// The build number, kept as written.
    pub build_number: BuildNumber,
    /// The configuration a check must name; `None` serves every check.
    pub configuration: Option<String>,
    /// The fingerprint that the installed app must have; `None` matches any.
    pub fingerprint: Option<String>,
    /// The release notes.
    pub release_notes: String,
    /// Whether the app is asked to install it at once.
    pub mandatory: bool,
    /// The share of devices it is offered to.
    pub rollout: Rollout,
    /// Size of the package in bytes.
    pub size: i64,
    /// SHA-256 of the package.
    pub sha256: String,
    /// The package's key in object storage.
    pub blob_key: String,
    /// The role that signs it; `None` if the app had no root when it was published.
    pub trust_role: Option<String>,
    /// When it was published.
    pub created_at: EpochMs,
}

/// An update that is no longer offered. Apps that run it still name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetiredUpdate {
    /// Its id.
    pub id: UpdateId,
    /// The target platform.
    pub platform: Platform,
    /// Its version.
    pub version: Version,
    /// The value of its build number.
    pub build: u64,
}

type RetiredRow = (String, String, String, String);

fn read_retired((id, platform, version, build): RetiredRow) -> Result<RetiredUpdate, StoreError> {
    let build: BuildNumber = typed("updates.build_number", &build)?;
    Ok(RetiredUpdate {
        id: typed("updates.id", &id)?,
        platform: typed("updates.platform", &platform)?,
        version: typed("updates.version", &version)?,
        build: build.value(),
    })
}

/// A row of [`select_offered`]. Texts that are parsed are borrowed from the row: a start reads millions of rows.
struct OfferedRow(Result<OfferedUpdate, StoreError>);

impl<'r, R> FromRow<'r, R> for OfferedRow
where
    R: Row,
    usize: ColumnIndex<R>,
    &'r str: Decode<'r, R::Database> + Type<R::Database>,
    String: Decode<'r, R::Database> + Type<R::Database>,
    Option<String>: Decode<'r, R::Database> + Type<R::Database>,
    i64: Decode<'r, R::Database> + Type<R::Database>,
{
    fn from_row(row: &'r R) -> sqlx::Result<OfferedRow> {
        let text = |column: usize| row.try_get::<&str, _>(column);
        let (id, status, platform, build_number) = (text(0)?, text(1)?, text(3)?, text(5)?);
        let (version_text, org_id): (String, _) = (row.try_get(4)?, text(16)?);
        let (configuration, mandatory, percent): (_, i64, _) = (text(6)?, row.try_get(9)?, row.try_get(10)?);
        let (bundle_id, fingerprint, release_notes) = (row.try_get(2)?, row.try_get(7)?, row.try_get(8)?);
        let (size, sha256, blob_key) = (row.try_get(11)?, row.try_get(12)?, row.try_get(13)?);
        let (trust_role, created_at) = (row.try_get(14)?, row.try_get(15)?);
        let read = || {
            Ok(OfferedUpdate {
                id: typed("updates.id", id)?,
                org_id: typed("updates.org_id", org_id)?,
                status: typed("updates.status", status)?,
                bundle_id,
                platform: typed("updates.platform", platform)?,
                version: typed("updates.version", &version_text)?,
                version_text,
                build_number: typed("updates.build_number", build_number)?,
                configuration: Some(configuration.to_owned()).filter(|label| !label.is_empty()),
                fingerprint,
                release_notes,
                mandatory: mandatory != 0,
                rollout: rollout(percent)?,
                size,
                sha256,
                blob_key,
                trust_role,
                created_at,
            })
        };
        Ok(OfferedRow(read()))
    }
}

/// Selects the columns of [`OfferedRow`] of all published and paused updates; a condition may follow.
macro_rules! select_offered {
    ($rest:literal) => {
        concat!(
            "SELECT u.id, u.status, u.bundle_id, u.platform, u.version, u.build_number, u.configuration, u.fingerprint, ",
            "u.release_notes, u.mandatory, u.rollout, p.size, p.sha256, p.blob_key, u.trust_role, ",
            "COALESCE(u.published_at, u.created_at), u.org_id ",
            "FROM updates u JOIN packages p ON p.id = u.package_id ",
            "WHERE u.deleted_at IS NULL AND u.status <> 'withdrawn' AND p.format = 'archive'",
            $rest
        )
    };
}

impl System<'_> {
    /// The published and paused updates of one bundle, newest first.
    pub async fn offered_updates(&mut self, bundle_key: &str) -> Result<Vec<OfferedUpdate>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            OfferedRow,
            select_offered!(" AND u.bundle_key = $1 ORDER BY u.id DESC"),
            bundle_key
        )?;
        rows.into_iter().map(|OfferedRow(row)| row).collect()
    }

    /// Passes every published and paused update to `take`, unordered: a database scans a whole table several times faster
    /// than by an index. Streams row by row, so that the raw rows are never all in memory.
    pub async fn for_each_offered_update(&mut self, mut take: impl FnMut(OfferedUpdate)) -> Result<(), StoreError> {
        for_each!(self.tx, OfferedRow, select_offered!(""), |row| take(row.0?))
    }

    /// The withdrawn and deleted updates of a bundle, newest first, at most `limit`. None of them awaits its signature: no
    /// app runs those.
    pub async fn retired_updates(&mut self, bundle_key: &str, limit: i64) -> Result<Vec<RetiredUpdate>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            RetiredRow,
            "SELECT id, platform, version, build_number FROM updates WHERE bundle_key = $1 \
             AND (deleted_at IS NOT NULL OR status = 'withdrawn') AND awaiting_since IS NULL \
             AND release_status IS NULL ORDER BY id DESC LIMIT $2",
            bundle_key,
            limit
        )?;
        rows.into_iter().map(read_retired).collect()
    }

    /// Passes the key of every bundle with its withdrawn and deleted updates to `take`, the newest of each, at most
    /// `limit`.
    pub async fn for_each_retired_update(
        &mut self,
        limit: i64,
        mut take: impl FnMut(String, RetiredUpdate),
    ) -> Result<(), StoreError> {
        for_each!(
            self.tx,
            (String, String, String, String, String),
            "SELECT bundle_key, id, platform, version, build_number FROM (SELECT bundle_key, id, platform, version, \
             build_number, ROW_NUMBER() OVER (PARTITION BY bundle_key ORDER BY id DESC) AS place FROM updates \
             WHERE (deleted_at IS NOT NULL OR status = 'withdrawn') AND awaiting_since IS NULL \
             AND release_status IS NULL) AS placed WHERE place <= $1",
            |(key, id, platform, version, build)| take(key, read_retired((id, platform, version, build))?),
            limit
        )
    }

    /// Passes the key of every bundle with its fingerprint documents to `take`, as key, hash and document: those of one
    /// bundle newest first, at most `limit` of each.
    pub async fn for_each_fingerprint(
        &mut self,
        limit: i64,
        mut take: impl FnMut(String, String, String),
    ) -> Result<(), StoreError> {
        for_each!(
            self.tx,
            (String, String, String),
            "SELECT bundle_key, hash, document FROM (SELECT bundle_key, hash, document, ROW_NUMBER() OVER \
             (PARTITION BY bundle_key ORDER BY created_at DESC, hash) AS place FROM fingerprints) AS placed \
             WHERE place <= $1 ORDER BY bundle_key, place",
            |(key, hash, document)| take(key, hash, document),
            limit
        )
    }

    /// The fingerprint documents of a bundle, newest first, at most `limit`.
    pub async fn fingerprints(&mut self, bundle_key: &str, limit: i64) -> Result<Vec<(String, String)>, StoreError> {
        fetch_all!(
            self.tx,
            (String, String),
            "SELECT hash, document FROM fingerprints WHERE bundle_key = $1 ORDER BY created_at DESC, hash LIMIT $2",
            bundle_key,
            limit
        )
    }

    /// Passes the key of every bundle with its pairs of a hash and its `lwfp-2` hash to `take`: those of one bundle newest
    /// first, at most `limit` of each.
    pub async fn for_each_fingerprint_pair(
        &mut self,
        limit: i64,
        mut take: impl FnMut(String, String, String),
    ) -> Result<(), StoreError> {
        for_each!(
            self.tx,
            (String, String, String),
            "SELECT bundle_key, hash, lwfp2 FROM (SELECT bundle_key, hash, lwfp2, ROW_NUMBER() OVER \
             (PARTITION BY bundle_key ORDER BY created_at DESC, hash) AS place FROM fingerprints \
             WHERE lwfp2 IS NOT NULL) AS placed WHERE place <= $1 ORDER BY bundle_key, place",
            |(key, hash, lwfp2)| take(key, hash, lwfp2),
            limit
        )
    }

    /// The pairs of a hash and its `lwfp-2` hash of a bundle, newest first, at most `limit`.
    pub async fn fingerprint_pairs(
        &mut self,
        bundle_key: &str,
        limit: i64,
    ) -> Result<Vec<(String, String)>, StoreError> {
        fetch_all!(
            self.tx,
            (String, String),
            "SELECT hash, lwfp2 FROM fingerprints WHERE bundle_key = $1 AND lwfp2 IS NOT NULL \
             ORDER BY created_at DESC, hash LIMIT $2",
            bundle_key,
            limit
        )
    }
}
