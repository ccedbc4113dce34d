//! What an attempt saves from its workspace: caches for the next build, and artifacts.

use launchway_api::runner::{Lease, Source};
use launchway_domain::build::BuildErrorCode;
use launchway_domain::build::cache::{self, Origin};
use launchway_domain::build::plan::Plan;

use super::{Attempt, AttemptError, sentence};
use crate::artifacts::{self, ArtifactBounds, ArtifactError};
use crate::cache::{CacheUser, Caches, ResolvedRule};
use crate::journal::Artifact;

impl Attempt {
    pub(super) async fn restore_caches(&self, plan: &Plan) -> Result<Vec<ResolvedRule>, AttemptError> {
        if plan.cache.is_empty() {
            return Ok(Vec::new());
        }
        self.begin("restore cache").await;
        let (context, lease, workspace) = self.shared();
        let rules = plan.cache.clone();
        let restored = self.blocking(move |stopper| {
            let scope = cache_scope(&lease);
            let (keyed, mut lines) = Caches::keys(&rules, &workspace.source(), stopper);
            let build = CacheUser {
                scope: &scope,
                workspace: &workspace,
                stopper,
                most_entries: context.settings.limits.workspace_entries,
                now: context.machine.now(),
            };
            lines.extend(keyed.iter().map(|keyed| context.caches.restore(keyed, &build)));
            (keyed, lines)
        });
        let (keyed, lines) = restored.await?;
        self.say_all(lines).await?;
        Ok(keyed)
    }

    pub(super) async fn save_caches(&self, keyed: Vec<ResolvedRule>) -> Result<(), AttemptError> {
        if keyed.is_empty() {
            return Ok(());
        }
        self.begin("save cache").await;
        let (context, lease, workspace) = self.shared();
        let saved = self.blocking(move |stopper| {
            let scope = cache_scope(&lease);
            let build = CacheUser {
                scope: &scope,
                workspace: &workspace,
                stopper,
                most_entries: context.settings.limits.workspace_entries,
                now: context.machine.now(),
            };
            let save = |keyed: &ResolvedRule| context.caches.save(keyed, &build);
            keyed.iter().map(save).collect::<Vec<_>>()
        });
        self.say_all(saved.await?).await
    }

    pub(super) async fn collect(&self, plan: Plan) -> Result<Vec<Artifact>, AttemptError> {
        let (source, record) = (self.workspace.source(), self.record.clone());
        let limits = &self.context.settings.limits;
        let bounds = ArtifactBounds {
            file_bytes: limits.artifact_bytes,
            entries: limits.workspace_entries,
        };
        let collected =
            self.blocking(move |stopper| artifacts::collect(&source, &plan.artifacts, &record, bounds, stopper));
        collected.await?.map_err(|error| match error {
            ArtifactError::Runner(error) => AttemptError::internal(format!("Cannot read an artifact: {error}")),
            error => AttemptError::Failed(BuildErrorCode::ArtifactMissing, sentence(&error.to_string())),
        })
    }

    /// Writes lines to the log, unless the build has been stopped.
    async fn say_all(&self, lines: Vec<String>) -> Result<(), AttemptError> {
        for line in lines {
            self.log.say(&line).await;
        }
        self.stopper.reason().map_or(Ok(()), |reason| Err(reason.into()))
    }
}

/// The scope of the caches that a build shares: its organization and cache scope.
fn cache_scope(lease: &Lease) -> String {
    let origin = match &lease.source {
        Source::Git { url, reference } => Origin::Git { url, reference },
        // Servers of an older release do not send the origin of the upload.
        Source::Archive { .. } => Origin::Alone(&lease.build_id),
    };
    let own = || cache::scope(&lease.bundle_id, lease.configuration.as_deref(), origin);
    let scope = lease.cache_scope.clone().unwrap_or_else(own);
    format!("{}\n{scope}", lease.org_id)
}
