//! Builds: the record, from the request to the result (`docs/reference/builds.md#build-record`). The transitions in the queue
//! are in `build_queue.rs`.

use launchway_domain::build::{Build, BuildFailure, BuildState, BuildStatus};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::{BuildId, OrgId};
use launchway_domain::platform::Platform;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::holdings::source_size;
use crate::lists::{Column, Filter, List};
use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError, System};

/// The priority of a build that was returned to the queue: it goes before all others of its organization.
pub(crate) const GIVEN_BACK: i64 = i64::MIN;

/// Filters for a list of builds. An absent filter matches every build.
#[derive(Clone, Debug, Default)]
pub struct BuildFilter {
    /// The status.
    pub status: Option<BuildStatus>,
    /// The platform.
    pub platform: Option<Platform>,
    /// The app.
    pub bundle: Option<BundleId>,
    /// The configuration.
    pub configuration: Option<Configuration>,
    /// The branch of the source.
    pub branch: Option<String>,
    /// A part of the bundle identifier.
    pub bundle_part: Option<String>,
    /// A part of the configuration.
    pub configuration_part: Option<String>,
    /// A part of the branch.
    pub branch_part: Option<String>,
}

row! {
    pub(crate) struct BuildRow {
        id: String,
        org_id: String,
        status: String,
        attempt: i64,
        queued_at: i64,
        lease_until: Option<i64>,
        cancel_requested: i64,
        pub(crate) urgency: i64,
        labels: String,
        bundle_id: String,
        platform: String,
        configuration: String,
        spec: String,
        plan: Option<String>,
        plan_origin: Option<String>,
        fingerprint: Option<String>,
        runner_id: Option<String>,
        phases: String,
        error_code: Option<String>,
        error_phase: Option<String>,
        error_message: Option<String>,
        warnings: String,
        parent_id: Option<String>,
        log_size: i64,
        created_by: String,
        created_at: i64,
        started_at: Option<i64>,
        finished_at: Option<i64>,
    }
}

impl BuildRow {
    pub(crate) fn read(self) -> Result<Build, StoreError> {
        let state = BuildState {
            status: typed("builds.status", &self.status)?,
            attempt: u32::try_from(self.attempt).map_err(|_| StoreError::Corrupt("builds.attempt"))?,
            queued_at: self.queued_at,
            lease_until: self.lease_until,
            cancel_requested: self.cancel_requested != 0,
        };
        let error = match (self.error_code, self.error_message) {
            (Some(code), Some(message)) => Some(BuildFailure {
                code: typed("builds.error_code", &code)?,
                phase: self.error_phase,
                message,
            }),
            _ => None,
        };
        let configuration = Some(self.configuration).filter(|label| !label.is_empty());
        Ok(Build {
            id: typed("builds.id", &self.id)?,
            org_id: typed("builds.org_id", &self.org_id)?,
            state,
            priority: if self.urgency == GIVEN_BACK { 0 } else { -self.urgency },
            labels: split(&self.labels),
            bundle_id: self.bundle_id,
            platform: typed("builds.platform", &self.platform)?,
            configuration: configuration
                .map(|label| typed("builds.configuration", &label))
                .transpose()?,
            spec: json("builds.spec", &self.spec)?,
            plan: self.plan.map(|plan| json("builds.plan", &plan)).transpose()?,
            plan_origin: self.plan_origin,
            fingerprint: self
                .fingerprint
                .map(|hash| typed("builds.fingerprint", &hash))
                .transpose()?,
            runner_id: self.runner_id.map(|id| typed("builds.runner_id", &id)).transpose()?,
            phases: json("builds.phases", &self.phases)?,
            error,
            warnings: json("builds.warnings", &self.warnings)?,
            parent_id: self.parent_id.map(|id| typed("builds.parent_id", &id)).transpose()?,
            log_size: self.log_size,
            created_by: self.created_by,
            created_at: self.created_at,
            started_at: self.started_at,
            finished_at: self.finished_at,
        })
    }
}

fn json<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Corrupt(column))
}

pub(crate) fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|_| StoreError::Corrupt("a value for builds"))
}

pub(crate) fn split(list: &str) -> Vec<String> {
    list.split(',')
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The columns of [`BuildRow`].
macro_rules! build_columns {
    () => {
        "id, org_id, status, attempt, queued_at, lease_until, cancel_requested, urgency, labels, bundle_id, platform, \
         configuration, spec, plan, plan_origin, fingerprint, runner_id, phases, error_code, error_phase, error_message, \
         warnings, parent_id, log_size, created_by, created_at, started_at, finished_at"
    };
}
pub(crate) use build_columns;

/// The builds of an organization.
const BUILDS: List = List {
    name: "builds",
    select: concat!("SELECT ", build_columns!(), " FROM builds WHERE org_id = $1"),
    order: "ORDER BY id DESC",
};

const BRANCH: Column = Column {
    of_rows: "branch",
    of_totals: "name",
};

impl Org<'_> {
    /// Stores a new build.
    pub async fn create_build(&mut self, build: &Build, bundle: &BundleId) -> Result<(), StoreError> {
        let branch = build.spec.git.as_ref().and_then(|git| git.branch.as_deref());
        execute!(
            self.tx,
            "INSERT INTO builds (id, org_id, status, attempt, queued_at, cancel_requested, urgency, labels, bundle_key, \
             bundle_id, platform, configuration, branch, spec, plan, plan_origin, fingerprint, phases, warnings, \
             parent_id, log_size, created_by, created_at, source_key, source_size) VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8, $9, $10, \
             $11, $12, $13, $14, $15, $16, $17, $18, $19, 0, $20, $21, $22, $23)",
            build.id.to_string(),
            &self.id,
            build.state.status.as_str(),
            i64::from(build.state.attempt),
            build.state.queued_at,
            -build.priority,
            build.labels.join(","),
            bundle.key(),
            &build.bundle_id,
            build.platform.as_str(),
            build.configuration.as_ref().map_or("", Configuration::as_str),
            branch.unwrap_or_default(),
            to_json(&build.spec)?,
            build.plan.as_ref().map(to_json).transpose()?,
            build.plan_origin.as_deref(),
            build.fingerprint.as_ref().map(ToString::to_string),
            to_json(&build.phases)?,
            to_json(&build.warnings)?,
            build.parent_id.map(|id| id.to_string()),
            &build.created_by,
            build.created_at,
            build.spec.source.blob_key().unwrap_or_default(),
            source_size(&build.spec)
        )?;
        Ok(())
    }

    /// One build.
    pub async fn build(&mut self, id: BuildId) -> Result<Option<Build>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            BuildRow,
            concat!(
                "SELECT ",
                build_columns!(),
                " FROM builds WHERE org_id = $1 AND id = $2"
            ),
            &self.id,
            id.to_string()
        )?;
        row.map(BuildRow::read).transpose()
    }

    /// The newest successful build of a bundle and platform that has a fingerprint. With a configuration, a build of that
    /// configuration or of none.
    pub async fn newest_build_with_fingerprint(
        &mut self,
        bundle: &BundleId,
        platform: Platform,
        configuration: Option<&Configuration>,
    ) -> Result<Option<Build>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            BuildRow,
            concat!(
                "SELECT ",
                build_columns!(),
                " FROM builds WHERE org_id = $1 AND bundle_key = $2 AND platform = $3 AND status = 'success' \
                 AND fingerprint IS NOT NULL AND ($4 = '' OR configuration = '' OR configuration = $4) \
                 ORDER BY id DESC LIMIT 1"
            ),
            &self.id,
            bundle.key(),
            platform.as_str(),
            configuration.map_or("", Configuration::as_str)
        )?;
        row.map(BuildRow::read).transpose()
    }

    /// One build, locked until this transaction ends.
    pub async fn lock_build(&mut self, id: BuildId) -> Result<Option<Build>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            BuildRow,
            concat!(
                "UPDATE builds SET status = status WHERE org_id = $1 AND id = $2 RETURNING ",
                build_columns!()
            ),
            &self.id,
            id.to_string()
        )?;
        row.map(BuildRow::read).transpose()
    }

    /// The builds, newest first.
    pub async fn builds(&mut self, filter: &BuildFilter, paging: Paging) -> Result<Rows<Build>, StoreError> {
        let bundle = filter.bundle.as_ref().map(BundleId::key);
        let configuration = filter.configuration.as_ref().map(Configuration::as_str);
        let conditions = Filter::default()
            .equal(Column::named("status"), filter.status.map(BuildStatus::as_str))
            .equal(Column::named("platform"), filter.platform.map(Platform::as_str))
            .equal(Column::named("bundle_key"), bundle.as_deref())
            .equal(Column::named("configuration"), configuration)
            .equal(BRANCH, filter.branch.as_deref())
            .part(Column::named("bundle_key"), filter.bundle_part.as_deref())
            .part(Column::named("configuration"), filter.configuration_part.as_deref())
            .part(BRANCH, filter.branch_part.as_deref());
        let (rows, total) = fetch_page!(self.tx, BuildRow, &self.id, &BUILDS, &conditions, paging);
        Rows::read(rows, total, BuildRow::read)
    }

    /// Stores what a runner reports about a build, and what was learned about its request.
    pub async fn update_build(&mut self, build: &Build) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE builds SET phases = $3, plan = $4, plan_origin = $5, fingerprint = $6, warnings = $7, spec = $8 \
             WHERE org_id = $1 AND id = $2",
            &self.id,
            build.id.to_string(),
            to_json(&build.phases)?,
            build.plan.as_ref().map(to_json).transpose()?,
            build.plan_origin.as_deref(),
            build.fingerprint.as_ref().map(ToString::to_string),
            to_json(&build.warnings)?,
            to_json(&build.spec)?
        )?;
        Ok(())
    }

    /// Sets the configuration of a build, which the profile in its source decided.
    pub async fn set_build_configuration(
        &mut self,
        id: BuildId,
        configuration: Option<&Configuration>,
    ) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE builds SET configuration = $3 WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            configuration.map_or("", |label| label.as_str())
        )?;
        Ok(())
    }

    /// Deletes a build with its log and artifacts; returns false if there is none.
    pub async fn delete_build(&mut self, id: BuildId) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "DELETE FROM builds WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(deleted == 1)
    }
}

impl System<'_> {
    /// The build with this id, of any organization.
    pub async fn any_build(&mut self, id: BuildId) -> Result<Option<Build>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            BuildRow,
            concat!("SELECT ", build_columns!(), " FROM builds WHERE id = $1"),
            id.to_string()
        )?;
        row.map(BuildRow::read).transpose()
    }
}

pub(crate) fn pair(org: &str, id: &str) -> Result<(OrgId, BuildId), StoreError> {
    Ok((typed("builds.org_id", org)?, typed("builds.id", id)?))
}
