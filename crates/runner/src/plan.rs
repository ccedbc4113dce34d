//! Where the plan of a build comes from when its request has none: `launchway.toml`, or the preset of a framework, as
//! `launchway-project` reads them.

use std::path::Path;

use launchway_api::open;
use launchway_api::runner::Lease;
use launchway_domain::build::plan::Plan;
use launchway_project::resolve::{Wanted, resolve};
use serde::{Deserialize, Serialize};

/// Reads a source.
pub trait PlanResolver: Send + Sync {
    /// The plan for a source, which stands in a directory of its own. The source is somebody else's: its links stay in it,
    /// but a file may be of any size and content.
    ///
    /// # Errors
    /// What is wrong with the source and what to do, as a sentence.
    fn resolve(&self, source: &Path, lease: &Lease) -> Result<Resolved, String>;

    /// Whether it is [`ProjectResolver`], which parses files of the source: runners have it do so in a process of its own.
    fn parses_files(&self) -> bool {
        false
    }
}

/// A plan and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        of_source(source, &Wish::of(lease))
    }

    fn parses_files(&self) -> bool {
        true
    }
}

/// What a build wants of its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    platform: open::Platform,
    profile: Option<String>,
    build_type: open::BuildType,
    distribution: open::Distribution,
}

impl Wish {
    /// That of a lease.
    pub fn of(lease: &Lease) -> Wish {
        Wish {
            platform: lease.platform.clone(),
            profile: lease.profile.clone(),
            build_type: lease.build_type.clone(),
            distribution: lease.distribution.clone(),
        }
    }
}

/// The plan for a source, as [`PlanResolver::resolve`] gives it.
///
/// # Errors
/// What is wrong with the source and what to do, as a sentence.
pub fn of_source(source: &Path, wish: &Wish) -> Result<Resolved, String> {
    let unknown = |what: &str| format!("This runner does not know the {what} of the build: bring it up to date.");
    let wanted = Wanted {
        platform: wish.platform.checked().map_err(|_| unknown("platform"))?,
        profile: wish.profile.clone(),
        build_type: Some(wish.build_type.checked().map_err(|_| unknown("type"))?),
        distribution: Some(wish.distribution.checked().map_err(|_| unknown("distribution"))?),
    };
    let resolved = resolve(source, &wanted).map_err(|error| error.to_string())?;
    Ok(Resolved {
        plan: resolved.plan,
        origin: resolved.origin,
    })
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
