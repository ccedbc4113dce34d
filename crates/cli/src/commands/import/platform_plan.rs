//! The plan of an import for one platform.

use launchway_domain::platform::Platform;
use launchway_foreign::exports::ExportedRelease;
use launchway_foreign::exports::plan::{Plan, PlanStep};

/// The plan for one platform.
pub struct PlatformPlan<'e> {
    pub platform: Platform,
    pub plan: Plan<'e>,
}

impl<'e> PlatformPlan<'e> {
    /// The releases that it publishes.
    pub fn releases(&self) -> impl Iterator<Item = (Platform, &'e ExportedRelease)> {
        self.plan.steps.iter().filter_map(|step| match step {
            PlanStep::Publish(release) => Some((self.platform, *release)),
            PlanStep::CreateApp | PlanStep::AddDeploymentKey(_) => None,
        })
    }
}
