//! The audit log: how its lines are chained, and whether the chains are intact
//! (`docs/reference/operation.md#chain-of-the-audit-log`).

use launchway_domain::actor::Actor;
use launchway_domain::audit;
use launchway_domain::id::OrgId;
use launchway_store::{AuditHead, AuditRow, Link, Tx};
use launchway_vault::Purpose;
use serde_json::Value;

use crate::api_error::ApiError;
use crate::app::App;

const REASON: &str = "the audit logs of all tenants are checked together";
const PAGE: i64 = 1000;

/// The function that chains the lines of an organization's log or, without one, of the installation's own log.
pub fn link(app: &App, org: Option<OrgId>) -> impl Fn(&str, i64, &AuditRow) -> Link + use<> {
    let key = app.vault.derive(Purpose::Audit);
    let owner = org.map(|org| org.to_string()).unwrap_or_default();
    move |before, seq, row| {
        let at = row.at.to_string();
        let fields = [
            Some(at.as_str()),
            Some(&row.actor),
            Some(&row.action),
            Some(&row.resource),
            row.before.as_deref(),
            row.after.as_deref(),
            Some(&row.address),
            Some(&row.request_id),
        ];
        let hash = audit::link(&key, before, &owner, seq, &fields);
        let end = audit::end(&key, &hash);
        Link { hash, end }
    }
}

/// Adds a line about the installation itself, with the operator as the actor.
pub async fn audit_installation(app: &App, tx: &mut Tx, action: &str, after: &Value) -> Result<(), ApiError> {
    let row = AuditRow {
        at: app.clock.now(),
        actor: Actor::Operator.to_string(),
        action: action.to_owned(),
        resource: "installation".to_owned(),
        before: None,
        after: Some(after.to_string()),
        address: String::new(),
        request_id: String::new(),
    };
    let mut system = tx.system("the installation's own audit log");
    Ok(system.add_own_audit(&row, link(app, None)).await?)
}

/// The result of checking every chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditCheck {
    /// The number of chains.
    pub chains: u64,
    /// The number of lines.
    pub lines: u64,
    /// What is wrong, one sentence each; empty if every chain is intact.
    pub problems: Vec<String>,
}

/// Verifies every chain from its start to its end.
pub async fn verify(app: &App) -> Result<AuditCheck, ApiError> {
    let mut tx = app.db.read().await?;
    let mut check = AuditCheck::default();
    for head in tx.system(REASON).audit_heads().await? {
        check.chains += 1;
        if let Some(problem) = verify_chain(app, &mut tx, &head, &mut check.lines).await? {
            let owner = head.org_id.map_or("the installation".to_owned(), |org| org.to_string());
            check.problems.push(format!("{owner}: {problem}"));
        }
    }
    Ok(check)
}

/// The first problem of a chain.
async fn verify_chain(app: &App, tx: &mut Tx, head: &AuditHead, lines: &mut u64) -> Result<Option<String>, ApiError> {
    let link = link(app, head.org_id);
    let (mut seq, mut end) = (0, String::new());
    loop {
        let page = tx.system(REASON).audit_chain(head.org_id, seq, PAGE).await?;
        for line in &page {
            *lines += 1;
            if line.seq > seq + 1 {
                return Ok(Some(format!("line {} was removed", seq + 1)));
            }
            let linked = link(&end, line.seq, &line.row);
            if linked.hash != line.hash {
                return Ok(Some(format!(
                    "line {} ({} on {}) was changed, or is not the service's",
                    line.seq, line.row.action, line.row.resource
                )));
            }
            seq = line.seq;
            end = linked.end;
        }
        if page.len() < PAGE as usize {
            break;
        }
    }
    Ok(match seq {
        0 => Some("its log is empty, although its creation was recorded; lines were removed".to_owned()),
        _ if seq < head.seq => Some(format!("lines {} to {} were removed", seq + 1, head.seq)),
        _ if seq > head.seq => Some(format!(
            "the log ends at line {seq}, but its end was recorded at line {}",
            head.seq
        )),
        _ if end != head.hash => Some(format!(
            "the recorded end at line {seq} was changed, so later lines may have been removed"
        )),
        _ => None,
    })
}
