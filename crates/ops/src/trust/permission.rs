//! What a caller may change of an app's trust (`docs/reference/trust.md#who-may-change-what`).

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;

use crate::caller::{Caller, Who};

/// What a caller may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Everything: an admin.
    All,
    /// Only version and expiry of a file, and the signatures of drafts.
    Renewals,
}

impl Permission {
    /// The permission of a caller with the scope `update`.
    pub fn of(caller: &Caller) -> Self {
        let is_admin = match &caller.who {
            Who::Key { key, .. } => key.scopes.contains(&Scope::Admin),
            Who::Session { .. } => caller.role.is_some_and(|role| role >= Role::Admin),
        };
        if is_admin { Self::All } else { Self::Renewals }
    }
}
