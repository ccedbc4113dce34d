//! The records of a build, a runner and an artifact (`docs/reference/builds.md#build-record`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::Plan;
use super::{BuildErrorCode, BuildState};
use crate::configuration::Configuration;
use crate::fingerprint::Fingerprint;
use crate::id::{ArtifactId, BuildId, OrgId, RunnerId};
use crate::platform::Platform;
use crate::time::EpochMs;

/// A build.
#[derive(Clone, Debug, PartialEq)]
pub struct Build {
    /// `build_…`.
    pub id: BuildId,
    /// The organization it belongs to.
    pub org_id: OrgId,
    /// Its current state.
    pub state: BuildState,
    /// Its priority in the queue; greater values go first.
    pub priority: i64,
    /// The labels that a runner must have, sorted.
    pub labels: Vec<String>,
    /// The bundle id, in the spelling of the app's record.
    pub bundle_id: String,
    /// The target platform.
    pub platform: Platform,
    /// The configuration, if it has one.
    pub configuration: Option<Configuration>,
    /// The other parameters of the request.
    pub spec: Spec,
    /// The plan it follows, once it is known.
    pub plan: Option<Plan>,
    /// Where the plan comes from: `request`, `launchway.toml` or the framework whose preset it is.
    pub plan_origin: Option<String>,
    /// The fingerprint of its native code.
    pub fingerprint: Option<Fingerprint>,
    /// The runner that executes it, or that executed it last.
    pub runner_id: Option<RunnerId>,
    /// Its phases so far.
    pub phases: Vec<PhaseRecord>,
    /// Why it failed.
    pub error: Option<BuildFailure>,
    /// Problems that did not fail the build, one sentence each.
    pub warnings: Vec<String>,
    /// The build that it retries.
    pub parent_id: Option<BuildId>,
    /// Size of its log in bytes.
    pub log_size: i64,
    /// The actor that requested it, as text.
    pub created_by: String,
    /// When it was requested.
    pub created_at: EpochMs,
    /// When a runner first claimed it.
    pub started_at: Option<EpochMs>,
    /// When it ended.
    pub finished_at: Option<EpochMs>,
}

/// The parameters of a request that neither lists nor the queue use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// The profile of `launchway.toml`.
    pub profile: Option<String>,
    /// `debug` or `release`.
    pub build_type: String,
    /// `store`, `internal`, `simulator` or `development`.
    pub distribution: String,
    /// The version; the project's own when `None`.
    pub version: Option<String>,
    /// The build number; the project's own when `None`.
    pub build_number: Option<String>,
    /// Where the source comes from.
    pub source: SourceRecord,
    /// Git metadata of the source.
    pub git: Option<GitFacts>,
    /// What the request left to the profile in the source.
    #[serde(default, skip_serializing_if = "Undecided::is_nothing")]
    pub undecided: Undecided,
}

/// The values that a request without a plan left open: the server's defaults hold until the runner has read the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undecided {
    /// The build type.
    pub build_type: bool,
    /// The distribution.
    pub distribution: bool,
    /// The configuration.
    pub configuration: bool,
}

impl Undecided {
    /// Whether the request decided everything.
    pub fn is_nothing(&self) -> bool {
        *self == Undecided::default()
    }
}

/// The source of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceRecord {
    /// Bytes in object storage.
    Archive {
        /// Its key in object storage.
        blob_key: String,
        /// The original file name.
        file_name: String,
        /// Size in bytes.
        size: i64,
        /// Lower-case hex SHA-256.
        sha256: String,
    },
    /// A git repository.
    Git {
        /// Its URL.
        url: String,
        /// Branch, tag or commit, with the directory of the project: the text of a [`super::git::Revision`].
        reference: String,
    },
}

impl SourceRecord {
    /// The key of the source in object storage; `None` for a git repository.
    pub fn blob_key(&self) -> Option<&str> {
        match self {
            SourceRecord::Archive { blob_key, .. } => Some(blob_key),
            SourceRecord::Git { .. } => None,
        }
    }
}

/// Git metadata of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitFacts {
    /// The commit.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// The commit's message.
    pub message: Option<String>,
    /// Whether the working tree had uncommitted changes.
    pub dirty: Option<bool>,
}

/// A phase of a build: a step, or what the runner does before and after the steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Its name.
    pub name: String,
    /// When it began.
    pub started_at: EpochMs,
    /// When it ended.
    pub finished_at: Option<EpochMs>,
    /// The exit code of a step.
    pub exit_code: Option<i32>,
}

/// Why a build failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildFailure {
    /// The kind of failure.
    pub code: BuildErrorCode,
    /// The phase in which it failed.
    pub phase: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}

/// A machine that executes builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    /// `runner_…`.
    pub id: RunnerId,
    /// The organization whose builds it executes; `None` for every organization's.
    pub org_id: Option<OrgId>,
    /// Its display name.
    pub name: String,
    /// Its labels, sorted.
    pub labels: Vec<String>,
    /// Number of builds at a time.
    pub slots: i64,
    /// The version of the runner program.
    pub version: String,
    /// The actor that created its enrollment token, as text.
    pub created_by: String,
    /// When it enrolled.
    pub created_at: EpochMs,
    /// When it last called.
    pub last_seen_at: EpochMs,
    /// When its access was revoked.
    pub revoked_at: Option<EpochMs>,
}

/// A file that a build produced.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// `artifact_…`.
    pub id: ArtifactId,
    /// The build.
    pub build_id: BuildId,
    /// The attempt that produced it.
    pub attempt: u32,
    /// Whether its bytes are stored and verified.
    pub is_stored: bool,
    /// The kind of artifact, such as `apk`.
    pub kind: String,
    /// Its file name.
    pub name: String,
    /// Size in bytes.
    pub size: i64,
    /// Lower-case hex SHA-256.
    pub sha256: String,
    /// Its key in object storage.
    pub blob_key: String,
    /// Metadata read from the file.
    pub facts: Option<Value>,
    /// When it was announced.
    pub created_at: EpochMs,
}
