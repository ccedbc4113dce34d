//! The runners that execute builds, as their owners see them (`docs/reference/builds.md#managing-runners`).

use launchway_domain::build::{Runner, RunnerStatus};
use launchway_domain::time::iso;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;

/// A machine that executes builds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Runner)]
pub struct RunnerView {
    /// `runner_…`.
    pub id: String,
    /// `online`, `offline` or `revoked`.
    pub status: open::RunnerStatus,
    /// The display name.
    pub name: String,
    /// The labels that describe the machine, such as `os=macos`.
    pub labels: Vec<String>,
    /// The number of builds that it executes at a time.
    pub slots: i64,
    /// The version of the runner program.
    pub version: String,
    /// Whether it serves every organization of the server.
    pub shared: bool,
    /// Who created its enrollment token.
    pub created_by: String,
    /// When it enrolled.
    pub created_at: String,
    /// When the server last heard from it.
    pub last_seen_at: String,
}

/// `POST /runners/tokens`: the token that enrolls one runner. It is shown once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnerToken {
    /// The token to pass to `launchway runner`; absent when an idempotent request is repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// When it expires.
    pub expires_at: String,
}

impl RunnerView {
    /// The view of a runner; `is_online` is whether the server heard from it recently.
    pub fn of(runner: &Runner, is_online: bool) -> Self {
        let status = match (runner.revoked_at, is_online) {
            (Some(_), _) => RunnerStatus::Revoked,
            (None, true) => RunnerStatus::Online,
            (None, false) => RunnerStatus::Offline,
        };
        Self {
            id: runner.id.to_string(),
            status: status.into(),
            name: runner.name.clone(),
            labels: runner.labels.clone(),
            slots: runner.slots,
            version: runner.version.clone(),
            shared: runner.org_id.is_none(),
            created_by: runner.created_by.clone(),
            created_at: iso(runner.created_at),
            last_seen_at: iso(runner.last_seen_at),
        }
    }
}
