//! A build as the API shows it, with what stands elsewhere: its artifacts, its runner, and what it waits for.

use launchway_api::builds::{ArtifactView, BuildContext, BuildView};
use launchway_domain::app::SIGNED_URL_LIFE;
use launchway_domain::build::{Artifact, Build, BuildStatus, Distribution, LEASE};
use launchway_domain::platform::Platform;
use launchway_domain::time::{SECOND, iso};
use launchway_store::Org;

use crate::app::App;
use crate::blob::Key;
use crate::failure::Failure;

/// Reads what the API shows of a build.
pub async fn view(app: &App, org: &mut Org<'_>, build: &Build) -> Result<BuildView, Failure> {
    let runner = match build.runner_id {
        Some(id) => org.runner_name(id).await?,
        None => None,
    };
    let mut context = BuildContext {
        runner,
        ..BuildContext::default()
    };
    if build.standing.status == BuildStatus::Queued {
        let before = org.queued_before(build.id).await?;
        context.queue_position = Some(before);
        context.waiting_for = Some(waiting_for(app, org, build, before).await?);
    } else {
        let artifacts = given(org, build).await?;
        context.install = installable(build, &artifacts).map(|_| app.install_links.link(app, build.id));
        context.artifacts = artifacts
            .iter()
            .map(|artifact| artifact_view(app, artifact))
            .collect::<Result<_, _>>()?;
    }
    Ok(BuildView::of(build, context))
}

/// A build as its events and the audit log show it: without what is a secret while it works, such as a signed URL.
pub fn plain(build: &Build) -> BuildView {
    BuildView::of(build, BuildContext::default())
}

/// The files that the present try of a build gave.
pub async fn given(org: &mut Org<'_>, build: &Build) -> Result<Vec<Artifact>, Failure> {
    let mut artifacts = org.artifacts(build.id).await?;
    artifacts.retain(|artifact| artifact.is_stored && artifact.attempt == build.standing.attempt);
    Ok(artifacts)
}

/// The file of a build that devices install by a link, if it has one: an app that was not made for a store. To a simulator
/// only Android's are sent so.
pub fn installable<'a>(build: &Build, artifacts: &'a [Artifact]) -> Option<&'a Artifact> {
    let distribution = build.spec.distribution.parse().ok()?;
    let kind = match (build.platform, distribution) {
        (_, Distribution::Store) => return None,
        (Platform::Android, _) => "apk",
        (_, Distribution::Simulator) => return None,
        _ => "ipa",
    };
    let is_done = build.standing.status == BuildStatus::Success;
    artifacts.iter().find(|artifact| is_done && artifact.kind == kind)
}

fn artifact_view(app: &App, artifact: &Artifact) -> Result<ArtifactView, Failure> {
    let key = Key::new(&artifact.blob_key).map_err(|error| Failure::Internal(error.to_string()))?;
    let life = (SIGNED_URL_LIFE / SECOND) as u32;
    let signed = app.blob.presign_get(&key, &artifact.name, app.clock.now(), life);
    Ok(ArtifactView::of(artifact, signed.url, iso(signed.expires_at_ms)))
}

/// What a queued build waits for, as a sentence.
async fn waiting_for(app: &App, org: &mut Org<'_>, build: &Build, before: i64) -> Result<String, Failure> {
    // A runner that waits for builds asks more often than one that has a build must say something.
    let live = org.live_runner_labels(app.clock.now() - LEASE).await?;
    let fits = |runner: &Vec<String>| build.labels.iter().all(|label| runner.contains(label));
    let wanted = match build.labels.as_slice() {
        [] => "a runner".to_owned(),
        labels => format!("a runner with {}", labels.join(", ")),
    };
    Ok(match (live.iter().any(fits), before) {
        (false, _) => format!("Waits for {wanted}: none is connected"),
        (true, 0) => format!("Waits for {wanted} to be free"),
        (true, 1) => "1 build goes before it".to_owned(),
        (true, count) => format!("{count} builds go before it"),
    })
}
