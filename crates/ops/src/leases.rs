//! Leases of builds: taken, renewed and expired (`docs/reference/builds.md#leases`). What a runner sends takes effect
//! only while it holds the lease of that very attempt.

use std::sync::Arc;

use launchway_api::builds::{BuildContext, BuildView};
use launchway_api::open;
use launchway_api::runner::{AttemptReply, Lease, Source, TellPlan};
use launchway_blob::Key;
use launchway_domain::actor::Actor;
use launchway_domain::app::SIGNED_URL_SECONDS;
use launchway_domain::build::plan::FROM_REQUEST;
use launchway_domain::build::{
    Artifact, Build, BuildFailure, BuildState, BuildStatus, GitFacts, LEASE, PhaseRecord, RENEW, Runner, SourceRecord,
    Transition, cache,
};
use launchway_domain::id::{BuildId, OrgId, RunnerId};
use launchway_domain::time::SECOND;
use launchway_store::{StateChange, Tx};
use serde_json::json;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::RunnerCaller;
use crate::counters::Observation;
use crate::held_builds::{attempt_reply, begin_change, no_lease_error, reachable_url};
use crate::write::{NOTHING, Signal, Write};
use crate::{artifacts, build_logs, build_queue, build_secrets, profile_values, usage};

const REASON: &str = "a runner may work for every tenant";

/// Leases the next queued build for a runner with these (sorted) labels, if there is one.
pub async fn take(app: &App, caller: &RunnerCaller, labels: &[String]) -> Result<Option<Lease>, ApiError> {
    // Waiting runners poll this, so a read transaction checks first whether there is a build at all: SQLite has only
    // one writer.
    let mut tx = app.db.read().await?;
    let runner = enrolled(&mut tx, caller).await?;
    if !build_queue::has_builds(app, &mut tx, &runner, labels).await? {
        return Ok(None);
    }
    drop(tx);
    // Builds are leased one at a time within this process, so that few connections wait for the database lock of other
    // nodes.
    let turn = app.claims.lock().await;
    let mut tx = app.db.write().await?;
    let runner = enrolled(&mut tx, caller).await?;
    tx.system(REASON).lock_queue().await?;
    let Some(build) = build_queue::next(app, &mut tx, &runner, labels).await? else {
        return Ok(None);
    };
    let origin = Some(&caller.origin);
    let mut write = Write::within(app, tx, build.org_id, Actor::Runner(runner.id), origin);
    let (now, queued_at) = (write.now(), build.state.queued_at);
    let Ok((to, _)) = build.state.apply(Transition::Lease, now) else {
        return Err(ApiError::Internal(format!(
            "the queued build {} cannot be leased",
            build.id
        )));
    };
    let with = StateChange {
        runner: Some(runner.id),
        started_at: Some(now),
        ..StateChange::default()
    };
    if !write.org().set_build_state(build.id, &build.state, &to, &with).await? {
        return Ok(None);
    }
    let leased = Build {
        state: to,
        runner_id: Some(runner.id),
        started_at: build.started_at.or(Some(now)),
        phases: Vec::new(),
        warnings: Vec::new(),
        ..build
    };
    write.org().update_build(&leased).await?;
    write.observe(Observation::BuildTaken(leased.platform, now - queued_at));
    let what_for = format!("attempt {} of the build {} on {}", to.attempt, leased.id, runner.id);
    let opened = build_secrets::open(&mut write, &leased, &what_for).await?;
    let details = json!({"runner": runner.name, "attempt": to.attempt});
    write.audit("build.lease", leased.id, NOTHING, Some(&details)).await?;
    write.signal(Signal::Build(leased.id));
    if leased.started_at == Some(now) {
        add_event(&mut write, &leased, Some(&runner.name)).await?;
    }
    write.commit().await?;
    drop(turn);
    // While they are open: otherwise masking the log would open them again.
    let made = tokio::task::spawn_blocking(move || (opened.masker(), opened)).await;
    let (masker, opened) = made.map_err(|error| ApiError::Internal(format!("making a masker: {error}")))?;
    app.maskers.keep(leased.id, to.attempt, Arc::new(masker));
    Ok(Some(lease_of(app, caller, &leased, opened)?))
}

/// The runner's record, unless it was revoked, possibly while it waited.
async fn enrolled(tx: &mut Tx, caller: &RunnerCaller) -> Result<Runner, ApiError> {
    let runner = tx.system(REASON).any_runner(caller.runner.id).await?;
    runner
        .filter(|runner| runner.revoked_at.is_none())
        .ok_or(ApiError::InvalidKey)
}

fn lease_of(app: &App, caller: &RunnerCaller, build: &Build, opened: build_secrets::Opened) -> Result<Lease, ApiError> {
    let spec = &build.spec;
    let source = match &spec.source {
        SourceRecord::Git { url, reference } => Source::Git {
            url: url.clone(),
            reference: reference.clone(),
        },
        SourceRecord::Archive {
            blob_key,
            file_name,
            size,
            sha256,
        } => {
            let key = Key::new(blob_key)?;
            let signed = app
                .blob
                .presign_get(&key, file_name, app.clock.now(), SIGNED_URL_SECONDS);
            Source::Archive {
                url: reachable_url(app, caller, signed.url),
                file_name: file_name.clone(),
                size: u64::try_from(*size).unwrap_or_default(),
                sha256: sha256.clone(),
            }
        }
    };
    let of_request = build.plan_origin.as_deref() == Some(FROM_REQUEST);
    Ok(Lease {
        build_id: build.id.to_string(),
        org_id: build.org_id.to_string(),
        attempt: build.state.attempt,
        lease_seconds: (LEASE / SECOND) as u32,
        renew_seconds: (RENEW / SECOND) as u32,
        log_offset: u64::try_from(build.log_size).unwrap_or_default(),
        bundle_id: build.bundle_id.clone(),
        platform: build.platform.into(),
        configuration: build.configuration.as_ref().map(|label| label.as_str().to_owned()),
        profile: spec.profile.clone(),
        build_type: open::BuildType::of(&spec.build_type),
        distribution: open::Distribution::of(&spec.distribution),
        version: spec.version.clone(),
        build_number: spec.build_number.clone(),
        source,
        // A plan that an earlier attempt found in the source is determined again.
        plan: build.plan.clone().filter(|_| of_request),
        env: opened.env,
        credentials: opened.credentials,
        cache_scope: Some(cache_scope(build)),
        undecided: launchway_api::runner::Undecided {
            build_type: spec.undecided.build_type,
            distribution: spec.undecided.distribution,
            configuration: spec.undecided.configuration,
        },
    })
}

fn cache_scope(build: &Build) -> String {
    let (id, configuration) = (build.id.to_string(), build.configuration.as_ref());
    let configuration = configuration.map(|label| label.as_str());
    cache::scope(&build.bundle_id, configuration, cache::Origin::of(build, &id))
}

/// Renews a lease and records the phases.
pub async fn renew(
    app: &App,
    caller: &RunnerCaller,
    id: BuildId,
    attempt: u32,
    phases: &[PhaseRecord],
) -> Result<AttemptReply, ApiError> {
    let until = app.clock.now() + LEASE;
    let mut tx = app.db.write().await?;
    let renewed = tx
        .system(REASON)
        .renew_build(id, caller.runner.id, attempt, until, phases)
        .await?;
    let renewed = renewed.ok_or_else(no_lease_error)?;
    tx.commit().await?;
    // Most renewals show followers nothing new.
    if renewed.has_new_phases {
        app.build_news.notify(id);
    }
    Ok(AttemptReply {
        cancel: renewed.cancel_requested,
        log_offset: u64::try_from(renewed.log_size).unwrap_or_default(),
    })
}

/// Records the plan that a runner executes, and the commit of its source.
pub async fn record_plan(
    app: &App,
    caller: &RunnerCaller,
    id: BuildId,
    report: TellPlan,
) -> Result<AttemptReply, ApiError> {
    let (mut write, mut build) = begin_change(app, caller, id, report.attempt).await?;
    let has_changed = match &report.profile {
        Some(values) => profile_values::decide(&mut build, values)?,
        None => false,
    };
    build.plan = Some(report.plan);
    build.plan_origin = Some(report.origin.to_string());
    if let Some(commit) = report.commit {
        build.spec.git.get_or_insert_with(GitFacts::default).commit = Some(commit);
    }
    write.org().update_build(&build).await?;
    if has_changed {
        // Variables, credentials and caches depend on these values: the next lease has those that belong to them.
        write
            .org()
            .set_build_configuration(id, build.configuration.as_ref())
            .await?;
        let dropped = take_away(&mut write, id, Loss::Decision).await?.unwrap_or_default();
        write.commit().await?;
        app.maskers.forget(id);
        artifacts::drop_bytes(app, &dropped).await;
        return Err(no_lease_error());
    }
    write.signal(Signal::Build(id));
    write.commit().await?;
    Ok(attempt_reply(&build))
}

/// Ends a build for good: its state, its usage, its event and its audit line.
pub async fn end(
    write: &mut Write<'_>,
    build: &Build,
    to: BuildState,
    error: Option<BuildFailure>,
) -> Result<Build, ApiError> {
    let now = write.now();
    let with = StateChange {
        error,
        finished_at: Some(now),
        ..StateChange::default()
    };
    if !write.org().set_build_state(build.id, &build.state, &to, &with).await? {
        return Err(ApiError::Internal(format!("the locked build {} transition", build.id)));
    }
    let millis = build.started_at.map_or(0, |started| (now - started).max(0));
    usage::count_build_seconds(write, millis / SECOND).await?;
    write.observe(Observation::BuildEnded(build.platform, to.status, millis));
    let ended = write.org().build(build.id).await?;
    let ended = ended.ok_or_else(|| ApiError::Internal(format!("the locked build {} is gone", build.id)))?;
    let details = json!({"status": to.status.as_str(), "attempt": to.attempt});
    write.audit("build.finish", build.id, NOTHING, Some(&details)).await?;
    add_event(write, &ended, None).await?;
    write.signal(Signal::Build(build.id));
    Ok(ended)
}

/// Adds the event of a build's state. Artifacts are read by the build's id, because links would expire before the
/// event.
async fn add_event(write: &mut Write<'_>, build: &Build, runner: Option<&str>) -> Result<(), ApiError> {
    let kind = match build.state.status {
        BuildStatus::Queued => return Ok(()),
        BuildStatus::Running => "build.started",
        BuildStatus::Success => "build.succeeded",
        BuildStatus::Failed => "build.failed",
        BuildStatus::Canceled => "build.canceled",
    };
    let runner = match (runner, build.runner_id) {
        (Some(name), _) => Some(name.to_owned()),
        (None, Some(id)) => write.system(REASON).any_runner(id).await?.map(|runner| runner.name),
        (None, None) => None,
    };
    let context = BuildContext {
        runner,
        ..BuildContext::default()
    };
    write.event(kind, &BuildView::of(build, context)).await
}

/// Takes a build from a runner that was silent for too long; returns whether it did.
pub async fn expire_lease(app: &App, org: OrgId, id: BuildId) -> Result<bool, ApiError> {
    let mut write = Write::open(app, org, Actor::Service, None).await?;
    let Some(dropped) = take_away(&mut write, id, Loss::Silence).await? else {
        return Ok(false);
    };
    write.commit().await?;
    app.maskers.forget(id);
    artifacts::drop_bytes(app, &dropped).await;
    Ok(true)
}

/// Takes all builds away from a runner that was removed, which can send nothing more. Returns their unfinished
/// artifacts: remove their bytes once the change is durable.
pub async fn withdraw(write: &mut Write<'_>, runner: RunnerId) -> Result<Vec<Artifact>, ApiError> {
    let mut dropped = Vec::new();
    let builds = write.org().builds_of_runner(runner).await?;
    for id in builds {
        dropped.extend(take_away(write, id, Loss::Removal(runner)).await?.unwrap_or_default());
        write.app().maskers.forget(id);
    }
    Ok(dropped)
}

/// Why a build loses its runner.
#[derive(Clone, Copy)]
enum Loss {
    /// It did not renew its lease.
    Silence,
    /// Somebody removed it.
    Removal(RunnerId),
    /// The profile in the source decided something else than it was leased with.
    Decision,
}

impl Loss {
    fn line(self, to: BuildStatus) -> &'static str {
        match (self, to) {
            (Loss::Silence, BuildStatus::Queued) => {
                "The connection to the runner was lost. The build starts again on the next free runner."
            }
            (Loss::Silence, BuildStatus::Canceled) => {
                "The connection to the runner was lost after the build was canceled"
            }
            (Loss::Silence, _) => "The connection to the runner was lost, for the last time",
            (Loss::Decision, BuildStatus::Queued) => "The build starts again with the values of its profile",
            (Loss::Decision, _) => "The profile of the build has other values than the build was started with",
            (Loss::Removal(_), BuildStatus::Queued) => {
                "The runner was removed. The build starts again on the next free runner."
            }
            (Loss::Removal(_), BuildStatus::Canceled) => "The runner was removed after the build was canceled",
            (Loss::Removal(_), _) => "The runner was removed in the last attempt",
        }
    }

    fn message(self, attempt: u32) -> String {
        match self {
            Loss::Silence => format!(
                "The connection to the runner was lost in each of {attempt} attempts. Check whether it has enough memory and disk space, and whether the build ends it."
            ),
            Loss::Decision => format!(
                "Attempt {attempt}, the last one, found other values in the profile. Start the build again with them."
            ),
            Loss::Removal(_) => {
                format!("The runner of attempt {attempt}, the last one, was removed. Start the build again.")
            }
        }
    }
}

/// Puts a build that lost its runner back at the front of the queue, or ends it. `None` if it did not lose it.
async fn take_away(write: &mut Write<'_>, id: BuildId, loss: Loss) -> Result<Option<Vec<Artifact>>, ApiError> {
    let now = write.now();
    let Some(build) = write.org().lock_build(id).await? else {
        return Ok(None);
    };
    let transition = match loss {
        Loss::Silence => Transition::Lapse,
        Loss::Removal(runner) if build.runner_id == Some(runner) => Transition::Withdraw,
        Loss::Removal(_) => return Ok(None),
        Loss::Decision => Transition::Withdraw,
    };
    let Ok((to, code)) = build.state.apply(transition, now) else {
        return Ok(None);
    };
    let dropped = artifacts::forget(write, id, &[]).await?;
    build_logs::append_line(write, &build, loss.line(to.status)).await?;
    if to.status.is_final() {
        let error = code.map(|code| BuildFailure {
            code,
            phase: build.phases.last().map(|phase| phase.name.clone()),
            message: loss.message(to.attempt),
        });
        end(write, &build, to, error).await?;
    } else {
        let unchanged = StateChange::default();
        if !write.org().set_build_state(id, &build.state, &to, &unchanged).await? {
            return Err(ApiError::Internal(format!("the locked build {id} transition")));
        }
        let details = json!({"attempt": to.attempt});
        write.audit("build.lapse", id, NOTHING, Some(&details)).await?;
        write.signal(Signal::Runners);
        write.signal(Signal::Build(id));
    }
    Ok(Some(dropped))
}
