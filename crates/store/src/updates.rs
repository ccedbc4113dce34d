//! Over-the-air updates. Every change takes a revision, so that the index of each node follows.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::UpdateId;
use launchway_domain::platform::Platform;
use launchway_domain::release::{BinaryRange, ForeignId, Protocol, ReleaseFacts, RuntimeVersion, Sequence};
use launchway_domain::rollout::Rollout;
use launchway_domain::update::{Update, UpdateStatus};
use launchway_domain::version::Version;

use crate::changes::touch_bundle;
use crate::lists::{Column, Filter, List};
use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError};

/// Filters for a list of updates. An absent filter matches every update.
#[derive(Clone, Debug, Default)]
pub struct UpdateFilter {
    /// The app.
    pub bundle: Option<BundleId>,
    /// The platform.
    pub platform: Option<Platform>,
    /// The configuration.
    pub configuration: Option<Configuration>,
    /// The status.
    pub status: Option<UpdateStatus>,
    /// A part of the bundle identifier.
    pub bundle_part: Option<String>,
    /// A part of the configuration.
    pub configuration_part: Option<String>,
    /// How clients of a protocol name it.
    pub foreign_id: Option<(Protocol, ForeignId)>,
}

/// What a PATCH sets.
#[derive(Clone, Debug)]
pub struct UpdateChange {
    /// The status.
    pub status: UpdateStatus,
    /// The rollout.
    pub rollout: Rollout,
    /// Whether the app is asked to install at once.
    pub mandatory: bool,
    /// The release notes.
    pub release_notes: String,
}

/// An update to publish; its identity must be free.
#[derive(Clone, Debug)]
pub struct NewUpdate<'u> {
    /// The record.
    pub update: &'u Update,
    /// The app.
    pub bundle: &'u BundleId,
}

/// What the path of a target says: the identity of an update.
#[derive(Clone, Copy, Debug)]
pub struct NamedTarget<'t> {
    /// The app.
    pub bundle: &'t BundleId,
    /// The platform.
    pub platform: Platform,
    /// The configuration; `None`: the update serves every one.
    pub configuration: Option<&'t Configuration>,
    /// The version.
    pub version: &'t Version,
    /// The build number.
    pub build: u64,
}

row! {
    struct UpdateRow {
        id: String,
        org_id: String,
        status: String,
        bundle_id: String,
        platform: String,
        version: String,
        build_number: String,
        configuration: String,
        fingerprint: Option<String>,
        build_id: Option<String>,
        source_update_id: Option<String>,
        package_id: String,
        release_notes: String,
        mandatory: i64,
        rollout: i64,
        size: i64,
        sha256: String,
        file_count: i64,
        blob_key: String,
        manifest: Option<String>,
        trust_role: Option<String>,
        awaiting_since: Option<i64>,
        kind: String,
        format: String,
        sequence: Option<i64>,
        release_status: Option<String>,
        runtime_version: Option<String>,
        binary_range: Option<String>,
        content_id: Option<String>,
        created_by: String,
        created_at: i64,
        published_at: Option<i64>,
    }
}

impl UpdateRow {
    /// Takes out what the update is to the clients of other services.
    fn read_release(&mut self) -> Result<ReleaseFacts, StoreError> {
        let runtime_version = self.runtime_version.take();
        let binary_range = self.binary_range.take();
        Ok(ReleaseFacts {
            kind: typed("updates.kind", &self.kind)?,
            format: typed("packages.format", &self.format)?,
            sequence: self.sequence.map(sequence).transpose()?,
            runtime_version: runtime_version
                .map(|text| typed("updates.runtime_version", &text))
                .transpose()?,
            binary_range: binary_range
                .map(|text| typed("updates.binary_range", &text))
                .transpose()?,
            content_id: self.content_id.take(),
        })
    }

    fn read(mut self) -> Result<Update, StoreError> {
        let release = self.read_release()?;
        let configuration = (!self.configuration.is_empty()).then_some(self.configuration);
        Ok(Update {
            id: typed("updates.id", &self.id)?,
            org_id: typed("updates.org_id", &self.org_id)?,
            status: status(&self.status, self.awaiting_since, self.release_status.as_deref())?,
            bundle_id: self.bundle_id,
            platform: typed("updates.platform", &self.platform)?,
            version: typed("updates.version", &self.version)?,
            version_text: self.version,
            build_number: typed("updates.build_number", &self.build_number)?,
            configuration: configuration
                .map(|label| typed("updates.configuration", &label))
                .transpose()?,
            fingerprint: self
                .fingerprint
                .map(|hash| typed("updates.fingerprint", &hash))
                .transpose()?,
            build_id: self.build_id,
            source_update_id: self
                .source_update_id
                .map(|id| typed("updates.source_update_id", &id))
                .transpose()?,
            package_id: typed("updates.package_id", &self.package_id)?,
            release_notes: self.release_notes,
            mandatory: self.mandatory != 0,
            rollout: rollout(self.rollout)?,
            size: self.size,
            sha256: self.sha256,
            file_count: self.file_count,
            blob_key: self.blob_key,
            manifest: self.manifest,
            trust_role: self.trust_role,
            release,
            created_by: self.created_by,
            created_at: self.created_at,
            published_at: self.published_at,
        })
    }
}

/// The status in the column `status`. An update that awaits its signature, or that our own check does not offer, stands there
/// as withdrawn, so that a node of an older release neither offers nor changes it.
fn status_column(update: &Update) -> UpdateStatus {
    match update.status {
        UpdateStatus::AwaitingSignature => UpdateStatus::Withdrawn,
        _ if !update.release.is_for_check() => UpdateStatus::Withdrawn,
        other => other,
    }
}

/// Reads a status from its three columns.
fn status(column: &str, awaiting_since: Option<i64>, release_status: Option<&str>) -> Result<UpdateStatus, StoreError> {
    match (typed("updates.status", column)?, release_status) {
        (UpdateStatus::Withdrawn, Some(own)) => typed("updates.release_status", own),
        (UpdateStatus::Withdrawn, None) if awaiting_since.is_some() => Ok(UpdateStatus::AwaitingSignature),
        (status, _) => Ok(status),
    }
}

/// Reads a stored sequence.
pub(crate) fn sequence(number: i64) -> Result<Sequence, StoreError> {
    let number = u64::try_from(number).map_err(|_| StoreError::Corrupt("updates.sequence"))?;
    Ok(Sequence::new(number))
}

/// Parses a stored rollout.
pub(crate) fn rollout(percent: i64) -> Result<Rollout, StoreError> {
    let rollout = u8::try_from(percent).ok().and_then(Rollout::new);
    rollout.ok_or(StoreError::Corrupt("updates.rollout"))
}

/// Selects the columns of [`UpdateRow`]; a condition follows.
macro_rules! select_updates {
    ($($rest:tt)+) => {
        concat!(
            "SELECT u.id, u.org_id, u.status, u.bundle_id, u.platform, u.version, u.build_number, u.configuration, ",
            "u.fingerprint, u.build_id, u.source_update_id, u.package_id, u.release_notes, u.mandatory, u.rollout, ",
            "p.size, p.sha256, p.file_count, p.blob_key, p.manifest, u.trust_role, u.awaiting_since, u.kind, p.format, ",
            "u.sequence, u.release_status, u.runtime_version, u.binary_range, p.content_id, u.created_by, ",
            "u.created_at, u.published_at ",
            "FROM updates u JOIN packages p ON p.id = u.package_id WHERE ",
            $($rest)+
        )
    };
}

/// The updates of an organization.
const UPDATES: List = List {
    name: "updates",
    select: select_updates!("u.org_id = $1 AND u.deleted_at IS NULL"),
    order: "ORDER BY u.id DESC",
};

/// The status, as [`status`] reads it; in these words, because an index has them.
const STATUS: Column = Column {
    of_rows: "COALESCE(u.release_status, CASE WHEN u.awaiting_since IS NULL THEN u.status ELSE 'awaiting_signature' END)",
    of_totals: "status",
};

const fn column(of_rows: &'static str, of_totals: &'static str) -> Column {
    Column { of_rows, of_totals }
}

const BUNDLE: Column = column("u.bundle_key", "bundle_key");
const PLATFORM: Column = column("u.platform", "platform");
const CONFIGURATION: Column = column("u.configuration", "configuration");

/// The condition that a client of a protocol names the update so.
fn has_foreign_id(number: usize) -> String {
    format!(
        "u.id IN (SELECT f.update_id FROM foreign_ids f WHERE f.org_id = $1 AND f.protocol = ${number} AND f.foreign_id = ${})",
        number + 1
    )
}

impl Org<'_> {
    /// Serializes changes of one bundle's updates, and notifies every node of them. Call it before reading anything that
    /// the change depends on.
    pub async fn touch_updates(&mut self, bundle: &BundleId, now: i64) -> Result<i64, StoreError> {
        touch_bundle(self.tx, &bundle.key(), now).await
    }

    /// Publishes an update; returns false if its identity is taken, even by a deleted one.
    pub async fn create_update(&mut self, new: &NewUpdate<'_>) -> Result<bool, StoreError> {
        let update = new.update;
        let made = execute!(
            self.tx,
            "INSERT INTO updates (id, org_id, status, bundle_key, bundle_id, platform, version, version_key, build_number, \
             build_value, configuration, fingerprint, build_id, source_update_id, package_id, release_notes, mandatory, rollout, \
             created_by, created_at, trust_role, awaiting_since, kind, sequence, release_status, runtime_version, binary_range) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
             $23, $24, $25, $26, $27) \
             ON CONFLICT (bundle_key, platform, configuration, version_key, build_value) DO NOTHING",
            update.id.to_string(),
            &self.id,
            status_column(update).as_str(),
            new.bundle.key(),
            &update.bundle_id,
            update.platform.as_str(),
            &update.version_text,
            update.version.precedence_key(),
            update.build_number.as_str(),
            update.build_number.value() as i64,
            update.configuration.as_ref().map_or("", |label| label.as_str()),
            update.fingerprint.as_ref().map(|hash| hash.as_str()),
            update.build_id.as_deref(),
            update.source_update_id.map(|id| id.to_string()),
            update.package_id.to_string(),
            &update.release_notes,
            i64::from(update.mandatory),
            i64::from(update.rollout.percent()),
            &update.created_by,
            update.created_at,
            update.trust_role.as_deref(),
            (update.status == UpdateStatus::AwaitingSignature).then_some(update.created_at),
            update.release.kind.as_str(),
            update.release.sequence.map(|sequence| sequence.number() as i64),
            (!update.release.is_for_check()).then_some(update.status.as_str()),
            update.release.runtime_version.as_ref().map(RuntimeVersion::as_str),
            update.release.binary_range.as_ref().map(BinaryRange::as_str)
        )? == 1;
        if made {
            self.note_package_use(&update.package_id.to_string(), update.created_at)
                .await?;
        }
        Ok(made)
    }

    /// One update.
    pub async fn update(&mut self, id: UpdateId) -> Result<Option<Update>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            UpdateRow,
            select_updates!("u.org_id = $1 AND u.id = $2 AND u.deleted_at IS NULL"),
            &self.id,
            id.to_string()
        )?;
        row.map(UpdateRow::read).transpose()
    }

    /// The updates that match the filter, newest first.
    pub async fn updates(&mut self, filter: &UpdateFilter, paging: Paging) -> Result<Rows<Update>, StoreError> {
        let bundle = filter.bundle.as_ref().map(BundleId::key);
        let foreign_id = filter.foreign_id.as_ref();
        let conditions = Filter::default()
            .equal(BUNDLE, bundle.as_deref())
            .equal(PLATFORM, filter.platform.map(Platform::as_str))
            .equal(CONFIGURATION, filter.configuration.as_ref().map(Configuration::as_str))
            .equal(STATUS, filter.status.map(UpdateStatus::as_str))
            .part(BUNDLE, filter.bundle_part.as_deref())
            .part(CONFIGURATION, filter.configuration_part.as_deref())
            .rare(
                has_foreign_id,
                foreign_id
                    .into_iter()
                    .flat_map(|(protocol, id)| [protocol.as_str(), id.as_str()]),
            );
        let (rows, total) = fetch_page!(self.tx, UpdateRow, &self.id, &UPDATES, &conditions, paging);
        Rows::read(rows, total, UpdateRow::read)
    }

    /// Stores what a PATCH may change. Nothing of an update that awaits its signature changes.
    pub async fn change_update(&mut self, id: UpdateId, change: &UpdateChange) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE updates SET status = CASE WHEN release_status IS NULL THEN $3 ELSE status END, \
             release_status = CASE WHEN release_status IS NULL THEN NULL ELSE $3 END, \
             rollout = $4, mandatory = $5, release_notes = $6 \
             WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL AND awaiting_since IS NULL",
            &self.id,
            id.to_string(),
            change.status.as_str(),
            i64::from(change.rollout.percent()),
            i64::from(change.mandatory),
            &change.release_notes
        )?;
        Ok(())
    }

    /// The update that a target of signed metadata names. Versions are compared without build metadata.
    pub async fn update_of_target(&mut self, target: &NamedTarget<'_>) -> Result<Option<Update>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            UpdateRow,
            select_updates!(
                "u.org_id = $1 AND u.bundle_key = $2 AND u.platform = $3 AND u.configuration = $4 AND u.version_key = $5 \
                 AND u.build_value = $6 AND u.deleted_at IS NULL"
            ),
            &self.id,
            target.bundle.key(),
            target.platform.as_str(),
            target.configuration.map_or("", |label| label.as_str()),
            target.version.precedence_key(),
            i64::try_from(target.build).unwrap_or(i64::MAX)
        )?;
        row.map(UpdateRow::read).transpose()
    }

    /// The updates of an app with this package that are not withdrawn, the newest first.
    pub async fn updates_of_package(&mut self, bundle: &BundleId, sha256: &str) -> Result<Vec<Update>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            UpdateRow,
            select_updates!(
                "u.org_id = $1 AND u.bundle_key = $2 AND p.sha256 = $3 AND u.deleted_at IS NULL \
                 AND (u.status <> 'withdrawn' OR u.awaiting_since IS NOT NULL) ORDER BY u.id DESC"
            ),
            &self.id,
            bundle.key(),
            sha256
        )?;
        rows.into_iter().map(UpdateRow::read).collect()
    }

    /// The updates of an app that await a signature of this role, the newest first.
    pub async fn awaiting_updates(&mut self, bundle: &BundleId, role: &str) -> Result<Vec<Update>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            UpdateRow,
            select_updates!(
                "u.org_id = $1 AND u.bundle_key = $2 AND u.trust_role = $3 AND u.awaiting_since IS NOT NULL \
                 AND u.deleted_at IS NULL ORDER BY u.id DESC"
            ),
            &self.id,
            bundle.key(),
            role
        )?;
        rows.into_iter().map(UpdateRow::read).collect()
    }

    /// Publishes an update whose signature is complete; returns false if it does not await one.
    pub async fn release_update(&mut self, id: UpdateId, now: i64) -> Result<bool, StoreError> {
        let released = execute!(
            self.tx,
            "UPDATE updates SET status = 'published', awaiting_since = NULL, published_at = $3 \
             WHERE org_id = $1 AND id = $2 AND awaiting_since IS NOT NULL AND deleted_at IS NULL",
            &self.id,
            id.to_string(),
            now
        )?;
        Ok(released == 1)
    }

    /// Withdraws an update that nobody signed; returns false if it does not await its signature.
    pub async fn withdraw_awaiting_update(&mut self, id: UpdateId) -> Result<bool, StoreError> {
        let withdrawn = execute!(
            self.tx,
            "UPDATE updates SET status = 'withdrawn', awaiting_since = NULL \
             WHERE org_id = $1 AND id = $2 AND awaiting_since IS NOT NULL AND deleted_at IS NULL",
            &self.id,
            id.to_string()
        )?;
        Ok(withdrawn == 1)
    }

    /// Deletes an update; its identity stays taken, and its package is deleted if nothing else names it.
    pub async fn delete_update(&mut self, update: &Update, now: i64) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE updates SET deleted_at = $3 WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL",
            &self.id,
            update.id.to_string(),
            now
        )?;
        self.note_package_use(&update.package_id.to_string(), now).await
    }

    /// Raises the highest build number of a bundle and platform to at least `value`, unless the bundle belongs to another
    /// organization.
    pub async fn note_build_number(
        &mut self,
        bundle: &BundleId,
        platform: Platform,
        value: u64,
    ) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO build_numbers (bundle_key, platform, highest) SELECT $1, $2, $3 \
             WHERE NOT EXISTS (SELECT 1 FROM apps WHERE bundle_key = $1 AND org_id <> $4) ON CONFLICT (bundle_key, platform) DO UPDATE SET highest = CASE \
             WHEN build_numbers.highest < excluded.highest THEN excluded.highest ELSE build_numbers.highest END",
            bundle.key(),
            platform.as_str(),
            value as i64,
            &self.id
        )?;
        Ok(())
    }

    /// Reserves the number above the highest one of a bundle and platform. An error if the bundle belongs to another
    /// organization: the caller has checked that it does not.
    pub async fn next_build_number(&mut self, bundle: &BundleId, platform: Platform) -> Result<u64, StoreError> {
        let (next,) = fetch_one!(
            self.tx,
            (i64,),
            "INSERT INTO build_numbers (bundle_key, platform, highest) SELECT $1, $2, 1 \
             WHERE NOT EXISTS (SELECT 1 FROM apps WHERE bundle_key = $1 AND org_id <> $3) \
             ON CONFLICT (bundle_key, platform) DO UPDATE SET highest = build_numbers.highest + 1 RETURNING highest",
            bundle.key(),
            platform.as_str(),
            &self.id
        )?;
        u64::try_from(next).map_err(|_| StoreError::Corrupt("build_numbers.highest"))
    }
}
