//! What the caller must be allowed before keys are made: a refusal afterwards would leave keys that nothing knows.

use launchway_client::Client;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;

use crate::failure::{Exit, Failure};

/// The scopes of a key that sets up signed updates.
const NEEDED: [Scope; 2] = [Scope::Update, Scope::Admin];

/// Checks that the caller may begin a repository; with `least`, only a member with at least this role may.
pub async fn check(client: &Client, least: Role) -> Result<(), Failure> {
    let caller = client.session().await?.value;
    let scopes = caller.key.map(|key| key.scopes).unwrap_or_default();
    let missing: Vec<Scope> = NEEDED
        .into_iter()
        .filter(|needed| !scopes.iter().any(|scope| scope == needed))
        .collect();
    if !missing.is_empty() {
        let message = format!(
            "this API key does not have the scopes that new keys need: {}; no keys were made",
            Scope::names(&missing)
        );
        return Err(Failure::new(Exit::Auth, message).hint(
            "as an owner or admin, run `launchway login --admin`; or use a key that the operator created with \
             --scopes update --admin",
        ));
    }
    // The operator's key is in nobody's name, and may do everything.
    let role = caller.organization.and_then(|organization| organization.role);
    match role.and_then(|role| role.known()) {
        Some(role) if role < least => {
            let message = format!("this requires the role {least}, but your role is {role}; no keys were made");
            Err(Failure::new(Exit::Auth, message).hint("ask an owner of the organization"))
        }
        _ => Ok(()),
    }
}
