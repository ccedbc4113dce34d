//! Reads the published and paused updates that checks are answered from: those of one bundle, or all.

use std::borrow::Cow;
use std::cmp::Reverse;

use futures::TryStreamExt;
use launchway_domain::build_number::BuildNumber;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::time::EpochMs;
use launchway_domain::update::UpdateStatus;
use launchway_domain::version::Version;
use serde::Deserialize;
use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};

use crate::sql::typed;
use crate::tx::Tx;
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

/// The columns of an update, in their order. Texts that are parsed are borrowed: a start reads millions of rows.
#[derive(Deserialize)]
struct Columns<'r> {
    #[serde(borrow)]
    id: Cow<'r, str>,
    #[serde(borrow)]
    status: Cow<'r, str>,
    bundle_id: String,
    #[serde(borrow)]
    platform: Cow<'r, str>,
    version: String,
    #[serde(borrow)]
    build_number: Cow<'r, str>,
    configuration: String,
    fingerprint: Option<String>,
    release_notes: String,
    mandatory: i64,
    rollout: i64,
    size: i64,
    sha256: String,
    blob_key: String,
    trust_role: Option<String>,
    created_at: EpochMs,
    #[serde(borrow)]
    org_id: Cow<'r, str>,
}

impl Columns<'_> {
    /// The update, or the error that names it.
    fn read(self) -> Result<OfferedUpdate, StoreError> {
        let id = self.id.clone();
        self.parse().map_err(|error| error.of_update(&id))
    }

    fn parse(self) -> Result<OfferedUpdate, StoreError> {
        Ok(OfferedUpdate {
            id: typed("updates.id", &self.id)?,
            org_id: typed("updates.org_id", &self.org_id)?,
            status: typed("updates.status", &self.status)?,
            bundle_id: self.bundle_id,
            platform: typed("updates.platform", &self.platform)?,
            version: typed("updates.version", &self.version)?,
            version_text: self.version,
            build_number: typed("updates.build_number", &self.build_number)?,
            configuration: Some(self.configuration).filter(|label| !label.is_empty()),
            fingerprint: self.fingerprint,
            release_notes: self.release_notes,
            mandatory: self.mandatory != 0,
            rollout: rollout(self.rollout)?,
            size: self.size,
            sha256: self.sha256,
            blob_key: self.blob_key,
            trust_role: self.trust_role,
            created_at: self.created_at,
        })
    }
}

/// A row of [`select_offered`].
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
        let text = |column: usize| row.try_get::<&str, _>(column).map(Cow::Borrowed);
        let columns = Columns {
            id: text(0)?,
            status: text(1)?,
            bundle_id: row.try_get(2)?,
            platform: text(3)?,
            version: row.try_get(4)?,
            build_number: text(5)?,
            configuration: row.try_get(6)?,
            fingerprint: row.try_get(7)?,
            release_notes: row.try_get(8)?,
            mandatory: row.try_get(9)?,
            rollout: row.try_get(10)?,
            size: row.try_get(11)?,
            sha256: row.try_get(12)?,
            blob_key: row.try_get(13)?,
            trust_role: row.try_get(14)?,
            created_at: row.try_get(15)?,
            org_id: text(16)?,
        };
        Ok(OfferedRow(columns.read()))
    }
}

/// The columns of [`Columns`].
macro_rules! columns {
    () => {
        "u.id, u.status, u.bundle_id, u.platform, u.version, u.build_number, u.configuration, u.fingerprint, \
         u.release_notes, u.mandatory, u.rollout, p.size, p.sha256, p.blob_key, u.trust_role, \
         COALESCE(u.published_at, u.created_at), u.org_id"
    };
}

/// All published and paused updates; a condition may follow.
macro_rules! from_offered {
    () => {
        " FROM updates u JOIN packages p ON p.id = u.package_id \
         WHERE u.deleted_at IS NULL AND u.status <> 'withdrawn' AND p.format = 'archive'"
    };
}

/// Selects the columns of [`OfferedRow`]; a condition may follow.
macro_rules! select_offered {
    ($rest:literal) => {
        concat!("SELECT ", columns!(), from_offered!(), $rest)
    };
}

/// All updates on SQLite, up to 64 in a row: each a line of JSON with the columns of [`Columns`]. `NULL` where there is none. The driver
/// reads 50 rows ahead: less than a megabyte, or 15 if all notes are as long as they may be.
///
/// The driver copies each column of a row, and wakes another thread for each row: with a row for each update, that takes four times
/// as long as reading them.
const PAGES: &str = concat!(
    "WITH RECURSIVE pages (first) AS (SELECT MIN(rowid) FROM updates UNION ALL \
     SELECT first + 64 FROM pages WHERE first + 64 <= (SELECT MAX(rowid) FROM updates)) \
     SELECT (SELECT GROUP_CONCAT(JSON_ARRAY(",
    columns!(),
    "), CHAR(10))",
    from_offered!(),
    " AND u.rowid BETWEEN pages.first AND pages.first + 63) FROM pages"
);

/// Those of one bundle, like [`PAGES`], in at most 16 rows: they may lie anywhere in the table.
const PAGES_OF_BUNDLE: &str = concat!(
    "SELECT GROUP_CONCAT(JSON_ARRAY(",
    columns!(),
    "), CHAR(10))",
    from_offered!(),
    " AND u.bundle_key = $1 GROUP BY u.rowid % 16"
);

/// Reads the lines of a row of [`PAGES`].
fn read_page(page: &str) -> impl Iterator<Item = Result<OfferedUpdate, StoreError>> {
    page.lines().map(|line| {
        let columns: Columns<'_> = serde_json::from_str(line).map_err(|_| StoreError::Corrupt("updates"))?;
        columns.read()
    })
}

impl System<'_> {
    /// The published and paused updates of one bundle, newest first.
    pub async fn offered_updates(&mut self, bundle_key: &str) -> Result<Vec<OfferedUpdate>, StoreError> {
        if let Tx::Sqlite(tx) = &mut *self.tx {
            trace_statement!(PAGES_OF_BUNDLE);
            let pages = sqlx::query_scalar::<_, String>(PAGES_OF_BUNDLE).bind(bundle_key);
            let pages = pages.fetch_all(&mut **tx).await?;
            let mut updates = pages
                .iter()
                .flat_map(|page| read_page(page))
                .collect::<Result<Vec<_>, _>>()?;
            // Ids increase with time.
            updates.sort_unstable_by_key(|update| Reverse(update.id));
            return Ok(updates);
        }
        let rows = fetch_all!(
            self.tx,
            OfferedRow,
            select_offered!(" AND u.bundle_key = $1 ORDER BY u.id DESC"),
            bundle_key
        )?;
        rows.into_iter().map(|OfferedRow(row)| row).collect()
    }

    /// Passes every published and paused update to `take`, unordered: a database scans a whole table several times faster
    /// than by an index. Streams, so that the raw rows are never all in memory.
    pub async fn for_each_offered_update(&mut self, mut take: impl FnMut(OfferedUpdate)) -> Result<(), StoreError> {
        if let Tx::Sqlite(tx) = &mut *self.tx {
            trace_statement!(PAGES);
            let mut pages = sqlx::query_scalar::<_, Option<String>>(PAGES).fetch(&mut **tx);
            while let Some(page) = pages.try_next().await? {
                for update in page.iter().flat_map(|page| read_page(page)) {
                    take(update?);
                }
                tokio::task::consume_budget().await;
            }
            return Ok(());
        }
        for_each!(self.tx, OfferedRow, select_offered!(""), |row| take(row.0?))
    }
}
