//! What an import does: it only adds. What the server has already is left as it is, so an import that ended halfway goes on where
//! it ended, and one without releases changes nothing.

use std::collections::BTreeSet;

use launchway_domain::platform::Platform;

use super::{Export, ExportedDeployment, ExportedRelease};

/// What the server has of the app.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Whether the app exists.
    pub has_app: bool,
    /// The deployment keys of the platform.
    pub deployment_keys: BTreeSet<String>,
    /// Configuration and name of the releases of the platform that clients of the protocol know.
    pub releases: BTreeSet<(String, String)>,
}

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanStep<'e> {
    /// The app is created.
    CreateApp,
    /// A deployment key is given to the server.
    AddDeploymentKey(&'e ExportedDeployment),
    /// A release is published.
    Publish(&'e ExportedRelease),
}

/// The changes of an import, in the order in which they are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan<'e> {
    /// What is to be done.
    pub steps: Vec<PlanStep<'e>>,
    /// Releases that the server has already.
    pub present: usize,
    /// Releases that newer ones replace for every device.
    pub replaced: usize,
}

impl Export {
    /// Plans the import of one platform.
    pub fn plan(&self, platform: Platform, known: &Known) -> Plan<'_> {
        let mut plan = Plan::default();
        let mut keys = known.deployment_keys.clone();
        let new = self
            .deployments
            .iter()
            .filter(|deployment| keys.insert(deployment.key.clone()));
        plan.steps.extend(new.map(PlanStep::AddDeploymentKey));
        let of_platform = |release: &&ExportedRelease| release.platform.is_none_or(|only| only == platform);
        let releases: Vec<&ExportedRelease> = self.releases.iter().filter(of_platform).collect();
        let live = live(&releases);
        plan.replaced = releases.len() - live.len();
        let mut seen = known.releases.clone();
        for release in live {
            if seen.insert((release.configuration.clone(), release.name.clone())) {
                plan.steps.push(PlanStep::Publish(release));
            } else {
                plan.present += 1;
            }
        }
        if !known.has_app && !plan.steps.is_empty() {
            plan.steps.insert(0, PlanStep::CreateApp);
        }
        plan
    }
}

/// The releases that some device may receive, the oldest first: of those that fit the same apps, the newest full one and the staged
/// ones above it.
fn live<'e>(releases: &[&'e ExportedRelease]) -> Vec<&'e ExportedRelease> {
    let mut replaced = BTreeSet::new();
    let mut live: Vec<&ExportedRelease> = Vec::new();
    for &release in releases.iter().rev() {
        let apps = (
            &release.configuration,
            &release.platform,
            &release.range,
            &release.runtime_version,
            &release.fingerprint,
        );
        if replaced.contains(&apps) {
            continue;
        }
        if release.rollout == 100 {
            replaced.insert(apps);
        }
        live.push(release);
    }
    live.reverse();
    live
}
