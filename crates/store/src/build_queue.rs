//! The queue of builds: which build is next, leases, and every transition as a compare-and-set on (status, attempt)
//! (`docs/reference/builds.md#transitions`).

use std::collections::BTreeMap;

use launchway_domain::build::{Build, BuildFailure, BuildState, PhaseRecord};
use launchway_domain::id::{BuildId, OrgId, RunnerId};
use launchway_domain::tenancy::Tier;

use crate::builds::{BuildRow, GIVEN_BACK, build_columns, pair, split, to_json};
use crate::sql::typed;
use crate::tx::Tx;
use crate::{Org, StoreError, System};

/// What a transition sets in addition to the state.
#[derive(Clone, Debug, Default)]
pub struct StateChange {
    /// The runner that claims it; `None` leaves the last one.
    pub runner: Option<RunnerId>,
    /// Why it failed.
    pub error: Option<BuildFailure>,
    /// When it is claimed. Each claim counts as service to its organization, and the first is the start of the build.
    pub started_at: Option<i64>,
    /// When it ends.
    pub finished_at: Option<i64>,
}

/// The queued builds of an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueShare {
    /// The organization.
    pub org: OrgId,
    /// Its tier.
    pub tier: Tier,
    /// When a runner last claimed a build of it.
    pub served_at: Option<i64>,
    /// The distinct sets of labels that its builds require.
    pub sets: Vec<Vec<String>>,
}

/// What the renewal of a lease returns of the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// Whether the runner must stop the build.
    pub cancel_requested: bool,
    /// How many bytes of the build's log are stored.
    pub log_size: i64,
    /// Whether the phases differ from those that were stored before.
    pub has_new_phases: bool,
}

/// The running builds of an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningBuilds {
    /// The organization.
    pub org: OrgId,
    /// All of them.
    pub all: i64,
    /// Those on shared runners.
    pub shared: i64,
}

row! {
    struct ShareRow {
        org_id: String,
        tier: String,
        served_at: Option<i64>,
        /// Nodes of release 0.1.0 leave no other trace of a lease.
        begun_at: Option<i64>,
        labels: String,
    }
}

/// Groups the rows by organization.
fn shares(rows: Vec<ShareRow>) -> Result<Vec<QueueShare>, StoreError> {
    let mut shares: BTreeMap<OrgId, QueueShare> = BTreeMap::new();
    for row in rows {
        let org = typed("builds.org_id", &row.org_id)?;
        let share = QueueShare {
            org,
            tier: typed("orgs.tier", &row.tier)?,
            served_at: row.served_at.max(row.begun_at),
            sets: Vec::new(),
        };
        shares.entry(org).or_insert(share).sets.push(split(&row.labels));
    }
    // The database returns the rows of a join in any order.
    for share in shares.values_mut() {
        share.sets.sort_unstable();
    }
    Ok(shares.into_values().collect())
}

/// The end of a statement in which `waiting` lists the organizations: their sets of labels, at most `$1` of each.
macro_rules! sets_of_waiting {
    () => {
        ", sets (org_id, labels, number) AS (\
         SELECT waiting.org_id, (SELECT MIN(b.labels) FROM builds b WHERE b.status = 'queued' \
         AND b.org_id = waiting.org_id), CAST(1 AS BIGINT) FROM waiting WHERE waiting.org_id IS NOT NULL UNION ALL \
         SELECT sets.org_id, (SELECT MIN(b.labels) FROM builds b WHERE b.status = 'queued' AND b.org_id = sets.org_id \
         AND b.labels > sets.labels), sets.number + 1 FROM sets WHERE sets.labels IS NOT NULL AND sets.number < $1) \
         SELECT orgs.id AS org_id, orgs.tier, \
         (SELECT s.served_at FROM served_orgs s WHERE s.org_id = sets.org_id) AS served_at, \
         (SELECT MAX(b.started_at) FROM builds b WHERE b.org_id = sets.org_id AND b.started_at IS NOT NULL) AS begun_at, \
         sets.labels FROM sets JOIN orgs ON orgs.id = sets.org_id WHERE sets.labels IS NOT NULL"
    };
}

/// The number of the advisory lock of PostgreSQL that serializes claims of builds.
const QUEUE_LOCK: i64 = 0x6c_7771_7565_7565;

impl Org<'_> {
    /// Stores a transition of a build; returns false if the build is no longer in the expected state.
    pub async fn set_build_state(
        &mut self,
        id: BuildId,
        from: &BuildState,
        to: &BuildState,
        with: &StateChange,
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
        if let Some(at) = with.started_at
            && moved == 1
        {
            self.note_served(at).await?;
        }
        Ok(moved == 1)
    }

    /// Records when a build of the organization was claimed. The builds themselves do not show it: one that is claimed
    /// again keeps its first start time, and one that is deleted is gone.
    async fn note_served(&mut self, at: i64) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO served_orgs (org_id, served_at) VALUES ($1, $2) ON CONFLICT (org_id) \
             DO UPDATE SET served_at = excluded.served_at WHERE excluded.served_at > served_orgs.served_at",
            &self.id,
            at
        )?;
        Ok(())
    }

    /// The first `most` builds of the organization's queue, in the order in which they are claimed.
    pub async fn queue_front(&mut self, most: i64) -> Result<Vec<BuildId>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String,),
            "SELECT id FROM builds WHERE org_id = $1 AND status = 'queued' ORDER BY urgency, id LIMIT $2",
            &self.id,
            most
        )?;
        rows.iter().map(|(id,)| typed("builds.id", id)).collect()
    }

    /// The number of queued builds of the organization, at most `most`.
    pub async fn count_queued(&mut self, most: i64) -> Result<i64, StoreError> {
        let (count,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM (SELECT 1 FROM builds WHERE org_id = $1 AND status = 'queued' LIMIT $2) AS waiting",
            &self.id,
            most
        )?;
        Ok(count)
    }

    /// The number of running builds of the organization, at most `most`.
    pub async fn count_running(&mut self, most: i64) -> Result<i64, StoreError> {
        let (count,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM (SELECT 1 FROM builds WHERE org_id = $1 AND status = 'running' LIMIT $2) AS running",
            &self.id,
            most
        )?;
        Ok(count)
    }

    /// The organization's share of the queue, as [`System::queue_shares`] returns it for all.
    pub async fn queue_share(&mut self, most: i64) -> Result<Vec<QueueShare>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            ShareRow,
            concat!(
                "WITH RECURSIVE waiting (org_id) AS (SELECT id FROM orgs WHERE id = $2)",
                sets_of_waiting!()
            ),
            most,
            &self.id
        )?;
        shares(rows)
    }

    /// The first queued build of the organization that requires exactly these labels, locked until this transaction ends,
    /// with its sort key among those of other sets.
    pub async fn next_queued(&mut self, labels: &[String]) -> Result<Option<(i64, Build)>, StoreError> {
        let rows = fetch_all_locked!(
            self.tx,
            BuildRow,
            concat!(
                "SELECT ",
                build_columns!(),
                " FROM builds WHERE org_id = $1 AND status = 'queued' AND labels = $2 ORDER BY urgency, id LIMIT 1"
            ),
            " FOR UPDATE SKIP LOCKED",
            "",
            &self.id,
            labels.join(",")
        )?;
        let first = rows.into_iter().next();
        first.map(|row| Ok((row.urgency, row.read()?))).transpose()
    }

    /// The builds that a runner works on.
    pub async fn builds_of_runner(&mut self, id: RunnerId) -> Result<Vec<BuildId>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String,),
            "SELECT id FROM builds WHERE org_id = $1 AND status = 'running' AND runner_id = $2 ORDER BY id",
            &self.id,
            id.to_string()
        )?;
        rows.into_iter().map(|(id,)| typed("builds.id", &id)).collect()
    }
}

impl System<'_> {
    /// The queue: each organization with queued builds, with the sets of labels that they require, at most `most` sets.
    /// Steps from one organization to the next, and from one set to the next, in an index, so its cost does not depend on
    /// the number of queued builds.
    pub async fn queue_shares(&mut self, most: i64) -> Result<Vec<QueueShare>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            ShareRow,
            concat!(
                // Sorted and compared in the order of one index, so that a planner that assumes all builds are queued has
                // no other choice. The space sorts after all builds of an organization: with `>` SQLite would read them.
                "WITH RECURSIVE waiting (org_id) AS (\
                 SELECT CASE first.status WHEN 'queued' THEN first.org_id END FROM (SELECT b.status, b.org_id FROM builds b \
                 WHERE (b.status, b.org_id) >= ('queued', '') ORDER BY b.status, b.org_id LIMIT 1) AS first UNION ALL \
                 SELECT (SELECT CASE b.status WHEN 'queued' THEN b.org_id END FROM builds b \
                 WHERE (b.status, b.org_id) >= ('queued', waiting.org_id || ' ') ORDER BY b.status, b.org_id LIMIT 1) \
                 FROM waiting WHERE waiting.org_id IS NOT NULL)",
                sets_of_waiting!()
            ),
            most
        )?;
        shares(rows)
    }

    /// The number of queued builds of all organizations.
    pub async fn count_queued(&mut self) -> Result<i64, StoreError> {
        let (count,) = fetch_one!(self.tx, (i64,), "SELECT COUNT(*) FROM builds WHERE status = 'queued'")?;
        Ok(count)
    }

    /// The number of running builds of each organization.
    pub async fn running_builds(&mut self) -> Result<Vec<RunningBuilds>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, i64, i64),
            "SELECT builds.org_id, COUNT(*), COUNT(runners.id) FROM builds \
             LEFT JOIN runners ON runners.id = builds.runner_id AND runners.org_id = '' \
             WHERE builds.status = 'running' GROUP BY builds.org_id"
        )?;
        let read = |(org, all, shared): (String, i64, i64)| {
            Ok(RunningBuilds {
                org: typed("builds.org_id", &org)?,
                all,
                shared,
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// Serializes claims of builds until this transaction ends. On SQLite they are serial anyway.
    pub async fn lock_queue(&mut self) -> Result<(), StoreError> {
        if let Tx::Postgres(tx) = &mut *self.tx {
            sqlx::query("SELECT pg_advisory_xact_lock($1)")
                .bind(QUEUE_LOCK)
                .execute(&mut **tx)
                .await?;
        }
        Ok(())
    }

    /// The build that a runner names, of any organization, locked until this transaction ends.
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

    /// Running builds whose lease has expired, oldest first.
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

    /// Builds that entered the queue before `time` and are still queued.
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

    /// Renews the lease of a running build and sets its phases, without reading it. `None` if this runner no longer has
    /// this attempt. A renewal whose phases are the stored ones, as most are, is a single statement.
    pub async fn renew_build(
        &mut self,
        id: BuildId,
        runner: RunnerId,
        attempt: u32,
        lease_until: i64,
        phases: &[PhaseRecord],
    ) -> Result<Option<Renewal>, StoreError> {
        let (id, runner, phases) = (id.to_string(), runner.to_string(), to_json(&phases)?);
        let same_phases = fetch_optional!(
            self.tx,
            (i64, i64),
            "UPDATE builds SET lease_until = $4 \
             WHERE id = $1 AND runner_id = $2 AND attempt = $3 AND status = 'running' AND phases = $5 \
             RETURNING cancel_requested, log_size",
            &id,
            &runner,
            i64::from(attempt),
            lease_until,
            &phases
        )?;
        let has_new_phases = same_phases.is_none();
        let row = match same_phases {
            Some(row) => Some(row),
            None => fetch_optional!(
                self.tx,
                (i64, i64),
                "UPDATE builds SET lease_until = $4, phases = $5 \
                 WHERE id = $1 AND runner_id = $2 AND attempt = $3 AND status = 'running' \
                 RETURNING cancel_requested, log_size",
                &id,
                &runner,
                i64::from(attempt),
                lease_until,
                &phases
            )?,
        };
        Ok(row.map(|(cancel, log_size)| Renewal {
            cancel_requested: cancel != 0,
            log_size,
            has_new_phases,
        }))
    }
}
