//! The lines of the audit log that a change adds.

use launchway_domain::actor::Actor;
use launchway_domain::id::{OrgId, UserId};
use launchway_store::AuditRow;
use serde::Serialize;

use super::{Write, to_json};
use crate::api_error::ApiError;

impl Write<'_> {
    /// Adds a line to the audit log. `before` and `after` must not contain secrets.
    pub async fn audit(
        &mut self,
        action: &str,
        resource: impl ToString,
        before: Option<&(impl Serialize + ?Sized)>,
        after: Option<&(impl Serialize + ?Sized)>,
    ) -> Result<(), ApiError> {
        let row = AuditRow {
            before: before.map(to_json).transpose()?,
            after: after.map(to_json).transpose()?,
            ..self.line(action, resource)
        };
        self.audit.add(self.org, row);
        Ok(())
    }

    /// Adds a line to the audit log of another organization too, which the change concerns.
    pub fn audit_elsewhere(
        &mut self,
        org: OrgId,
        action: &str,
        resource: impl ToString,
        after: &impl Serialize,
    ) -> Result<(), ApiError> {
        let row = AuditRow {
            after: Some(to_json(after)?),
            ..self.line(action, resource)
        };
        self.audit.add(org, row);
        Ok(())
    }

    /// Adds a line about a user's action on the account to the audit log of each of the user's organizations.
    pub async fn audit_for_user(
        &mut self,
        user: UserId,
        action: &str,
        resource: impl ToString,
    ) -> Result<(), ApiError> {
        let row = AuditRow {
            actor: Actor::User(user).to_string(),
            ..self.line(action, resource)
        };
        self.audit.add_for_user(&mut self.tx, user, &row).await
    }

    fn line(&self, action: &str, resource: impl ToString) -> AuditRow {
        AuditRow {
            at: self.now,
            actor: self.actor_text(),
            action: action.to_owned(),
            resource: resource.to_string(),
            before: None,
            after: None,
            address: self.address.clone(),
            request_id: self.request_id.clone(),
        }
    }
}
