//! Where the plan of a build comes from when its request has none: `launchway.toml`, or the preset of a framework, as
//! `launchway-project` reads them.

use std::path::Path;

use launchway_api::runner::Lease;
use launchway_domain::build::plan::Plan;
use launchway_project::resolve::{Wanted, resolve};

/// Reads a source.
pub trait PlanResolver: Send + Sync {
    /// The plan for a source, which stands in a directory of its own. The source is somebody else's: its links stay in it,
    /// but a file may be of any size and content.
    ///
    /// # Errors
    /// What is wrong with the source and what to do, as a sentence.
    fn resolve(&self, source: &Path, lease: &Lease) -> Result<Resolved, String>;
}

/// A plan and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// `launchway.toml`, or the framework whose preset it is.
    pub origin: String,
}

/// Reads `launchway.toml` and knows the presets.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProjectResolver;

impl PlanResolver for ProjectResolver {
    fn resolve(&self, source: &Path, lease: &Lease) -> Result<Resolved, String> {
        let unknown = |what: &str| format!("This runner does not know the {what} of the build: bring it up to date.");
        let wanted = Wanted {
            platform: lease.platform.parse().map_err(|_| unknown("platform"))?,
            profile: lease.profile.clone(),
            build_type: Some(lease.build_type.parse().map_err(|_| unknown("type"))?),
            distribution: Some(lease.distribution.parse().map_err(|_| unknown("distribution"))?),
        };
        let resolved = resolve(source, &wanted).map_err(|error| error.to_string())?;
        Ok(Resolved {
            plan: resolved.plan,
            origin: resolved.origin,
        })
    }
}

/// Knows no files and no presets: every request must bring its plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestOnly;

impl PlanResolver for RequestOnly {
    fn resolve(&self, _source: &Path, _lease: &Lease) -> Result<Resolved, String> {
        Err(
            "The request has no plan, and this runner reads none from the source. Add a plan to the request."
                .to_owned(),
        )
    }
}
