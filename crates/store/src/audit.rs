//! The audit log: one chain for each organization, and one of the installation itself. Rows are only added.

use launchway_domain::id::OrgId;

use crate::lists::{Column, Filter, List, contains};
use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError, System, Tx};

/// One line of the audit log. `before` and `after` are JSON texts without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// When it happened.
    pub at: i64,
    /// The actor: a user id, a key id, `operator` or `service`.
    pub actor: String,
    /// The action, such as `key.revoke`.
    pub action: String,
    /// The resource it concerns.
    pub resource: String,
    /// The state before.
    pub before: Option<String>,
    /// The state after.
    pub after: Option<String>,
    /// The client address.
    pub address: String,
    /// The id of the request.
    pub request_id: String,
}

/// A line of the audit log with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainedRow {
    /// Its number in the chain, from 1.
    pub seq: i64,
    /// The line.
    pub row: AuditRow,
    /// The hash that chains it to the line before.
    pub hash: String,
}

/// The hashes that chain a line to the one before, and the next line to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The hash stored in the line.
    pub hash: String,
    /// The end of the chain while this line is its last; the next line is chained to it.
    pub end: String,
}

/// The end of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditHead {
    /// The owner of the chain; `None` for the installation.
    pub org_id: Option<OrgId>,
    /// The number of the last line.
    pub seq: i64,
    /// The end of the chain (see [`Link::end`]).
    pub hash: String,
}

/// Filters for the audit log. An absent filter matches every line.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// The actor.
    pub actor: Option<String>,
    /// The action.
    pub action: Option<String>,
    /// The resource.
    pub resource: Option<String>,
    /// The earliest time, inclusive.
    pub since: Option<i64>,
    /// The latest time, exclusive.
    pub until: Option<i64>,
    /// A part of the actor: of the id, of a member's address, or of `key` or `runner` with its name.
    pub actor_part: Option<String>,
    /// A part of the action.
    pub action_part: Option<String>,
    /// A part of the resource.
    pub resource_part: Option<String>,
}

type Columns = (
    i64,
    i64,
    String,
    String,
    String,
    Option<String>,
    Option<String>,
    String,
    String,
    String,
);

fn read((seq, at, actor, action, resource, before, after, address, request_id, hash): Columns) -> ChainedRow {
    let row = AuditRow {
        at,
        actor,
        action,
        resource,
        before,
        after,
        address,
        request_id,
    };
    ChainedRow { seq, row, hash }
}

/// Adds lines to a chain. `link` computes the hashes of a line from the end of the chain before it, its number and the line
/// itself.
async fn chain(
    tx: &mut Tx,
    org: &str,
    rows: &[AuditRow],
    link: impl Fn(&str, i64, &AuditRow) -> Link,
) -> Result<(), StoreError> {
    // Updating the head locks the chain until this transaction ends.
    let (mut seq, mut end) = fetch_one!(
        tx,
        (i64, String),
        "INSERT INTO audit_heads (org_id, seq, hash) VALUES ($1, 0, '') \
         ON CONFLICT (org_id) DO UPDATE SET seq = audit_heads.seq RETURNING seq, hash",
        org
    )?;
    for row in rows {
        seq += 1;
        let linked = link(&end, seq, row);
        execute!(
            tx,
            "INSERT INTO audit \
             (org_id, seq, at, actor, action, resource, before, after, address, request_id, hash) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            org,
            seq,
            row.at,
            &row.actor,
            &row.action,
            &row.resource,
            row.before.as_deref(),
            row.after.as_deref(),
            &row.address,
            &row.request_id,
            &linked.hash
        )?;
        end = linked.end;
    }
    execute!(
        tx,
        "UPDATE audit_heads SET seq = $1, hash = $2 WHERE org_id = $3",
        seq,
        &end,
        org
    )?;
    Ok(())
}

/// The audit log of an organization.
const AUDIT: List = List {
    name: "audit",
    select: "SELECT seq, at, actor, action, resource, before, after, address, request_id, hash FROM audit WHERE org_id = $1",
    order: "ORDER BY seq DESC",
};

const ACTOR: Column = Column {
    of_rows: "actor",
    of_totals: "name",
};
const ACTION: Column = Column {
    of_rows: "action",
    of_totals: "status",
};

/// The condition that the id of the actor, a member's address, or `key` or `runner` with its name contains a text.
fn has_actor_part(number: usize) -> String {
    format!(
        "({} OR actor IN (SELECT m.user_id FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND {}) \
         OR actor IN (SELECT id FROM api_keys WHERE org_id = $1 AND {}) \
         OR actor IN (SELECT id FROM runners WHERE org_id = $1 AND {}))",
        contains("actor", number),
        contains("u.email", number),
        contains("'key ' || name", number),
        contains("'runner ' || name", number)
    )
}

impl Org<'_> {
    /// Adds lines to the organization's audit log; `link` computes the hashes of a line from the end of the chain before
    /// it, its number and the line itself. Call it last in a transaction: it locks the chain until the transaction ends.
    pub async fn add_audit(
        &mut self,
        rows: &[AuditRow],
        link: impl Fn(&str, i64, &AuditRow) -> Link,
    ) -> Result<(), StoreError> {
        chain(self.tx, &self.id, rows, link).await
    }

    /// The audit log of this organization, newest first.
    pub async fn audit(&mut self, filter: &AuditFilter, paging: Paging) -> Result<Rows<ChainedRow>, StoreError> {
        let (since, until) = (
            filter.since.map(|at| at.to_string()),
            filter.until.map(|at| at.to_string()),
        );
        let conditions = Filter::default()
            .equal(ACTOR, filter.actor.as_deref())
            .equal(ACTION, filter.action.as_deref())
            .part(ACTION, filter.action_part.as_deref())
            .rare(|number| format!("resource = ${number}"), filter.resource.as_deref())
            .uncounted(|number| format!("at >= CAST(${number} AS BIGINT)"), since.as_deref())
            .uncounted(|number| format!("at < CAST(${number} AS BIGINT)"), until.as_deref())
            .uncounted(has_actor_part, filter.actor_part.as_deref())
            .uncounted(|number| contains("resource", number), filter.resource_part.as_deref());
        let (rows, total) = fetch_page!(self.tx, Columns, &self.id, &AUDIT, &conditions, paging);
        Ok(Rows {
            items: rows.into_iter().map(read).collect(),
            total,
        })
    }
}

impl System<'_> {
    /// Adds a line to the audit log of the installation itself.
    pub async fn add_own_audit(
        &mut self,
        row: &AuditRow,
        link: impl Fn(&str, i64, &AuditRow) -> Link,
    ) -> Result<(), StoreError> {
        chain(self.tx, "", std::slice::from_ref(row), link).await
    }

    /// The lines of one chain after number `after`, oldest first, at most `limit`; `None` is the installation's chain.
    pub async fn audit_chain(
        &mut self,
        org: Option<OrgId>,
        after: i64,
        limit: i64,
    ) -> Result<Vec<ChainedRow>, StoreError> {
        let org = org.map(|org| org.to_string()).unwrap_or_default();
        let rows = fetch_all!(
            self.tx,
            Columns,
            "SELECT seq, at, actor, action, resource, before, after, address, request_id, hash FROM audit \
             WHERE org_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
            org,
            after,
            limit
        )?;
        Ok(rows.into_iter().map(read).collect())
    }

    /// The ends of all chains. An owner without a chain end is listed with number 0.
    pub async fn audit_heads(&mut self) -> Result<Vec<AuditHead>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, i64, String),
            "SELECT owners.org_id, COALESCE(heads.seq, 0), COALESCE(heads.hash, '') FROM \
             (SELECT id AS org_id FROM orgs UNION SELECT org_id FROM audit UNION SELECT org_id FROM audit_heads) AS owners \
             LEFT JOIN audit_heads AS heads ON heads.org_id = owners.org_id ORDER BY owners.org_id"
        )?;
        rows.into_iter()
            .map(|(org, seq, hash)| {
                let org_id = if org.is_empty() {
                    None
                } else {
                    Some(typed("audit.org_id", &org)?)
                };
                Ok(AuditHead { org_id, seq, hash })
            })
            .collect()
    }
}
