//! Updates of Expo: the exports in their packages, the ids under which clients receive them, and what was signed for them
//! (`docs/reference/expo.md`).

use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::{PackageId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::release::{RuntimeVersion, Sequence};
use launchway_domain::time::EpochMs;

use crate::sql::typed;
use crate::updates::sequence;
use crate::{Org, StoreError, System};

/// The maximum number of updates that are given new ids at once, the newest ones.
const MAX_REISSUED: i64 = 50;

/// The updates of an app whose times are compared by one client.
#[derive(Clone, Copy, Debug)]
pub struct IssueGroup<'g> {
    /// The app.
    pub bundle: &'g BundleId,
    /// The platform.
    pub platform: Platform,
    /// The runtime; `None`: every one.
    pub runtime_version: Option<&'g RuntimeVersion>,
    /// The configuration; `None`: every one.
    pub configuration: Option<&'g Configuration>,
}

/// An id under which clients receive an update.
#[derive(Clone, Copy, Debug)]
pub struct NewIssue<'i> {
    /// The app.
    pub bundle: &'i BundleId,
    /// The platform.
    pub platform: Platform,
    /// The update.
    pub update_id: UpdateId,
    /// The id, a UUID.
    pub id: &'i str,
    /// When clients take it as created.
    pub created_at: EpochMs,
    /// The update that it leads back from, if that is withdrawn.
    pub undoes: Option<UpdateId>,
}

/// An update to which devices may go back.
#[derive(Clone, Debug)]
pub struct Reissuable {
    /// Its id.
    pub id: UpdateId,
    /// Its place.
    pub sequence: Sequence,
    /// Whether its manifest was signed elsewhere, so that it cannot be issued again.
    pub is_signed: bool,
}

row! {
    struct ReissuableRow {
        id: String,
        sequence: i64,
        is_signed: i64,
    }
}

impl ReissuableRow {
    fn read(self) -> Result<Reissuable, StoreError> {
        Ok(Reissuable {
            id: typed("updates.id", &self.id)?,
            sequence: sequence(self.sequence)?,
            is_signed: self.is_signed != 0,
        })
    }
}

impl Org<'_> {
    /// Stores the export in a package, or where the files of an archive are. It follows from the bytes, which never change.
    pub async fn set_package_export(&mut self, id: PackageId, export: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE packages SET export = $3 WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            export
        )?;
        Ok(())
    }

    /// The export in a package.
    pub async fn package_export(&mut self, id: PackageId) -> Result<Option<String>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (Option<String>,),
            "SELECT export FROM packages WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(row.and_then(|(export,)| export))
    }

    /// Names an update by an id with a time; returns false if the id names another one.
    pub async fn add_issue(&mut self, new: &NewIssue<'_>) -> Result<bool, StoreError> {
        let added = execute!(
            self.tx,
            "INSERT INTO foreign_ids (bundle_key, platform, protocol, foreign_id, org_id, update_id, issued_at, undoes) \
             VALUES ($1, $2, 'expo', $3, $4, $5, $6, $7) ON CONFLICT (bundle_key, platform, protocol, foreign_id) DO NOTHING",
            new.bundle.key(),
            new.platform.as_str(),
            new.id,
            &self.id,
            new.update_id.to_string(),
            new.created_at,
            new.undoes.map(|id| id.to_string())
        )?;
        Ok(added == 1)
    }

    /// The newest time that an update of a group has, also a withdrawn or deleted one. That of its undo, which comes right after
    /// it, does not count.
    pub async fn newest_issue(&mut self, group: &IssueGroup<'_>) -> Result<Option<EpochMs>, StoreError> {
        let (newest,) = fetch_one!(
            self.tx,
            (Option<i64>,),
            "SELECT MAX(f.issued_at) FROM foreign_ids f JOIN updates u ON u.id = f.update_id \
             WHERE f.org_id = $1 AND f.bundle_key = $2 AND f.platform = $3 AND f.protocol = 'expo' AND f.undoes IS NULL \
             AND ($4 = '' OR u.runtime_version IS NULL OR u.runtime_version = $4) \
             AND ($5 = '' OR u.configuration = '' OR u.configuration = $5)",
            &self.id,
            group.bundle.key(),
            group.platform.as_str(),
            group.runtime_version.map_or("", RuntimeVersion::as_str),
            group.configuration.map_or("", |label| label.as_str())
        )?;
        Ok(newest)
    }

    /// The updates of a group that are published or paused, the highest first, at most `MAX_REISSUED`.
    pub async fn reissuable(&mut self, group: &IssueGroup<'_>) -> Result<Vec<Reissuable>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            ReissuableRow,
            "SELECT u.id, u.sequence, CAST(CASE WHEN u.signed_part IS NULL THEN 0 ELSE 1 END AS BIGINT) AS is_signed \
             FROM updates u JOIN packages p ON p.id = u.package_id WHERE u.org_id = $1 AND u.bundle_key = $2 \
             AND u.platform = $3 AND u.deleted_at IS NULL AND u.kind = 'update' AND p.format = 'expo' \
             AND u.release_status IN ('published', 'paused') AND u.sequence IS NOT NULL \
             AND ($4 = '' OR u.runtime_version = $4) AND ($5 = '' OR u.configuration = '' OR u.configuration = $5) \
             ORDER BY u.sequence DESC, u.id DESC LIMIT $6",
            &self.id,
            group.bundle.key(),
            group.platform.as_str(),
            group.runtime_version.map_or("", RuntimeVersion::as_str),
            group.configuration.map_or("", |label| label.as_str()),
            MAX_REISSUED
        )?;
        rows.into_iter().map(ReissuableRow::read).collect()
    }

    /// Stores what was signed for an update: its manifest or directive, and, sealed, what is served once it is withdrawn.
    pub async fn set_signed_part(
        &mut self,
        id: UpdateId,
        part: &str,
        sealed_undo: Option<&str>,
    ) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE updates SET signed_part = $3, sealed_undo = $4 WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            part,
            sealed_undo
        )?;
        Ok(())
    }

    /// What was signed for an update: its manifest or directive, and, sealed, its undo.
    pub async fn signed_part(&mut self, id: UpdateId) -> Result<Option<(String, Option<String>)>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (Option<String>, Option<String>),
            "SELECT signed_part, sealed_undo FROM updates WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(row.and_then(|(part, undo)| Some((part?, undo))))
    }

    /// The updates of an app with a sealed undo.
    pub async fn updates_with_undo(&mut self, bundle: &BundleId) -> Result<Vec<UpdateId>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String,),
            "SELECT id FROM updates WHERE org_id = $1 AND bundle_key = $2 AND sealed_undo IS NOT NULL ORDER BY id",
            &self.id,
            bundle.key()
        )?;
        rows.into_iter().map(|(id,)| typed("updates.id", &id)).collect()
    }

    /// Stores the undo of a withdrawn update as it is served.
    pub async fn set_undo(&mut self, id: UpdateId, undo: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE updates SET undo = $3 WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            undo
        )?;
        Ok(())
    }
}

impl System<'_> {
    /// The export in the package of an update, or where the files of an archive are.
    pub async fn export_of_update(&mut self, id: UpdateId) -> Result<Option<String>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (Option<String>,),
            "SELECT p.export FROM updates u JOIN packages p ON p.id = u.package_id WHERE u.id = $1",
            id.to_string()
        )?;
        Ok(row.and_then(|(export,)| export))
    }

    /// What was signed for an update, and its undo if it was withdrawn.
    pub async fn signed_of_update(&mut self, id: UpdateId) -> Result<(Option<String>, Option<String>), StoreError> {
        let row = fetch_optional!(
            self.tx,
            (Option<String>, Option<String>),
            "SELECT signed_part, undo FROM updates WHERE id = $1",
            id.to_string()
        )?;
        Ok(row.unwrap_or_default())
    }
}
