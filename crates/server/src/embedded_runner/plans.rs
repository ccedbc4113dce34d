//! The plan of a build whose request brings none: what the project in its source says.

use std::path::Path;

use launchway_api::runner::Lease;
use launchway_project::resolve::{Wanted, resolve};
use launchway_runner::plan::{PlanResolver, Resolved};

/// `launchway.toml`, else the preset of the framework.
pub struct OfProject;

impl PlanResolver for OfProject {
    fn resolve(&self, source: &Path, lease: &Lease) -> Result<Resolved, String> {
        let wrong =
            |what: &str| format!("The server names a {what} that this runner does not know. Update the runner.");
        let wanted = Wanted {
            platform: lease.platform.parse().map_err(|_| wrong("platform"))?,
            profile: lease.profile.clone(),
            build_type: Some(lease.build_type.parse().map_err(|_| wrong("build type"))?),
            distribution: Some(lease.distribution.parse().map_err(|_| wrong("distribution"))?),
        };
        let resolved = resolve(source, &wanted).map_err(|error| error.to_string())?;
        Ok(Resolved {
            plan: resolved.plan,
            origin: resolved.origin,
        })
    }
}
