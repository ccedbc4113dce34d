//! Finds the submissions whose step is due. It reads the first of each organization: how many wait behind them does not matter.

use launchway_domain::id::{OrgId, SubmissionId};

use super::Lane;
use crate::submissions::submission_pair;
use crate::tx::Tx;
use crate::{StoreError, System};

/// Due, claimed by nobody, and of an app that is not locked for another submission.
macro_rules! is_available {
    () => {
        "s.due_at <= $1 AND (s.claimed_until IS NULL OR s.claimed_until <= $1) \
         AND (s.store <> 'google_play' OR NOT EXISTS \
         (SELECT 1 FROM package_locks l WHERE l.package = s.bundle_key AND l.locked_until > $1))"
    };
}

/// Few submissions are urgent. Materialized, so that SQLite does not read all that are due in the order of the window.
const URGENT_DUE: &str = concat!(
    "WITH due AS MATERIALIZED (SELECT s.org_id, s.id, s.due_at FROM submissions s WHERE ",
    is_available!(),
    " AND ",
    is_urgent!(),
    ") SELECT org_id, id FROM (SELECT org_id, id, due_at, \
     ROW_NUMBER() OVER (PARTITION BY org_id ORDER BY due_at, id) AS place FROM due) AS placed \
     WHERE place <= $2 ORDER BY due_at, id LIMIT $3"
);

/// The organizations that have a submission under way, each found by an index.
macro_rules! with_waiting {
    () => {
        "WITH RECURSIVE waiting (org_id) AS (SELECT MIN(org_id) FROM submissions WHERE due_at IS NOT NULL UNION ALL \
         SELECT (SELECT MIN(s.org_id) FROM submissions s WHERE s.due_at IS NOT NULL AND s.org_id > waiting.org_id) \
         FROM waiting WHERE waiting.org_id IS NOT NULL) "
    };
}

/// The first of an organization, read by an index, however many wait behind them.
macro_rules! first_of_org {
    ($columns:literal) => {
        concat!(
            "(SELECT ",
            $columns,
            " FROM submissions s WHERE s.org_id = waiting.org_id AND ",
            is_available!(),
            " AND NOT ",
            is_urgent!(),
            " ORDER BY s.due_at, s.id LIMIT $2)"
        )
    };
}

/// SQLite has no lateral join.
const USUAL_DUE_SQLITE: &str = concat!(
    with_waiting!(),
    "SELECT due.org_id, due.id FROM waiting JOIN submissions due ON due.id IN ",
    first_of_org!("s.id"),
    " ORDER BY due.due_at, due.id LIMIT $3"
);

/// PostgreSQL would compare every submission with the list of each organization.
const USUAL_DUE_POSTGRES: &str = concat!(
    with_waiting!(),
    "SELECT due.org_id, due.id FROM waiting CROSS JOIN LATERAL ",
    first_of_org!("s.org_id, s.id, s.due_at"),
    " AS due ORDER BY due.due_at, due.id LIMIT $3"
);

impl System<'_> {
    /// Unclaimed submissions of a lane whose step is due at `now`, longest waiting first, at most `of_org` of each
    /// organization. Submissions of an app whose Google Play lock is taken are excluded.
    pub async fn due_submissions(
        &mut self,
        lane: Lane,
        now: i64,
        of_org: i64,
        limit: i64,
    ) -> Result<Vec<(OrgId, SubmissionId)>, StoreError> {
        let sql = match (lane, &*self.tx) {
            (Lane::Urgent, _) => URGENT_DUE,
            (Lane::Usual, Tx::Sqlite(_)) => USUAL_DUE_SQLITE,
            (Lane::Usual, Tx::Postgres(_)) => USUAL_DUE_POSTGRES,
        };
        let rows = fetch_all!(self.tx, (String, String), sql, now, of_org, limit)?;
        rows.into_iter().map(|(org, id)| submission_pair(&org, &id)).collect()
    }
}
