//! The queue of builds: which is next, leases, and every move as compare-and-set on (status, attempt) (contract part 4).

use launchway_domain::build::{Build, BuildFailure, PhaseRecord, Standing};
use launchway_domain::id::{BuildId, OrgId, RunnerId};

use crate::builds::{BuildRow, build_columns, pair, split, to_json};
use crate::{Org, StoreError, System};

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

/// A build that was given back goes before all others.
pub(crate) const GIVEN_BACK: i64 = i64::MIN;

impl Org<'_> {
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
            concat!(
                "SELECT ",
                build_columns!(),
                " FROM builds WHERE status = 'queued' AND labels = $1 AND ($2 IS NULL OR org_id = $2) \
                 ORDER BY urgency, id LIMIT 1"
            ),
            " FOR UPDATE SKIP LOCKED",
            "",
            labels.join(","),
            org.map(|org| org.to_string())
        )?;
        let first = rows.into_iter().next();
        first.map(|row| Ok((row.urgency, row.read()?))).transpose()
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
