//! Audit lines that a transaction collects for one organization or for several.

use std::collections::BTreeMap;

use launchway_domain::actor::Actor;
use launchway_domain::id::{OrgId, UserId};
use launchway_store::{AuditRow, Tx};

use crate::api_error::ApiError;
use crate::app::App;
use crate::audit;
use crate::caller::Origin;

/// Lines that are written at the end of their transaction.
#[derive(Default)]
pub struct AuditLines(BTreeMap<OrgId, Vec<AuditRow>>);

impl AuditLines {
    /// Adds a line for the log of an organization.
    pub fn add(&mut self, org: OrgId, row: AuditRow) {
        self.0.entry(org).or_default().push(row);
    }

    /// Adds a line for the log of every organization that a user is a member of.
    pub async fn add_for_user(&mut self, tx: &mut Tx, user: UserId, row: &AuditRow) -> Result<(), ApiError> {
        let memberships = tx
            .system("what a user does with the account concerns all its tenants")
            .memberships(user)
            .await?;
        for (org, _) in memberships {
            self.add(org.id, row.clone());
        }
        Ok(())
    }

    /// Writes the lines. Must be the last call in a transaction: until it ends, no other transaction can add to these
    /// logs. The logs are locked in the order of their organizations' ids, so that transactions never deadlock.
    pub async fn write(self, app: &App, tx: &mut Tx) -> Result<(), ApiError> {
        for (org, rows) in self.0 {
            tx.org(org).add_audit(&rows, audit::link(app, Some(org))).await?;
        }
        Ok(())
    }
}

/// An audit line about an account, without any secret.
pub fn line(app: &App, actor: Actor, action: &str, resource: impl ToString, origin: Option<&Origin>) -> AuditRow {
    AuditRow {
        at: app.clock.now(),
        actor: actor.to_string(),
        action: action.to_owned(),
        resource: resource.to_string(),
        before: None,
        after: None,
        address: origin.map(|origin| origin.address.to_string()).unwrap_or_default(),
        request_id: origin.map(|origin| origin.request_id.clone()).unwrap_or_default(),
    }
}

/// Commits a change of a user's account, with a line in the log of each of the user's organizations.
pub async fn commit_with_audit(app: &App, mut tx: Tx, user: UserId, line: AuditRow) -> Result<(), ApiError> {
    let mut lines = AuditLines::default();
    lines.add_for_user(&mut tx, user, &line).await?;
    lines.write(app, &mut tx).await?;
    Ok(tx.commit().await?)
}
