//! How a runner reads a source whose build brings no plan: `launchway.toml`, or the preset of the framework that is found.

use std::path::Path;

use launchway_api::runner::Lease;
use launchway_project::resolve::{Wanted, resolve};
use launchway_runner::plan::{PlanResolver, Resolved};

/// Reads `launchway.toml` and knows the presets.
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
