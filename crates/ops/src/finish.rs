//! The end of a build as its runner reports it (`docs/reference/builds.md#results`). The runner retries the report
//! until the server answers, the server answers when everything is durable, and a repeated report changes nothing.

use launchway_api::runner::{Finish, Finished, Phase};
use launchway_api::updates::FingerprintInput;
use launchway_domain::build::{
    Build, BuildErrorCode, BuildFailure, BuildResult, BuildStatus, Outcome, PhaseRecord, Transition, TransitionError,
};
use launchway_domain::fingerprint::{Fingerprint, FingerprintDocument, reason};
use launchway_domain::id::{ArtifactId, BuildId};
use launchway_domain::time::from_rfc3339;

use crate::api_error::ApiError;
use crate::app::App;
use crate::artifacts::{self, Checked};
use crate::caller::RunnerCaller;
use crate::held_builds::{begin_change, find_build, is_held, no_lease_error};
use crate::leases::end;
use crate::updates::publish;
use crate::write::Write;
use crate::{apps, build_logs, fingerprints};

const NOT_CANCELED: &str = "status canceled is only for a build that somebody canceled. Report failed, with an error.";
const MAX_PHASES: usize = 300;
const MAX_NAME: usize = 100;
const MAX_MESSAGE: usize = 2000;
const MAX_WARNINGS: usize = 50;
const MAX_WARNING: usize = 2000;

/// A validated report of the end of an attempt.
#[derive(Debug)]
pub struct FinishPlan {
    id: BuildId,
    attempt: u32,
    outcome: Outcome,
    error: Option<BuildFailure>,
    phases: Vec<PhaseRecord>,
    artifacts: Vec<ArtifactId>,
    log_size: u64,
    fingerprint: Option<(Fingerprint, Option<FingerprintDocument>)>,
    /// The `lwfp-2` hash of the same native code.
    lwfp2: Option<Fingerprint>,
    warnings: Vec<String>,
}

/// Validates the end of an attempt of the build `id`. `lwfp2` is the other hash of its native code.
pub fn plan(id: BuildId, report: Finish, lwfp2: Option<Fingerprint>) -> Result<FinishPlan, ApiError> {
    let error = report.error.map(failure).transpose()?;
    let outcome = match (report.status.known(), &error) {
        (Some(BuildResult::Success), None) => Outcome::Success,
        (Some(BuildResult::Canceled), None) => Outcome::Canceled,
        (Some(BuildResult::Failed), Some(error)) => Outcome::Failed(error.code),
        (Some(BuildResult::Failed), None) => return Err(ApiError::bad("error is required with status failed")),
        (Some(BuildResult::Success | BuildResult::Canceled), Some(_)) => {
            return Err(ApiError::bad("error is only for status failed"));
        }
        (None, _) => return Err(ApiError::bad("status must be success, failed or canceled")),
    };
    let mut artifacts = Vec::new();
    for text in &report.artifacts {
        let artifact = text
            .parse()
            .map_err(|_| ApiError::bad(format!("artifacts: {text} is not the id of an artifact")))?;
        if !artifacts.contains(&artifact) {
            artifacts.push(artifact);
        }
    }
    Ok(FinishPlan {
        id,
        attempt: report.attempt,
        outcome,
        error,
        phases: phases(&report.phases)?,
        artifacts,
        log_size: report.log_size,
        fingerprint: report.fingerprint.map(fingerprint).transpose()?,
        lwfp2,
        warnings: report
            .warnings
            .into_iter()
            .map(|text| text.chars().take(MAX_WARNING).collect())
            .collect(),
    })
}

fn failure(report: launchway_api::runner::BuildError) -> Result<BuildFailure, ApiError> {
    let code: BuildErrorCode = report
        .code
        .checked()
        .map_err(|unknown| ApiError::bad(format!("error.code {unknown}")))?;
    if matches!(code, BuildErrorCode::RunnerLost | BuildErrorCode::Expired) {
        return Err(ApiError::bad(format!("error.code: a runner cannot report {code}")));
    }
    Ok(BuildFailure {
        code,
        phase: report.phase.map(|phase| phase.chars().take(MAX_NAME).collect()),
        message: report.message.chars().take(MAX_MESSAGE).collect(),
    })
}

fn fingerprint(value: serde_json::Value) -> Result<(Fingerprint, Option<FingerprintDocument>), ApiError> {
    let input: Result<FingerprintInput, _> = serde_json::from_value(value);
    let input = input.map_err(|_| ApiError::bad("fingerprint must be text or a document"))?;
    publish::any_fingerprint(&input)
}

/// Converts phases from their wire form.
pub fn phases(phases: &[Phase]) -> Result<Vec<PhaseRecord>, ApiError> {
    if phases.len() > MAX_PHASES {
        return Err(ApiError::bad(format!("phases must have at most {MAX_PHASES} items")));
    }
    let time = |at: usize, text: &str| {
        from_rfc3339(text).ok_or_else(|| ApiError::bad(format!("phases[{at}]: `{text}` is not a time")))
    };
    let read = |(at, phase): (usize, &Phase)| {
        Ok(PhaseRecord {
            name: phase.name.chars().take(MAX_NAME).collect(),
            started_at: time(at, &phase.started_at)?,
            finished_at: phase.finished_at.as_deref().map(|text| time(at, text)).transpose()?,
            exit_code: phase.exit_code,
        })
    };
    phases.iter().enumerate().map(read).collect()
}

/// Ends a build. Of concurrent reports of the same end, only one takes effect.
pub async fn finish(app: &App, caller: &RunnerCaller, plan: FinishPlan) -> Result<Finished, ApiError> {
    match end_held(app, caller, &plan).await {
        Err(failure @ ApiError::BadRequest(_)) => {
            let build = find_build(app, plan.id).await?;
            repeated_end(&build, caller, &plan).ok_or(failure)
        }
        done => done,
    }
}

async fn end_held(app: &App, caller: &RunnerCaller, plan: &FinishPlan) -> Result<Finished, ApiError> {
    let build = find_build(app, plan.id).await?;
    if !is_held(&build, caller, plan.attempt) {
        return Err(no_lease_error());
    }
    let masker = build_logs::masker(app, caller, plan.id, plan.attempt).await?;
    let masked = |text: &str| String::from_utf8_lossy(&masker.mask(text.as_bytes())).into_owned();
    let error = plan.error.as_ref().map(|error| BuildFailure {
        message: masked(&error.message),
        ..error.clone()
    });
    let warnings: Vec<String> = plan.warnings.iter().map(|text| masked(text)).collect();
    let checked = artifacts::check(app, &build, &plan.artifacts).await?;
    let concluded = match begin_change(app, caller, plan.id, plan.attempt).await {
        Ok((write, build)) => conclude(write, build, plan, error, warnings, &checked).await,
        Err(failure) => Err(failure),
    };
    let removed = match concluded {
        Ok(removed) => removed,
        Err(failure) => {
            artifacts::discard(app, &checked).await;
            return Err(failure);
        }
    };
    app.maskers.forget(plan.id);
    artifacts::drop_staged(app, &checked).await;
    artifacts::drop_bytes(app, &removed).await;
    if let Err(failure) = build_logs::seal(app, build.org_id, plan.id, 1).await {
        tracing::warn!(error = %failure, build = %plan.id, "cannot move the log of a build; it stays in the database for now");
    }
    Ok(Finished {
        id: plan.id.to_string(),
        status: status(plan.outcome).into(),
    })
}

/// The answer to a report that repeats the stored end: same attempt, same result.
fn repeated_end(build: &Build, caller: &RunnerCaller, plan: &FinishPlan) -> Option<Finished> {
    let same = build.state.status == status(plan.outcome)
        && build.state.attempt == plan.attempt
        && build.runner_id == Some(caller.runner.id)
        && build.error.as_ref().map(|error| error.code) == plan.error.as_ref().map(|error| error.code);
    same.then(|| Finished {
        id: build.id.to_string(),
        status: build.state.status.into(),
    })
}

fn status(outcome: Outcome) -> BuildStatus {
    match outcome {
        Outcome::Success => BuildStatus::Success,
        Outcome::Failed(_) => BuildStatus::Failed,
        Outcome::Canceled => BuildStatus::Canceled,
    }
}

/// Applies the end in one transaction. Returns the artifacts whose bytes are to be removed.
async fn conclude(
    mut write: Write<'_>,
    mut build: Build,
    plan: &FinishPlan,
    error: Option<BuildFailure>,
    warnings: Vec<String>,
    checked: &[Checked],
) -> Result<Vec<launchway_domain::build::Artifact>, ApiError> {
    let (attempt, outcome) = (plan.attempt, plan.outcome);
    let moved = build.state.apply(Transition::Finish { attempt, outcome }, write.now());
    let (to, _) = moved.map_err(|refused| match refused {
        TransitionError::NotCanceled => ApiError::bad(NOT_CANCELED),
        _ => no_lease_error(),
    })?;
    let size = build_logs::release(&mut write, &build).await?;
    if u64::try_from(size) != Ok(plan.log_size) {
        return Err(ApiError::bad(format!(
            "logSize is {}, but the server has {size} bytes of the log: send the rest first",
            plan.log_size
        )));
    }
    for one in checked {
        let facts = one.facts_text()?;
        write
            .org()
            .store_artifact(one.artifact.id, one.key.as_str(), facts.as_deref())
            .await?;
    }
    let kept: Vec<_> = checked.iter().map(|one| one.artifact.id).collect();
    let removed = artifacts::forget(&mut write, build.id, &kept).await?;
    build.phases = plan.phases.clone();
    let mismatch = take_fingerprint(&mut write, &mut build, plan).await?;
    let of_artifacts = checked.iter().flat_map(|one| one.warnings.clone());
    build.warnings = warnings
        .into_iter()
        .chain(mismatch)
        .chain(of_artifacts)
        .take(MAX_WARNINGS)
        .collect();
    for facts in checked.iter().filter_map(|one| one.facts.as_ref()) {
        let spec = &mut build.spec;
        spec.version = spec.version.take().or_else(|| facts.version.clone());
        spec.build_number = spec.build_number.take().or_else(|| facts.build_number.clone());
    }
    if outcome == Outcome::Success {
        claim_app(&mut write, &mut build).await?;
    }
    write.org().update_build(&build).await?;
    end(&mut write, &build, to, error).await?;
    write.commit().await?;
    Ok(removed)
}

/// Adopts the fingerprint that the runner computed, because the app will send that one. Returns a warning if it differs
/// from the one that was sent with the build.
async fn take_fingerprint(
    write: &mut Write<'_>,
    build: &mut Build,
    plan: &FinishPlan,
) -> Result<Option<String>, ApiError> {
    let Some((found, document)) = &plan.fingerprint else {
        return Ok(None);
    };
    publish::check_platform(document.as_ref(), build.platform)?;
    let bundle = apps::bundle_id(&build.bundle_id)?;
    let document = document.as_ref().map(FingerprintDocument::canonical);
    fingerprints::store(write, &bundle, found, document.as_deref()).await?;
    let sent = build.fingerprint.replace(found.clone());
    let Some(sent) = sent.filter(|sent| sent != found) else {
        return Ok(None);
    };
    if fingerprints::is_same_code(&mut write.org(), &bundle, &sent, found, plan.lwfp2.as_ref()).await? {
        return Ok(None);
    }
    let from_request = fingerprints::document(&mut write.org(), &bundle, &sent).await?;
    let from_runner = fingerprints::document(&mut write.org(), &bundle, found).await?;
    let differs = match from_request.zip(from_runner) {
        Some((from_request, from_runner)) => format!(": {}", reason(Some(&from_request), Some(&from_runner))),
        None => String::new(),
    };
    Ok(Some(format!(
        "The requested fingerprint differs from that of the built app{differs}. The build keeps the runner's fingerprint."
    )))
}

/// Claims the app of its first successful build, unless another organization has claimed it meanwhile
/// (`docs/reference/callers.md#claiming-a-bundle-identifier`).
async fn claim_app(write: &mut Write<'_>, build: &mut Build) -> Result<(), ApiError> {
    let bundle = apps::bundle_id(&build.bundle_id)?;
    match apps::claim(write, &bundle, bundle.as_str()).await {
        Err(ApiError::Forbidden(text)) => build.warnings.push(text),
        claimed => {
            claimed?;
        }
    }
    Ok(())
}
