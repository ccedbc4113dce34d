//! A signed-in owner of an organization, who looks at its pages.

use launchway_domain::id::{OrgId, UserId};
use launchway_domain::org::{Session, User};
use launchway_domain::tenancy::Role;
use launchway_domain::time::EpochMs;
use launchway_store::Tx;
use sha2::{Digest, Sha256};

use crate::builds::id;

const TOKEN: &str = "bench-session";

/// The cookie of the session.
pub fn cookie() -> String {
    format!("launchway={TOKEN}")
}

/// Writes the owner and the session.
///
/// # Errors
/// When the database fails.
pub async fn create(tx: &mut Tx, org: OrgId, now: EpochMs) -> anyhow::Result<()> {
    let user: UserId = id(3, 0, now);
    let mut system = tx.system("a new owner");
    let owner = User {
        id: user,
        email: "owner@example.com".to_owned(),
        created_at: now,
    };
    // No password has this hash, so it cannot be used to sign in.
    system.create_user(&owner, "none").await?;
    let session = Session {
        id: id(4, 0, now),
        user_id: user,
        user_agent: "bench".to_owned(),
        address: "127.0.0.1".to_owned(),
        created_at: now,
        last_used_at: now,
    };
    system
        .create_session(&session, &hex::encode(Sha256::digest(TOKEN)))
        .await?;
    tx.org(org).add_member(user, Role::Owner, now).await?;
    Ok(())
}
