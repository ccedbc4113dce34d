//! Builds: the queue, leases, and every move as compare-and-set on (status, attempt) (contract part 4).

use launchway_domain::build::{Build, BuildFailure, BuildStatus, PhaseRecord, Standing};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::{BuildId, OrgId, RunnerId};
use launchway_domain::platform::Platform;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError, System};

/// What a list of builds is narrowed to; nothing means all.
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
    /// The branch that git named.
    pub branch: Option<String>,
}

/// What a move sets beside where the build stands.
#[derive(Clone, Debug, Default)]
pub struct BuildMove {
    /// The runner that has it now; `None` leaves the last one.
    pub runner: Option<RunnerId>,
    /// Why it failed.
    pub error: Option<BuildFailure>,
    /// When it is taken.
    pub started_at: Option<i64>,
    /// When it ends.
    pub finished_at: Option<i64>,
}

#[derive(sqlx::FromRow)]
struct BuildRow {
    id: String,
    org_id: String,
    status: String,
    attempt: i64,
    queued_at: i64,
    lease_until: Option<i64>,
    cancel_requested: i64,
    urgency: i64,
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

impl BuildRow {
    fn read(self) -> Result<Build, StoreError> {
        let standing = Standing {
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
            standing,
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

/// A build that was given back goes before all others.
const GIVEN_BACK: i64 = i64::MIN;

fn json<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Corrupt(column))
}

pub(crate) fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|_| StoreError::Corrupt("a value for builds"))
}

fn split(list: &str) -> Vec<String> {
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

macro_rules! build_filter {
    ($status:literal) => {
        concat!(
            " FROM builds WHERE org_id = $1 AND ",
            $status,
            " AND ($3 IS NULL OR platform = $3) AND ($4 IS NULL OR bundle_key = $4) \
             AND ($5 IS NULL OR configuration = $5) AND ($6 IS NULL OR branch = $6) "
        )
    };
}

/// Lists builds by the condition that a [`BuildFilter`] makes of `$1` to `$6`. What is said of the status is a text of its own,
/// for a database takes the index of one status only when the text says that there is one.
macro_rules! listed {
    ($tx:expr, $paging:expr, $status:literal, $($value:expr),+ $(,)?) => {{
        let rows = fetch_all!(
            $tx,
            BuildRow,
            concat!(
                "SELECT ",
                build_columns!(),
                build_filter!($status),
                "ORDER BY id DESC LIMIT $7 OFFSET $8"
            ),
            $($value),+,
            $paging.limit,
            $paging.offset
        )?;
        let (total,) = fetch_one!(
            $tx,
            (i64,),
            concat!("SELECT COUNT(*)", build_filter!($status)),
            $($value),+
        )?;
        (rows, total)
    }};
}

impl Org<'_> {
    /// Keeps a new build.
    pub async fn create_build(&mut self, build: &Build, bundle: &BundleId) -> Result<(), StoreError> {
        let branch = build.spec.git.as_ref().and_then(|git| git.branch.as_deref());
        execute!(
            self.tx,
            "INSERT INTO builds (id, org_id, status, attempt, queued_at, cancel_requested, urgency, labels, bundle_key, \
             bundle_id, platform, configuration, branch, spec, plan, plan_origin, fingerprint, phases, warnings, \
             parent_id, log_size, created_by, created_at, source_key) VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8, $9, $10, \
             $11, $12, $13, $14, $15, $16, $17, $18, $19, 0, $20, $21, $22)",
            build.id.to_string(),
            &self.id,
            build.standing.status.as_str(),
            i64::from(build.standing.attempt),
            build.standing.queued_at,
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
            build.spec.source.blob_key().unwrap_or_default()
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

    /// The newest successful build of a bundle and platform that has a fingerprint. With a configuration, one of that
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

    /// One build, which nobody else changes until this transaction ends.
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
        let platform = filter.platform.map(Platform::as_str);
        let bundle = filter.bundle.as_ref().map(BundleId::key);
        let bundle = bundle.as_deref();
        let configuration = filter.configuration.as_ref().map(Configuration::as_str);
        let branch = filter.branch.as_deref();
        let status = filter.status.map(BuildStatus::as_str);
        let (rows, total): (Vec<BuildRow>, i64) = if status.is_some() {
            listed!(
                self.tx,
                paging,
                "status = $2",
                &self.id,
                status,
                platform,
                bundle,
                configuration,
                branch
            )
        } else {
            listed!(
                self.tx,
                paging,
                "($2 IS NULL OR status = $2)",
                &self.id,
                status,
                platform,
                bundle,
                configuration,
                branch
            )
        };
        Ok(Rows {
            items: rows.into_iter().map(BuildRow::read).collect::<Result<_, _>>()?,
            total,
        })
    }

    /// Moves a build from where it stands to where it is to stand; false when it stands elsewhere by now.
    pub async fn move_build(
        &mut self,
        id: BuildId,
        from: &Standing,
        to: &Standing,
        with: &BuildMove,
    ) -> Result<bool, StoreError> {
        let given_back = to.attempt > from.attempt;
        let moved = execute!(
            self.tx,
            "UPDATE builds SET status = $5, attempt = $6, queued_at = $7, lease_until = $8, cancel_requested = $9, \
             urgency = CASE WHEN $10 = 1 THEN $11 ELSE urgency END, runner_id = COALESCE($12, runner_id), \
             error_code = COALESCE($13, error_code), error_phase = COALESCE($14, error_phase), \
             error_message = COALESCE($15, error_message), started_at = COALESCE(started_at, $16), \
             finished_at = COALESCE($17, finished_at) \
             WHERE org_id = $1 AND id = $2 AND status = $3 AND attempt = $4",
            &self.id,
            id.to_string(),
            from.status.as_str(),
            i64::from(from.attempt),
            to.status.as_str(),
            i64::from(to.attempt),
            to.queued_at,
            to.lease_until,
            i64::from(to.cancel_requested),
            i64::from(given_back),
            GIVEN_BACK,
            with.runner.map(|runner| runner.to_string()),
            with.error.as_ref().map(|error| error.code.as_str()),
            with.error.as_ref().and_then(|error| error.phase.as_deref()),
            with.error.as_ref().map(|error| error.message.as_str()),
            with.started_at,
            with.finished_at
        )?;
        Ok(moved == 1)
    }

    /// Sets what a runner tells of a build, and what was learned of what was asked for.
    pub async fn tell_build(&mut self, build: &Build) -> Result<(), StoreError> {
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

    /// Forgets a build with its log and artifacts; false when there is none.
    pub async fn delete_build(&mut self, id: BuildId) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "DELETE FROM builds WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(deleted == 1)
    }

    /// How many builds, of all organizations, are taken before a queued one.
    pub async fn queued_before(&mut self, id: BuildId) -> Result<i64, StoreError> {
        let (count,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM builds AS other JOIN builds AS one ON one.org_id = $1 AND one.id = $2 \
             WHERE other.status = 'queued' AND (other.urgency < one.urgency \
             OR (other.urgency = one.urgency AND other.id < one.id))",
            &self.id,
            id.to_string()
        )?;
        Ok(count)
    }
}

impl System<'_> {
    /// The different sets of labels that queued builds need.
    pub async fn queued_labels(&mut self) -> Result<Vec<Vec<String>>, StoreError> {
        // Steps from one set to the next in the index instead of reading the whole queue.
        let rows = fetch_all!(
            self.tx,
            (String,),
            "WITH RECURSIVE sets (labels) AS (\
             SELECT MIN(labels) FROM builds WHERE status = 'queued' UNION ALL \
             SELECT (SELECT MIN(labels) FROM builds WHERE status = 'queued' AND labels > sets.labels) FROM sets \
             WHERE sets.labels IS NOT NULL) SELECT labels FROM sets WHERE labels IS NOT NULL"
        )?;
        Ok(rows.into_iter().map(|(labels,)| split(&labels)).collect())
    }

    /// The first queued build that needs exactly these labels, of one organization or of all, locked until this
    /// transaction ends; with what orders it among those of other sets.
    pub async fn next_queued(
        &mut self,
        labels: &[String],
        org: Option<OrgId>,
    ) -> Result<Option<(i64, Build)>, StoreError> {
        let rows = fetch_all_locked!(
            self.tx,
            BuildRow,
            "SELECT id, org_id, status, attempt, queued_at, lease_until, cancel_requested, urgency, labels, bundle_id, \
             platform, configuration, spec, plan, plan_origin, fingerprint, runner_id, phases, error_code, error_phase, \
             error_message, warnings, parent_id, log_size, created_by, created_at, started_at, finished_at \
             FROM builds WHERE status = 'queued' AND labels = $1 AND ($2 IS NULL OR org_id = $2) \
             ORDER BY urgency, id LIMIT 1",
            " FOR UPDATE SKIP LOCKED",
            "",
            labels.join(","),
            org.map(|org| org.to_string())
        )?;
        let first = rows.into_iter().next();
        first.map(|row| Ok((row.urgency, row.read()?))).transpose()
    }

    /// The build with this id, whosoever it is.
    pub async fn any_build(&mut self, id: BuildId) -> Result<Option<Build>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            BuildRow,
            concat!("SELECT ", build_columns!(), " FROM builds WHERE id = $1"),
            id.to_string()
        )?;
        row.map(BuildRow::read).transpose()
    }

    /// The build that a runner speaks of, whoever's it is, locked until this transaction ends.
    pub async fn lock_leased_build(&mut self, id: BuildId) -> Result<Option<Build>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            BuildRow,
            concat!(
                "UPDATE builds SET status = status WHERE id = $1 RETURNING ",
                build_columns!()
            ),
            id.to_string()
        )?;
        row.map(BuildRow::read).transpose()
    }

    /// Running builds whose lease ended, the longest ago first.
    pub async fn lapsed_builds(&mut self, now: i64, limit: i64) -> Result<Vec<(OrgId, BuildId)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT org_id, id FROM builds WHERE status = 'running' AND lease_until <= $1 ORDER BY lease_until LIMIT $2",
            now,
            limit
        )?;
        rows.into_iter().map(|(org, id)| pair(&org, &id)).collect()
    }

    /// Builds that were put into the queue before `time` and are still there.
    pub async fn stale_builds(&mut self, time: i64, limit: i64) -> Result<Vec<(OrgId, BuildId)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT org_id, id FROM builds WHERE status = 'queued' AND queued_at <= $1 ORDER BY queued_at LIMIT $2",
            time,
            limit
        )?;
        rows.into_iter().map(|(org, id)| pair(&org, &id)).collect()
    }

    /// Renews the lease of a running build and sets its phases, without reading it; gives whether it is to be stopped and
    /// how much of its log is kept. `None` when this runner does not have this attempt any more.
    pub async fn renew_build(
        &mut self,
        id: BuildId,
        runner: RunnerId,
        attempt: u32,
        lease_until: i64,
        phases: &[PhaseRecord],
    ) -> Result<Option<(bool, i64)>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (i64, i64),
            "UPDATE builds SET lease_until = $4, phases = $5 \
             WHERE id = $1 AND runner_id = $2 AND attempt = $3 AND status = 'running' \
             RETURNING cancel_requested, log_size",
            id.to_string(),
            runner.to_string(),
            i64::from(attempt),
            lease_until,
            to_json(&phases)?
        )?;
        Ok(row.map(|(cancel, size)| (cancel != 0, size)))
    }
}

pub(crate) fn pair(org: &str, id: &str) -> Result<(OrgId, BuildId), StoreError> {
    Ok((typed("builds.org_id", org)?, typed("builds.id", id)?))
}
