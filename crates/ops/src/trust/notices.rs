//! Announces that roles of signed updates expire soon (`docs/reference/trust.md#notices-of-expiry-of-roles`).

use launchway_api::trust::TrustExpiring;
use launchway_domain::actor::Actor;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::iso;
use launchway_domain::trust::next_notice;
use launchway_store::ExpiringRole;
use launchway_trust::metadata::{Metadata, Targets};

use crate::api_error::ApiError;
use crate::app::App;
use crate::apps;
use crate::write::Write;

const BATCH: i64 = 100;

/// Sends every notice that is due; returns how many there were. A notice and the mark that it was sent are one transaction.
pub async fn send(app: &App) -> Result<u64, ApiError> {
    let now = app.clock.now();
    let mut notices = 0;
    loop {
        let mut tx = app.db.read().await?;
        let due = tx
            .system("roles of every tenant's apps expire")
            .trust_expiring(now, BATCH)
            .await?;
        drop(tx);
        let mut marked = 0;
        for role in &due {
            let mut write = Write::open(app, role.org_id, Actor::Service, None).await?;
            match notify(&mut write, role).await? {
                Outcome::NothingToDo => continue,
                Outcome::Silent => {}
                Outcome::Sent => notices += 1,
            }
            write.commit().await?;
            marked += 1;
        }
        // Those that were not marked have changed meanwhile. The next run sees them as they are then.
        if marked < BATCH {
            return Ok(notices);
        }
    }
}

enum Outcome {
    /// Another node was faster, or the role has a newer version.
    NothingToDo,
    /// The role is no longer delegated to.
    Silent,
    /// The notice was sent.
    Sent,
}

async fn notify(write: &mut Write<'_>, role: &ExpiringRole) -> Result<Outcome, ApiError> {
    let bundle = apps::bundle_id(&role.bundle_id)?;
    let is_in_use = is_in_use(write, &bundle, &role.role).await?;
    let next = next_notice(role.expires_at, write.now()).filter(|_| is_in_use);
    let mut org = write.org();
    if !org.set_trust_notice(&bundle, &role.role, role.version, next).await? {
        return Ok(Outcome::NothingToDo);
    }
    if !is_in_use {
        return Ok(Outcome::Silent);
    }
    let notice = TrustExpiring {
        bundle_id: role.bundle_id.clone(),
        role: role.role.clone(),
        version: role.version,
        expires_at: iso(role.expires_at),
    };
    write.event("trust.expiring", &notice).await?;
    Ok(Outcome::Sent)
}

/// Whether phones still ask for a role: one that was removed stays in the database until its app goes.
async fn is_in_use(write: &mut Write<'_>, bundle: &BundleId, role: &str) -> Result<bool, ApiError> {
    if matches!(role, "root" | "targets") {
        return Ok(true);
    }
    let mut org = write.org();
    let Some(trust) = org.trust_repository(bundle).await? else {
        return Ok(false);
    };
    let Some(file) = org.trust_file(bundle, &trust.repository, "targets").await? else {
        return Ok(false);
    };
    let targets = Metadata::<Targets>::parse(file.content.as_bytes())
        .map_err(|error| ApiError::Internal(format!("the stored targets of {bundle}: {error}")))?;
    let delegations = targets.body().delegations.as_ref();
    Ok(delegations.is_some_and(|delegations| delegations.get(role).is_some()))
}
