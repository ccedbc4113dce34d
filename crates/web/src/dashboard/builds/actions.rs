//! Confirmed changes of a build: cancel, retry and delete.

use crate::dashboard::confirm::{Action, Done, Facts, Requester};
use crate::dashboard::form_data::FormData;
use crate::dashboard::frame::Notice;
use crate::dashboard::revision::Revision;
use crate::dashboard::show::{platform, time};

use launchway_domain::build::Build;
use launchway_domain::id::BuildId;
use launchway_domain::time::iso;
use launchway_ops::api_error::ApiError;
use launchway_ops::builds;
use launchway_ops::write::Write;
use launchway_store::Org;

/// Cancels a build.
pub struct Cancel;
/// Builds the same source again.
pub struct Retry;
/// Removes a build.
pub struct Delete;

fn path(id: BuildId) -> String {
    format!("/builds/{id}")
}

async fn question(
    org: &mut Org<'_>,
    id: BuildId,
    question: &'static str,
    button: &'static str,
) -> Result<(Build, Facts), ApiError> {
    let build = org.build(id).await?.ok_or(ApiError::NoSuch("build"))?;
    let state = &build.state;
    let revision = Revision::of(&(id.to_string(), state.status.as_str(), state.cancel_requested))?;
    let mut facts = Facts::new(question, button, revision)
        .on("builds", path(id), "The build")
        .known("App", &build.bundle_id)
        .known("Platform", platform(&build.platform));
    if let Some(version) = &build.spec.version {
        facts = facts.known("Version", version);
    }
    if let Some(configuration) = &build.configuration {
        facts = facts.known("Configuration", configuration.as_str());
    }
    let facts = facts.known("Created", time(&iso(build.created_at)));
    Ok((build, facts))
}

async fn lock(write: &mut Write<'_>, id: BuildId) -> Result<(), ApiError> {
    let found = write.org().lock_build(id).await?;
    found.map(drop).ok_or(ApiError::NoSuch("build"))
}

impl Action for Cancel {
    type Id = BuildId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Cancel)
    }

    async fn lock(&self, write: &mut Write<'_>, id: BuildId) -> Result<(), ApiError> {
        lock(write, id).await
    }

    async fn facts(&self, org: &mut Org<'_>, by: &Requester<'_>, id: BuildId) -> Result<Facts, ApiError> {
        let (build, facts) = question(org, id, "Cancel the build?", "Cancel build").await?;
        let after = builds::state_after_cancel(&build, by.now)?;
        let then = match after.status == build.state.status {
            true => "canceled soon",
            false => after.status.as_str(),
        };
        Ok(facts
            .says("Stops the build. Its results so far are lost. You can retry it.")
            .change("Status", build.state.status, then)
            .danger())
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: BuildId) -> Result<Done, ApiError> {
        builds::cancel(write, id).await?;
        Ok(Done::new(path(id), Notice::BUILD_CANCELED))
    }
}

impl Action for Retry {
    type Id = BuildId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Retry)
    }

    async fn lock(&self, write: &mut Write<'_>, id: BuildId) -> Result<(), ApiError> {
        lock(write, id).await
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: BuildId) -> Result<Facts, ApiError> {
        let (build, facts) = question(org, id, "Repeat the build?", "Build again").await?;
        Ok(facts
            .says("Enqueues a new build of the same source. It counts toward the month's builds.")
            .known("Status", build.state.status))
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: BuildId) -> Result<Done, ApiError> {
        let build = builds::retry(write, id).await?;
        Ok(Done::new(path(build.id), Notice::BUILD_RETRIED))
    }
}

impl Action for Delete {
    type Id = BuildId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Delete)
    }

    async fn lock(&self, write: &mut Write<'_>, id: BuildId) -> Result<(), ApiError> {
        lock(write, id).await
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: BuildId) -> Result<Facts, ApiError> {
        let (build, mut facts) = question(org, id, "Delete the build?", "Delete build").await?;
        facts = facts
            .says("Deletes the record, its log and its artifacts. This cannot be undone.")
            .change("Status", build.state.status, "deleted")
            .danger();
        if !build.state.status.is_final() {
            facts = facts.says("The build is stopped first");
        }
        Ok(facts)
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: BuildId) -> Result<Done, ApiError> {
        let files = builds::delete(write, id).await?;
        Ok(Done::new("/builds", Notice::BUILD_DELETED).without(files))
    }
}
