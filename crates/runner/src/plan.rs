//! Finds the plan of a build whose request has none: `launchway.toml`, or the preset of a framework, as
//! `launchway-project` reads them.

use std::path::Path;

use launchway_api::open;
use launchway_api::runner::{Lease, ProfileValues, Source, Undecided};
use launchway_domain::build::git::Revision;
use launchway_domain::build::plan::Plan;
use launchway_project::resolve::{BuildRequest, resolve_in};
use launchway_project::workspace::ProjectSource;
use serde::{Deserialize, Serialize};

/// Finds the plan of a source.
pub trait PlanResolver: Send + Sync {
    /// The plan for a source directory. The source is untrusted: its links stay inside, but files may have any size and
    /// content.
    ///
    /// # Errors
    /// A message that says what is wrong with the source and what to do.
    fn resolve(&self, source: &Path, lease: &Lease) -> Result<Resolved, String>;

    /// Whether this is [`ProjectResolver`], which parses files of the source. Runners call it in a separate process.
    fn parses_files(&self) -> bool {
        false
    }
}

/// A plan and its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// `launchway.toml`, or the framework whose preset the plan is.
    pub origin: String,
    /// The values of the profile, where the request left any to it.
    pub profile: Option<ProfileValues>,
}

/// Reads `launchway.toml` and knows the presets.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProjectResolver;

impl PlanResolver for ProjectResolver {
    fn resolve(&self, source: &Path, lease: &Lease) -> Result<Resolved, String> {
        plan_for_source(source, &PlanRequest::of(lease))
    }

    fn parses_files(&self) -> bool {
        true
    }
}

/// What a build wants of its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRequest {
    platform: open::Platform,
    profile: Option<String>,
    build_type: open::BuildType,
    distribution: open::Distribution,
    undecided: Undecided,
    /// The directory of the project in the source; empty for its root.
    directory: String,
}

impl PlanRequest {
    /// The request of a lease.
    pub fn of(lease: &Lease) -> PlanRequest {
        let revision = match &lease.source {
            Source::Git { reference, .. } => Revision::parse(reference).ok(),
            Source::Archive { .. } => None,
        };
        PlanRequest {
            directory: revision.map_or("", |revision| revision.directory).to_owned(),
            platform: lease.platform.clone(),
            profile: lease.profile.clone(),
            build_type: lease.build_type.clone(),
            distribution: lease.distribution.clone(),
            undecided: lease.undecided,
        }
    }
}

/// The plan for a source; see [`PlanResolver::resolve`].
///
/// # Errors
/// A message that says what is wrong with the source and what to do.
pub fn plan_for_source(source: &Path, plan_request: &PlanRequest) -> Result<Resolved, String> {
    let unknown = |what: &str| format!("This runner does not support the {what} of the build. Update the runner.");
    let undecided = plan_request.undecided;
    let request = BuildRequest {
        platform: plan_request.platform.checked().map_err(|_| unknown("platform"))?,
        profile: plan_request.profile.clone(),
        build_type: match undecided.build_type {
            true => None,
            false => Some(plan_request.build_type.checked().map_err(|_| unknown("type"))?),
        },
        distribution: match undecided.distribution {
            true => None,
            false => Some(
                plan_request
                    .distribution
                    .checked()
                    .map_err(|_| unknown("distribution"))?,
            ),
        },
    };
    let directory = &plan_request.directory;
    // Artifacts are not collected through links, so that no link stands in the place of a directory.
    let is_directory = || {
        let (root, place) = (source.canonicalize(), source.join(directory).canonicalize());
        matches!((root, place), (Ok(root), Ok(place)) if place == root.join(directory) && place.is_dir())
    };
    if !directory.is_empty() && !is_directory() {
        return Err(format!(
            "The repository has no directory {directory} at this ref. Correct the directory of the request."
        ));
    }
    let project = ProjectSource {
        root: source.to_owned(),
        base: directory.clone(),
    };
    let resolved = resolve_in(&project, &request).map_err(|error| error.to_string())?;
    Ok(Resolved {
        plan: resolved.plan,
        origin: resolved.origin,
        profile: (undecided != Undecided::default()).then(|| ProfileValues {
            build_type: resolved.build_type.into(),
            distribution: resolved.distribution.into(),
            configuration: resolved.configuration,
        }),
    })
}

/// Reads no files and has no presets: every request must contain its plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestOnly;

impl PlanResolver for RequestOnly {
    fn resolve(&self, _source: &Path, _lease: &Lease) -> Result<Resolved, String> {
        Err(
            "The request has no plan, and this runner does not read plans from the source. Add a plan to the request."
                .to_owned(),
        )
    }
}
