//! Reads what other services' clients are answered from: the releases of a bundle with their ids, and its deployment keys.

use std::collections::{BTreeMap, HashMap};

use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::release::{BinaryRange, Format, Protocol, RuntimeVersion, Sequence, UpdateKind};
use launchway_domain::rollout::Rollout;
use launchway_domain::time::EpochMs;
use launchway_domain::update::UpdateStatus;

use crate::sql::typed;
use crate::updates::{rollout, sequence};
use crate::{StoreError, System};

/// The maximum number of releases of a bundle that are read, the newest ones, with all that was withdrawn or deleted. What a caller
/// runs that is older is unknown, so nothing is taken away from it.
const MAX_RELEASES: i64 = 1000;
/// The maximum number of Expo's ids of a bundle that are read, the newest ones.
const MAX_ISSUES: i64 = 4000;

/// A bundle that clients of other services ask for.
#[derive(Clone, Debug, Default)]
pub struct ForeignBundleRows {
    /// The organization; `None` if no client of another service asks for the bundle.
    pub org_id: Option<OrgId>,
    /// The deployment keys: key, platform and configuration.
    pub keys: Vec<(String, Platform, Option<String>)>,
    /// Releases that clients of other services can name or receive, in no order.
    pub releases: Vec<ReleaseRow>,
    /// The ids under which clients of Expo receive them, in no order.
    pub issues: Vec<IssueRow>,
}

/// An id under which clients of Expo receive an update.
#[derive(Clone, Debug)]
pub struct IssueRow {
    /// The update.
    pub update_id: UpdateId,
    /// The platform.
    pub platform: Platform,
    /// The id, a UUID.
    pub id: String,
    /// When clients take it as created.
    pub created_at: EpochMs,
    /// The withdrawn update that it leads back from; `None` if it is offered to everybody.
    pub undoes: Option<UpdateId>,
}

/// A release that clients of other services can name or receive.
#[derive(Clone, Debug)]
pub struct ReleaseRow {
    /// The update.
    pub id: UpdateId,
    /// The status; a deleted update is withdrawn.
    pub status: UpdateStatus,
    /// The app, in the spelling of its record.
    pub bundle_id: String,
    /// The platform.
    pub platform: Platform,
    /// The version as written.
    pub version: String,
    /// The configuration; `None` serves every caller.
    pub configuration: Option<String>,
    /// The fingerprint that the installed app must have.
    pub fingerprint: Option<String>,
    /// What its publisher wrote about it.
    pub release_notes: String,
    /// Whether apps install it at once.
    pub mandatory: bool,
    /// The share of devices.
    pub rollout: Rollout,
    /// Content, or the return to the built-in content.
    pub kind: UpdateKind,
    /// The form of its package.
    pub format: Format,
    /// Its place.
    pub sequence: Sequence,
    /// The runtime that the installed app must have.
    pub runtime_version: Option<RuntimeVersion>,
    /// The versions of the installed app.
    pub binary_range: Option<BinaryRange>,
    /// How clients of its format identify the content.
    pub content_id: Option<String>,
    /// Size of the package in bytes.
    pub size: i64,
    /// SHA-256 of the package.
    pub sha256: String,
    /// The package's key in object storage.
    pub blob_key: String,
    /// Whether its manifest or directive was signed elsewhere.
    pub is_signed: bool,
    /// Whether an undo that was signed with it is served.
    pub has_undo: bool,
    /// Whether it is known where the files of its package are.
    pub has_files: bool,
    /// Its ids.
    pub ids: Vec<(Protocol, String)>,
    /// How its clients verify the package, if not by its SHA-256.
    pub file_hash: Option<String>,
}

row! {
    struct Row {
        bundle_key: String,
        id: String,
        status: String,
        bundle_id: String,
        platform: String,
        version: String,
        configuration: String,
        fingerprint: Option<String>,
        release_notes: String,
        mandatory: i64,
        rollout: i64,
        kind: String,
        format: String,
        sequence: i64,
        runtime_version: Option<String>,
        binary_range: Option<String>,
        content_id: Option<String>,
        size: i64,
        sha256: String,
        blob_key: String,
        is_signed: i64,
        has_undo: i64,
        has_files: i64,
    }
}

impl Row {
    fn read(self) -> Result<ReleaseRow, StoreError> {
        let runtime_version = self.runtime_version.as_deref();
        let binary_range = self.binary_range.as_deref();
        Ok(ReleaseRow {
            id: typed("updates.id", &self.id)?,
            status: typed("updates.status", &self.status)?,
            bundle_id: self.bundle_id,
            platform: typed("updates.platform", &self.platform)?,
            version: self.version,
            configuration: Some(self.configuration).filter(|label| !label.is_empty()),
            fingerprint: self.fingerprint,
            release_notes: self.release_notes,
            mandatory: self.mandatory != 0,
            rollout: rollout(self.rollout)?,
            kind: typed("updates.kind", &self.kind)?,
            format: typed("packages.format", &self.format)?,
            sequence: sequence(self.sequence)?,
            runtime_version: runtime_version
                .map(|text| typed("updates.runtime_version", text))
                .transpose()?,
            binary_range: binary_range
                .map(|text| typed("updates.binary_range", text))
                .transpose()?,
            content_id: self.content_id,
            size: self.size,
            sha256: self.sha256,
            blob_key: self.blob_key,
            is_signed: self.is_signed != 0,
            has_undo: self.has_undo != 0,
            has_files: self.has_files != 0,
            ids: Vec::new(),
            file_hash: None,
        })
    }
}

/// Selects the columns of [`Row`] of releases whose bundle meets a condition; more may follow the columns.
macro_rules! select_releases {
    ($more:literal, $condition:literal) => {
        concat!(
            "SELECT u.bundle_key, u.id, CASE WHEN u.deleted_at IS NOT NULL THEN 'withdrawn' ELSE COALESCE(u.release_status, ",
            "CASE WHEN u.awaiting_since IS NULL THEN u.status ELSE 'awaiting_signature' END) END AS status, ",
            "u.bundle_id, u.platform, u.version, u.configuration, u.fingerprint, u.release_notes, u.mandatory, u.rollout, ",
            "u.kind, p.format, u.sequence, u.runtime_version, u.binary_range, p.content_id, p.size, p.sha256, p.blob_key, ",
            "CAST(CASE WHEN u.signed_part IS NULL THEN 0 ELSE 1 END AS BIGINT) AS is_signed, ",
            "CAST(CASE WHEN u.undo IS NULL THEN 0 ELSE 1 END AS BIGINT) AS has_undo, ",
            "CAST(CASE WHEN p.export IS NULL THEN 0 ELSE 1 END AS BIGINT) AS has_files",
            $more,
            " FROM updates u JOIN packages p ON p.id = u.package_id WHERE ",
            $condition,
            " AND u.sequence IS NOT NULL ",
            "AND (u.kind = 'embedded' OR EXISTS (SELECT 1 FROM foreign_ids f WHERE f.update_id = u.id))"
        )
    };
}

row! {
    struct IdRow {
        bundle_key: String,
        org_id: String,
        update_id: String,
        protocol: String,
        foreign_id: String,
        file_hash: Option<String>,
    }
}

row! {
    struct KeyRow {
        bundle_key: String,
        org_id: String,
        deployment_key: String,
        platform: String,
        configuration: String,
    }
}

row! {
    struct IssuedRow {
        bundle_key: String,
        update_id: String,
        platform: String,
        foreign_id: String,
        issued_at: i64,
        undoes: Option<String>,
    }
}

/// The rows of one bundle, as they are read.
#[derive(Default)]
struct Parts {
    ids: Vec<IdRow>,
    keys: Vec<KeyRow>,
    issues: Vec<IssuedRow>,
    releases: Vec<Row>,
}

impl Parts {
    fn read(self) -> Result<ForeignBundleRows, StoreError> {
        let org = self.ids.first().map(|row| &row.org_id);
        let Some(org) = org.or(self.keys.first().map(|row| &row.org_id)) else {
            return Ok(ForeignBundleRows::default());
        };
        let org_id = Some(typed("foreign_ids.org_id", org)?);
        let mut by_update: HashMap<String, Vec<(Protocol, String)>> = HashMap::new();
        let mut hashes: HashMap<String, String> = HashMap::new();
        for row in self.ids {
            let protocol = typed("foreign_ids.protocol", &row.protocol)?;
            hashes.extend(row.file_hash.map(|hash| (row.update_id.clone(), hash)));
            by_update
                .entry(row.update_id)
                .or_default()
                .push((protocol, row.foreign_id));
        }
        let key = |row: KeyRow| -> Result<_, StoreError> {
            let platform = typed("deployment_keys.platform", &row.platform)?;
            let configuration = Some(row.configuration).filter(|label| !label.is_empty());
            Ok((row.deployment_key, platform, configuration))
        };
        let release = |row: Row| -> Result<_, StoreError> {
            let id = row.id.clone();
            Ok(ReleaseRow {
                ids: by_update.remove(&id).unwrap_or_default(),
                file_hash: hashes.remove(&id),
                ..row.read()?
            })
        };
        Ok(ForeignBundleRows {
            org_id,
            keys: self.keys.into_iter().map(key).collect::<Result<_, _>>()?,
            releases: self.releases.into_iter().map(release).collect::<Result<_, _>>()?,
            issues: self.issues.into_iter().map(IssuedRow::read).collect::<Result<_, _>>()?,
        })
    }
}

impl IssuedRow {
    fn read(self) -> Result<IssueRow, StoreError> {
        let undoes = self.undoes.map(|id| typed("foreign_ids.undoes", &id));
        Ok(IssueRow {
            update_id: typed("foreign_ids.update_id", &self.update_id)?,
            platform: typed("foreign_ids.platform", &self.platform)?,
            id: self.foreign_id,
            created_at: self.issued_at,
            undoes: undoes.transpose()?,
        })
    }
}

impl System<'_> {
    /// The keys of all bundles that clients of other services ask for, in order.
    pub async fn foreign_bundles(&mut self) -> Result<Vec<String>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String,),
            "SELECT bundle_key FROM foreign_ids UNION SELECT bundle_key FROM deployment_keys ORDER BY bundle_key"
        )?;
        Ok(rows.into_iter().map(|(key,)| key).collect())
    }

    /// What clients of other services are answered from for one bundle.
    pub async fn foreign_bundle(&mut self, bundle_key: &str) -> Result<ForeignBundleRows, StoreError> {
        let ids = fetch_all!(
            self.tx,
            IdRow,
            "SELECT bundle_key, org_id, update_id, protocol, foreign_id, file_hash FROM foreign_ids WHERE bundle_key = $1",
            bundle_key
        )?;
        let keys = fetch_all!(
            self.tx,
            KeyRow,
            "SELECT bundle_key, org_id, deployment_key, platform, configuration FROM deployment_keys WHERE bundle_key = $1",
            bundle_key
        )?;
        if ids.is_empty() && keys.is_empty() {
            return Ok(ForeignBundleRows::default());
        }
        let issues = fetch_all!(
            self.tx,
            IssuedRow,
            "SELECT bundle_key, update_id, platform, foreign_id, issued_at, undoes FROM foreign_ids \
             WHERE bundle_key = $1 AND issued_at IS NOT NULL ORDER BY issued_at DESC LIMIT $2",
            bundle_key,
            MAX_ISSUES
        )?;
        let releases = fetch_all!(
            self.tx,
            Row,
            concat!(
                select_releases!("", "u.bundle_key = $1"),
                " ORDER BY u.id DESC LIMIT $2"
            ),
            bundle_key,
            MAX_RELEASES
        )?;
        let parts = Parts {
            ids,
            keys,
            issues,
            releases,
        };
        parts.read()
    }

    /// Like [`System::foreign_bundle`], for all bundles from the first key to the last in the order of
    /// [`System::foreign_bundles`], in as many statements as for one.
    pub async fn foreign_bundles_between(
        &mut self,
        first: &str,
        last: &str,
    ) -> Result<Vec<(String, ForeignBundleRows)>, StoreError> {
        let mut bundles: BTreeMap<String, Parts> = BTreeMap::new();
        for row in fetch_all!(
            self.tx,
            IdRow,
            "SELECT bundle_key, org_id, update_id, protocol, foreign_id, file_hash FROM foreign_ids \
             WHERE bundle_key >= $1 AND bundle_key <= $2",
            first,
            last
        )? {
            bundles.entry(row.bundle_key.clone()).or_default().ids.push(row);
        }
        for row in fetch_all!(
            self.tx,
            KeyRow,
            "SELECT bundle_key, org_id, deployment_key, platform, configuration FROM deployment_keys \
             WHERE bundle_key >= $1 AND bundle_key <= $2",
            first,
            last
        )? {
            bundles.entry(row.bundle_key.clone()).or_default().keys.push(row);
        }
        for row in self.issues_between(first, last).await? {
            bundles.entry(row.bundle_key.clone()).or_default().issues.push(row);
        }
        for row in self.releases_between(first, last).await? {
            bundles.entry(row.bundle_key.clone()).or_default().releases.push(row);
        }
        let bundles = bundles.into_iter();
        bundles.map(|(key, parts)| Ok((key, parts.read()?))).collect()
    }
    async fn issues_between(&mut self, first: &str, last: &str) -> Result<Vec<IssuedRow>, StoreError> {
        fetch_all!(
            self.tx,
            IssuedRow,
            "SELECT bundle_key, update_id, platform, foreign_id, issued_at, undoes FROM (SELECT bundle_key, update_id, \
             platform, foreign_id, issued_at, undoes, ROW_NUMBER() OVER (PARTITION BY bundle_key ORDER BY issued_at DESC) \
             AS place FROM foreign_ids WHERE bundle_key >= $1 AND bundle_key <= $2 AND issued_at IS NOT NULL) AS placed \
             WHERE place <= $3 ORDER BY bundle_key, place",
            first,
            last,
            MAX_ISSUES
        )
    }

    async fn releases_between(&mut self, first: &str, last: &str) -> Result<Vec<Row>, StoreError> {
        fetch_all!(
            self.tx,
            Row,
            concat!(
                "SELECT * FROM (",
                select_releases!(
                    ", ROW_NUMBER() OVER (PARTITION BY u.bundle_key ORDER BY u.id DESC) AS place",
                    "u.bundle_key >= $1 AND u.bundle_key <= $2"
                ),
                ") AS placed WHERE place <= $3 ORDER BY bundle_key, place"
            ),
            first,
            last,
            MAX_RELEASES
        )
    }
}
