//! Enrolls and revokes runners (`docs/reference/builds.md#enrollment`). Only hashes of their tokens are stored.

use launchway_api::runner::{Enroll, Enrolled};
use launchway_api::runners::RunnerView;
use launchway_api::words::ActiveStatus;
use launchway_blob::Key;
use launchway_domain::actor::Actor;
use launchway_domain::build::plan::is_label;
use launchway_domain::build::{LEASE, RENEW, Runner};
use launchway_domain::id::{OrgId, RunnerId};
use launchway_domain::org::normalize_name;
use launchway_domain::time::{EpochMs, HOUR, iso};
use launchway_os::random::token_hash;
use launchway_store::Tx;
use serde_json::json;

use crate::api_error::ApiError;
use crate::app::App;
use crate::audit::audit_installation;
use crate::caller::Origin;
use crate::leases;
use crate::write::{NOTHING, Write};

/// How long a one-time token waits for its runner.
pub const TOKEN_LIFE: EpochMs = HOUR;
const MAX_LABELS: usize = 50;
const MAX_SLOTS: u32 = 64;
const MAX_VERSION: usize = 100;
const REASON: &str = "runners work for one tenant or for all";

/// A one-time token in clear.
pub struct OneTimeToken {
    /// The token with which a runner enrolls.
    pub token: String,
    /// When it expires.
    pub expires_at: EpochMs,
}

/// Creates a token that enrolls one runner of the organization.
pub async fn create_token(write: &mut Write<'_>) -> Result<OneTimeToken, ApiError> {
    let made = make_token(write.app());
    let (org, by, now) = (write.org_id(), write.actor_text(), write.now());
    write
        .system(REASON)
        .create_runner_token(&token_hash(&made.token), Some(org), &by, now, made.expires_at)
        .await?;
    let details = json!({"expiresAt": iso(made.expires_at)});
    write.audit("runner.create_token", org, NOTHING, Some(&details)).await?;
    Ok(made)
}

/// Creates a token that enrolls one runner for all organizations. Only the operator can.
pub async fn create_shared_token(app: &App) -> Result<OneTimeToken, ApiError> {
    let (made, by) = (make_token(app), Actor::Operator.to_string());
    let mut tx = app.db.write().await?;
    tx.system(REASON)
        .create_runner_token(&token_hash(&made.token), None, &by, app.clock.now(), made.expires_at)
        .await?;
    let details = json!({"shared": true, "expiresAt": iso(made.expires_at)});
    audit_installation(app, &mut tx, "runner.create_token", &details).await?;
    tx.commit().await?;
    Ok(made)
}

fn make_token(app: &App) -> OneTimeToken {
    OneTimeToken {
        token: format!("lwe_{}", app.random.token()),
        expires_at: app.clock.now() + TOKEN_LIFE,
    }
}

fn runner_token(app: &App) -> String {
    format!("lwr_{}", app.random.token())
}

/// Validates what a runner states about itself: its name, labels (sorted, unique), slots and version.
pub fn plan(wanted: &Enroll) -> Result<Enroll, ApiError> {
    let name =
        normalize_name(&wanted.name).ok_or_else(|| ApiError::bad("name must have 1 to 100 visible characters"))?;
    if !(1..=MAX_SLOTS).contains(&wanted.slots) {
        return Err(ApiError::bad(format!("slots must be 1 to {MAX_SLOTS}")));
    }
    Ok(Enroll {
        name,
        labels: labels(&wanted.labels)?,
        slots: wanted.slots,
        version: version(&wanted.version)?,
    })
}

/// Validates labels and sorts them.
pub fn labels(given: &[String]) -> Result<Vec<String>, ApiError> {
    if given.len() > MAX_LABELS {
        return Err(ApiError::bad(format!("labels must have at most {MAX_LABELS} items")));
    }
    if let Some(at) = given.iter().position(|label| !is_label(label)) {
        return Err(ApiError::bad(format!(
            "labels[{at}] must be name=value, such as os=macos"
        )));
    }
    let mut labels = given.to_vec();
    labels.sort();
    labels.dedup();
    Ok(labels)
}

/// Validates the version of a runner's program.
pub fn version(text: &str) -> Result<String, ApiError> {
    let plain = text.chars().count() <= MAX_VERSION && !text.chars().any(char::is_control);
    plain
        .then(|| text.to_owned())
        .ok_or_else(|| ApiError::bad(format!("version must have at most {MAX_VERSION} visible characters")))
}

/// Enrolls a runner by a one-time token, which is consumed.
pub async fn enroll(app: &App, token: &str, wanted: Enroll, origin: &Origin) -> Result<Enrolled, ApiError> {
    let now = app.clock.now();
    let mut tx = app.db.write().await?;
    let used = tx.system(REASON).use_runner_token(&token_hash(token), now).await?;
    let (org_id, created_by) = used.ok_or(ApiError::InvalidKey)?;
    let own_token = runner_token(app);
    let runner = Runner {
        id: app.random.id(now),
        org_id,
        name: wanted.name,
        labels: wanted.labels,
        slots: i64::from(wanted.slots),
        version: wanted.version,
        created_by,
        created_at: now,
        last_seen_at: now,
        revoked_at: None,
    };
    tx.system(REASON)
        .create_runner(&runner, &token_hash(&own_token))
        .await?;
    tell_enrolled(app, tx, &runner, origin).await?;
    Ok(Enrolled {
        id: runner.id.to_string(),
        status: ActiveStatus::Active.into(),
        token: own_token,
    })
}

/// Admits the embedded runner under a new token: as the runner it was before, if that is known. Returns its record and
/// the token.
pub async fn admit_embedded(
    app: &App,
    known: Option<RunnerId>,
    org_id: Option<OrgId>,
    wanted: Enroll,
) -> Result<(Runner, String), ApiError> {
    let (now, token) = (app.clock.now(), runner_token(app));
    let mut tx = app.db.write().await?;
    let before = match known {
        Some(id) => tx.system(REASON).any_runner(id).await?,
        None => None,
    };
    let runner = Runner {
        id: before.as_ref().map_or_else(|| app.random.id(now), |before| before.id),
        org_id,
        name: wanted.name,
        labels: wanted.labels,
        slots: i64::from(wanted.slots),
        version: wanted.version,
        created_by: Actor::Service.to_string(),
        created_at: before.as_ref().map_or(now, |before| before.created_at),
        last_seen_at: now,
        revoked_at: None,
    };
    if before.is_some() {
        let mut system = tx.system(REASON);
        system.readmit_runner(runner.id, org_id, &token_hash(&token)).await?;
        system
            .note_runner(runner.id, &runner.labels, &runner.version, now)
            .await?;
    } else {
        tx.system(REASON).create_runner(&runner, &token_hash(&token)).await?;
    }
    // Nobody enrolled it, so there is no audit line.
    tx.commit().await?;
    Ok((runner, token))
}

/// Commits an enrollment with its line in the log of the organization or of the installation.
async fn tell_enrolled(app: &App, mut tx: Tx, runner: &Runner, origin: &Origin) -> Result<(), ApiError> {
    let view = RunnerView::of(runner, true);
    match runner.org_id {
        Some(org) => {
            let mut write = Write::within(app, tx, org, Actor::Runner(runner.id), Some(origin));
            write.audit("runner.enrol", runner.id, NOTHING, Some(&view)).await?;
            write.commit().await
        }
        None => {
            let details = serde_json::to_value(&view).map_err(|error| ApiError::Internal(error.to_string()))?;
            audit_installation(app, &mut tx, "runner.enrol", &details).await?;
            Ok(tx.commit().await?)
        }
    }
}

/// Records the last contact of a runner, unless that was recorded a moment ago.
pub async fn note(app: &App, runner: Runner) -> Result<Runner, ApiError> {
    let now = app.clock.now();
    if now - runner.last_seen_at < RENEW {
        return Ok(runner);
    }
    note_as(app, runner.id, &runner.labels, &runner.version).await?;
    Ok(Runner {
        last_seen_at: now,
        ..runner
    })
}

/// Records the current labels and version of a runner.
pub async fn note_as(app: &App, id: RunnerId, labels: &[String], version: &str) -> Result<(), ApiError> {
    let mut tx = app.db.write().await?;
    tx.system(REASON)
        .note_runner(id, labels, version, app.clock.now())
        .await?;
    Ok(tx.commit().await?)
}

/// Revokes a runner. Idempotent. Its builds go back to the queue at once. Returns their unfinished artifacts: remove
/// their bytes once the change is durable.
pub async fn revoke(write: &mut Write<'_>, id: RunnerId) -> Result<Vec<Key>, ApiError> {
    let now = write.now();
    let before = write.org().runner(id).await?.ok_or(ApiError::NoSuch("runner"))?;
    if write.org().revoke_runner(id, now).await? {
        let view = RunnerView::of(&before, is_online(&before, now));
        write.audit("runner.revoke", id, Some(&view), NOTHING).await?;
    }
    let dropped = leases::withdraw(write, id).await?;
    Ok(dropped
        .iter()
        .filter_map(|artifact| Key::new(&artifact.blob_key).ok())
        .collect())
}

/// Whether a runner had contact recently. A working one renews and polls far more often.
pub fn is_online(runner: &Runner, now: EpochMs) -> bool {
    runner.revoked_at.is_none() && now - runner.last_seen_at < LEASE
}
