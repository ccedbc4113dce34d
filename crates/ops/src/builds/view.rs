//! A build as the API shows it, with data from other rows: its artifacts, its runner, and what it waits for.

use std::collections::{HashMap, HashSet};

use launchway_api::builds::{ArtifactView, BuildContext, BuildView};
use launchway_blob::Key;
use launchway_domain::app::SIGNED_URL_SECONDS;
use launchway_domain::build::{Artifact, Build, BuildStatus, Distribution, LEASE};
use launchway_domain::id::BuildId;
use launchway_domain::platform::Platform;
use launchway_domain::tenancy::Tier;
use launchway_domain::time::{EpochMs, iso};
use launchway_domain::usage::Concurrency;
use launchway_store::Org;

use crate::api_error::ApiError;
use crate::app::App;

/// Positions in the queue are exact up to here; every position behind is reported as this one.
pub const LAST_PLACE: i64 = 1000;
/// Label lists of runners that are read at a time, and how many times at most. Few fleets have more than a dozen lists.
const LABEL_PAGE: i64 = 500;
const MAX_LABEL_PAGES: usize = 20;

/// The API's view of a build.
pub async fn view(app: &App, org: &mut Org<'_>, build: &Build) -> Result<BuildView, ApiError> {
    let views = views(app, org, std::slice::from_ref(build)).await?;
    let view = views.into_iter().next();
    view.ok_or_else(|| ApiError::Internal("a build has no view".to_owned()))
}

/// The views of a page of builds, with a fixed number of queries.
pub async fn views(app: &App, org: &mut Org<'_>, builds: &[Build]) -> Result<Vec<BuildView>, ApiError> {
    let is_queued = |build: &Build| build.state.status == BuildStatus::Queued;
    let runners: Vec<_> = builds.iter().filter_map(|build| build.runner_id).collect();
    let runners = org.runner_names(&runners).await?;
    let leased: Vec<_> = builds
        .iter()
        .filter(|build| !is_queued(build))
        .map(|build| build.id)
        .collect();
    let mut artifacts = org.artifacts_of_builds(&leased).await?;
    let queued: Vec<_> = builds.iter().filter(|build| is_queued(build)).collect();
    let outlook = match queued.is_empty() {
        true => None,
        false => Some(Outlook::read(app, org, &queued).await?),
    };
    let view = |build: &Build| -> Result<BuildView, ApiError> {
        let mut context = BuildContext {
            runner: build.runner_id.and_then(|id| runners.get(&id).cloned()),
            ..BuildContext::default()
        };
        match &outlook {
            Some(outlook) if is_queued(build) => {
                let before = outlook.places.get(&build.id).copied().unwrap_or(LAST_PLACE);
                context.queue_position = Some(before);
                context.waiting_for = Some(outlook.waiting_for(build, before));
            }
            _ => {
                let artifacts = of_attempt(build, artifacts.remove(&build.id).unwrap_or_default());
                context.install = installable_artifact(build, &artifacts)
                    .map(|_| app.install_links.link(&app.public_url, build.id, app.clock.now()));
                let shown = artifacts.iter().map(|artifact| artifact_view(app, artifact));
                context.artifacts = shown.collect::<Result<_, _>>()?;
            }
        }
        Ok(BuildView::of(build, context))
    };
    builds.iter().map(view).collect()
}

/// A build as its events and the audit log show it: without values that are temporarily secret, such as a signed URL.
pub fn event_view(build: &Build) -> BuildView {
    BuildView::of(build, BuildContext::default())
}

/// The artifacts of the build's current attempt.
pub async fn artifacts_of(org: &mut Org<'_>, build: &Build) -> Result<Vec<Artifact>, ApiError> {
    Ok(of_attempt(build, org.artifacts(build.id).await?))
}

/// Those of the artifacts of a build that its current attempt stored.
fn of_attempt(build: &Build, mut artifacts: Vec<Artifact>) -> Vec<Artifact> {
    artifacts.retain(|artifact| artifact.is_stored && artifact.attempt == build.state.attempt);
    artifacts
}

/// The artifact of a build that devices install from a link, if there is one: an app that was not built for an app
/// store. For simulators, only Android apps are offered.
pub fn installable_artifact<'a>(build: &Build, artifacts: &'a [Artifact]) -> Option<&'a Artifact> {
    let distribution = build.spec.distribution.parse().ok()?;
    let kind = match (build.platform, distribution) {
        (_, Distribution::Store) => return None,
        (Platform::Android, _) => "apk",
        (_, Distribution::Simulator) => return None,
        _ => "ipa",
    };
    let is_done = build.state.status == BuildStatus::Success;
    artifacts.iter().find(|artifact| is_done && artifact.kind == kind)
}

fn artifact_view(app: &App, artifact: &Artifact) -> Result<ArtifactView, ApiError> {
    let key = Key::new(&artifact.blob_key)?;
    let signed = app
        .blob
        .presign_get(&key, &artifact.name, app.clock.now(), SIGNED_URL_SECONDS);
    Ok(ArtifactView::of(artifact, signed.url, iso(signed.expires_at_ms)))
}

/// The outlook of queued builds of an organization.
struct Outlook {
    /// The positions of the first builds in the organization's queue.
    places: HashMap<BuildId, i64>,
    /// The label lists of builds that no live runner fits.
    unserved: HashSet<Vec<String>>,
    /// A sentence that the organization runs as many builds as it may, if so.
    full: Option<String>,
}

impl Outlook {
    async fn read(app: &App, org: &mut Org<'_>, queued: &[&Build]) -> Result<Outlook, ApiError> {
        let front = org.queue_front(LAST_PLACE).await?;
        Ok(Outlook {
            places: front.into_iter().zip(0..).collect(),
            // Runners that wait for builds poll more often than runners with a build must renew.
            unserved: unserved(org, queued, app.clock.now() - LEASE).await?,
            full: full(app, org).await?,
        })
    }

    fn waiting_for(&self, build: &Build, before: i64) -> String {
        let wanted = match build.labels.as_slice() {
            [] => "a runner".to_owned(),
            labels => format!("a runner with {}", labels.join(", ")),
        };
        match (self.unserved.contains(&build.labels), &self.full, before) {
            (true, ..) => format!("Waiting for {wanted}: none is connected"),
            (false, Some(full), _) => full.clone(),
            (false, None, 0) => format!("Waiting for {wanted} to be free"),
            (false, None, 1) => "1 build is ahead of it".to_owned(),
            (false, None, LAST_PLACE) => format!("{LAST_PLACE} or more builds are ahead of it"),
            (false, None, count) => format!("{count} builds are ahead of it"),
        }
    }
}

/// The label lists of these builds that no runner fits that has called since `since`. If the runners have too many
/// different lists to read them all, a list is only claimed to be unserved after all were read.
async fn unserved(org: &mut Org<'_>, queued: &[&Build], since: EpochMs) -> Result<HashSet<Vec<String>>, ApiError> {
    let mut unserved: HashSet<_> = queued.iter().map(|build| build.labels.clone()).collect();
    let mut last: Option<Vec<String>> = None;
    for _ in 0..MAX_LABEL_PAGES {
        let mut page = org.live_runner_labels(since, last.as_deref(), LABEL_PAGE).await?;
        let fits = |wanted: &[String], runner: &[String]| wanted.iter().all(|label| runner.contains(label));
        unserved.retain(|wanted| !page.iter().any(|runner| fits(wanted, runner)));
        if unserved.is_empty() || (page.len() as i64) < LABEL_PAGE {
            return Ok(unserved);
        }
        last = page.pop();
    }
    Ok(HashSet::new())
}

/// A sentence if an organization runs as many concurrent builds as its tier allows.
async fn full(app: &App, org: &mut Org<'_>) -> Result<Option<String>, ApiError> {
    let quotas = &app.config.quotas;
    let limits = Tier::ALL.map(|tier| quotas.concurrency_quota(tier, Concurrency::RunningBuilds));
    if limits.iter().all(Option::is_none) {
        return Ok(None);
    }
    let record = org.record().await?.ok_or(ApiError::NoSuch("organization"))?;
    let Some(most) = quotas.concurrency_quota(record.tier, Concurrency::RunningBuilds) else {
        return Ok(None);
    };
    let bound = i64::try_from(most).unwrap_or(i64::MAX);
    let is_full = org.count_running(bound).await? >= bound;
    let builds = if most == 1 { "build" } else { "builds" };
    Ok(is_full.then(|| {
        format!(
            "Waiting for another build of this organization to end: its tier {} runs {most} {builds} at a time",
            record.tier
        )
    }))
}
