//! Creates, retries, cancels and deletes builds (`docs/reference/builds.md#build-endpoints`), except for what runners
//! do with them.

pub mod form;
pub mod request;
pub mod source;
pub mod view;

use crate::api_error::ApiError;
use crate::app::App;
use crate::uploads::{self, ALREADY_USED};
use crate::write::{NOTHING, Signal, Write};
use crate::{apps, build_queue, fingerprints, usage};
use form::{NewBuild, Number, Source};
use launchway_blob::Key;
use launchway_domain::build::plan::FROM_REQUEST;
use launchway_domain::build::{Build, BuildFailure, BuildState, BuildStatus, SourceRecord, Spec, Transition};
use launchway_domain::build_number::BuildNumber;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::BuildId;
use launchway_domain::platform::Platform;
use launchway_domain::time::{EpochMs, SECOND};
use launchway_store::StateChange;
use source::Prepared;
use view::event_view;

/// Queues a build. `prepared` holds the verified bytes of its upload, if it has one.
pub async fn create(
    write: &mut Write<'_>,
    id: BuildId,
    new: NewBuild,
    prepared: Option<&Prepared>,
) -> Result<Build, ApiError> {
    let bundle_id = apps::available_bundle_id(write, &new.bundle).await?;
    if !write.org().has_claimed(&new.bundle).await? {
        apps::check_form(&new.bundle)?;
    }
    let source = match (new.source, prepared) {
        (Source::Git { url, revision }, _) => SourceRecord::Git {
            url,
            reference: revision,
        },
        (Source::Upload(_), Some(prepared)) => {
            if !write.org().use_upload(prepared.upload).await? {
                return Err(ApiError::bad(ALREADY_USED));
            }
            prepared.source.clone()
        }
        (Source::Upload(_), None) => return Err(ApiError::NoSuch("upload")),
    };
    usage::count_build(write).await?;
    // The size of its results is unknown: a build is rejected only if there is no room at all.
    usage::room_to_store(write, 1).await?;
    if let Some((hash, document)) = &new.fingerprint {
        fingerprints::store(write, &new.bundle, hash, document.as_deref()).await?;
        fingerprints::store_pair(write, &new.bundle, hash, new.lwfp2.as_ref()).await?;
    }
    let build = Build {
        id,
        org_id: write.org_id(),
        state: BuildState::new(write.now()),
        priority: new.priority,
        labels: new.labels,
        bundle_id,
        platform: new.platform,
        configuration: new.configuration,
        spec: Spec {
            profile: new.profile,
            build_type: new.build_type.to_string(),
            distribution: new.distribution.to_string(),
            undecided: new.undecided,
            version: new.version,
            build_number: reserve(write, &new.bundle, new.platform, new.build_number).await?,
            source,
            git: new.git,
        },
        plan_origin: new.plan.as_ref().map(|_| FROM_REQUEST.to_owned()),
        plan: new.plan,
        fingerprint: new.fingerprint.map(|(hash, _)| hash),
        runner_id: None,
        phases: Vec::new(),
        error: None,
        warnings: Vec::new(),
        parent_id: None,
        log_size: 0,
        created_by: write.actor_text(),
        created_at: write.now(),
        started_at: None,
        finished_at: None,
    };
    enqueue(write, &build, &new.bundle).await?;
    Ok(build)
}

async fn enqueue(write: &mut Write<'_>, build: &Build, bundle: &BundleId) -> Result<(), ApiError> {
    build_queue::make_room(write, &build.labels).await?;
    write.org().create_build(build, bundle).await?;
    let view = event_view(build);
    write.audit("build.create", build.id, NOTHING, Some(&view)).await?;
    write.event("build.queued", &view).await?;
    Ok(())
}

async fn reserve(
    write: &mut Write<'_>,
    bundle: &BundleId,
    platform: Platform,
    number: Number,
) -> Result<Option<String>, ApiError> {
    let number = match number {
        Number::Project => return Ok(None),
        Number::Given(number) => {
            write.org().note_build_number(bundle, platform, number.value()).await?;
            number
        }
        Number::Auto => {
            let next = write.org().next_build_number(bundle, platform).await?;
            BuildNumber::from_value(next)
                .map_err(|_| ApiError::bad("No build number above the highest one is left. Specify one."))?
        }
    };
    Ok(Some(number.as_str().to_owned()))
}

/// Retries a finished build: creates a build with the same source and request.
pub async fn retry(write: &mut Write<'_>, id: BuildId) -> Result<Build, ApiError> {
    // Locked, so that it cannot be deleted together with the source that the new one names.
    let parent = write.org().lock_build(id).await?.ok_or(ApiError::NoSuch("build"))?;
    if !parent.state.status.is_final() {
        return Err(ApiError::bad(format!(
            "The build is {}. Cancel it before you retry it.",
            parent.state.status
        )));
    }
    if let Some(key) = parent.spec.source.blob_key()
        && !write.org().has_source(key).await?
    {
        return Err(ApiError::bad(
            "The source of this build was deleted. Upload it again with a new build.",
        ));
    }
    let bundle = apps::bundle_id(&parent.bundle_id)?;
    // In the same order as a create, so that two at once cannot deadlock.
    usage::count_build(write).await?;
    usage::room_to_store(write, 1).await?;
    apps::claim(write, &bundle, bundle.as_str()).await?;
    // The new build resolves again what the runner resolved: a branch may have moved.
    let is_fixed = matches!(parent.spec.source, SourceRecord::Archive { .. });
    let from_request = parent.plan_origin.as_deref() == Some(FROM_REQUEST);
    let build = Build {
        id: write.app().random.id(write.now()),
        state: BuildState::new(write.now()),
        plan: parent.plan.filter(|_| from_request),
        plan_origin: parent.plan_origin.filter(|_| from_request),
        fingerprint: parent.fingerprint.filter(|_| is_fixed),
        runner_id: None,
        phases: Vec::new(),
        error: None,
        warnings: Vec::new(),
        parent_id: Some(id),
        log_size: 0,
        created_by: write.actor_text(),
        created_at: write.now(),
        started_at: None,
        finished_at: None,
        ..parent
    };
    enqueue(write, &build, &bundle).await?;
    Ok(build)
}

/// The state of a build after it is canceled.
pub fn state_after_cancel(build: &Build, now: EpochMs) -> Result<BuildState, ApiError> {
    let transition = build.state.apply(Transition::Cancel, now).map_err(|_| {
        ApiError::bad(format!(
            "The build has already ended with the status {}",
            build.state.status
        ))
    })?;
    Ok(transition.0)
}

/// Cancels a build: a queued one at once, a running one as soon as its runner is notified.
pub async fn cancel(write: &mut Write<'_>, id: BuildId) -> Result<Build, ApiError> {
    let build = write.org().lock_build(id).await?.ok_or(ApiError::NoSuch("build"))?;
    if build.state.cancel_requested && build.state.status == BuildStatus::Running {
        return Ok(build);
    }
    let now = write.now();
    let to = state_after_cancel(&build, now)?;
    let ends = to.status.is_final();
    let with = StateChange {
        finished_at: ends.then_some(now),
        ..StateChange::default()
    };
    transition(write, &build, &to, &with).await?;
    let after = Build {
        state: to,
        finished_at: with.finished_at,
        ..build.clone()
    };
    let (old, new) = (event_view(&build), event_view(&after));
    write.audit("build.cancel", id, Some(&old), Some(&new)).await?;
    if ends {
        write.event("build.canceled", &new).await?;
    }
    write.signal(Signal::Build(id));
    Ok(after)
}

/// Fails a build that waited too long (`EXPIRED`). Returns whether it did: a runner may have taken it meanwhile.
pub async fn expire(write: &mut Write<'_>, id: BuildId) -> Result<bool, ApiError> {
    let Some(build) = write.org().lock_build(id).await? else {
        return Ok(false);
    };
    let now = write.now();
    let Ok((to, Some(code))) = build.state.apply(Transition::Expire, now) else {
        return Ok(false);
    };
    let message = match build.labels.as_slice() {
        [] => "No runner started this build within 24 hours. Connect one with `launchway runner`, and retry it."
            .to_owned(),
        labels => format!(
            "No runner with {} started this build within 24 hours. Connect one with `launchway runner`, and retry it.",
            labels.join(", ")
        ),
    };
    let with = StateChange {
        error: Some(BuildFailure {
            code,
            phase: None,
            message,
        }),
        finished_at: Some(now),
        ..StateChange::default()
    };
    transition(write, &build, &to, &with).await?;
    let after = Build {
        state: to,
        error: with.error,
        finished_at: with.finished_at,
        ..build
    };
    write.event("build.failed", &event_view(&after)).await?;
    write.signal(Signal::Build(id));
    Ok(true)
}

/// Applies a transition to a locked build, whose state cannot have changed since it was read.
async fn transition(write: &mut Write<'_>, build: &Build, to: &BuildState, with: &StateChange) -> Result<(), ApiError> {
    match write.org().set_build_state(build.id, &build.state, to, with).await? {
        true => Ok(()),
        false => Err(ApiError::Internal("a locked build has another status".to_owned())),
    }
}

/// Removes a build with its log and artifacts, and stops an active one. Returns the objects to remove once the deletion
/// is durable.
pub async fn delete(write: &mut Write<'_>, id: BuildId) -> Result<Vec<Key>, ApiError> {
    let build = write.org().lock_build(id).await?.ok_or(ApiError::NoSuch("build"))?;
    let mut keys = files(write, id).await?;
    write.org().delete_build(id).await?;
    // Retries of a build share its source.
    if let Some(key) = build.spec.source.blob_key()
        && !write.org().has_source(key).await?
    {
        keys.extend(Key::new(key));
    }
    let view = event_view(&build);
    write.audit("build.delete", id, Some(&view), NOTHING).await?;
    let now = write.now();
    if !build.state.status.is_final() {
        if let (BuildStatus::Running, Some(started)) = (build.state.status, build.started_at) {
            usage::count_build_seconds(write, (now - started).max(0) / SECOND).await?;
        }
        let stopped = Build {
            state: BuildState {
                status: BuildStatus::Canceled,
                lease_until: None,
                ..build.state
            },
            finished_at: Some(now),
            ..build
        };
        write.event("build.canceled", &event_view(&stopped)).await?;
    }
    write.signal(Signal::Build(id));
    Ok(keys)
}

/// Removes log, artifacts and source of a build that ended long ago, and keeps its record. Returns the objects to
/// remove once the change is durable.
pub async fn clear(write: &mut Write<'_>, id: BuildId, days: u32) -> Result<Vec<Key>, ApiError> {
    let Some(mut build) = write.org().lock_build(id).await? else {
        return Ok(Vec::new());
    };
    let mut keys = files(write, id).await?;
    let now = write.now();
    build.warnings.push(format!(
        "The log, artifacts and source were deleted {days} days after the build ended"
    ));
    write.org().clear_build(id, &build.warnings, now).await?;
    if let Some(key) = build.spec.source.blob_key()
        && !write.org().has_source(key).await?
    {
        keys.extend(Key::new(key));
    }
    write.signal(Signal::Build(id));
    Ok(keys)
}

/// The objects of a build's log and artifacts.
async fn files(write: &mut Write<'_>, id: BuildId) -> Result<Vec<Key>, ApiError> {
    let mut org = write.org();
    let artifacts = org.artifacts(id).await?.into_iter().map(|artifact| artifact.blob_key);
    let segments = org.log_segments(id).await?.into_iter().map(|part| part.blob_key);
    // A text that is not a key names no object.
    Ok(artifacts
        .chain(segments)
        .filter_map(|key| Key::new(&key).ok())
        .collect())
}

/// Removes the objects of deleted builds.
pub async fn remove_files(app: &App, keys: &[Key]) {
    for key in keys {
        uploads::remove(app, key).await;
    }
}
