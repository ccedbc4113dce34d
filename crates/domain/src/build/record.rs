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
    /// Whose it is.
    pub org_id: OrgId,
    /// Where it stands.
    pub state: BuildState,
    /// What goes first in the queue: the greater.
    pub priority: i64,
    /// What a runner must be, sorted.
    pub labels: Vec<String>,
    /// The app, as the app's record writes it.
    pub bundle_id: String,
    /// What it is for.
    pub platform: Platform,
    /// The configuration, if it has one.
    pub configuration: Option<Configuration>,
    /// What was asked for besides.
    pub spec: Spec,
    /// The plan it follows, once it is known.
    pub plan: Option<Plan>,
    /// Where the plan comes from: `request`, `launchway.toml` or the framework whose preset it is.
    pub plan_origin: Option<String>,
    /// What it is natively.
    pub fingerprint: Option<Fingerprint>,
    /// Which runner has it, or had it last.
    pub runner_id: Option<RunnerId>,
    /// Its phases so far.
    pub phases: Vec<PhaseRecord>,
    /// Why it failed.
    pub error: Option<BuildFailure>,
    /// What did not fit but did not stop it, a sentence each.
    pub warnings: Vec<String>,
    /// The build that it is another try of.
    pub parent_id: Option<BuildId>,
    /// Bytes of its log.
    pub log_size: i64,
    /// Who asked for it.
    pub created_by: String,
    /// When.
    pub created_at: EpochMs,
    /// When a runner took it first.
    pub started_at: Option<EpochMs>,
    /// When it ended.
    pub finished_at: Option<EpochMs>,
}

/// What was asked for, beside what lists and the queue look at.
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
    /// What git says of the source.
    pub git: Option<GitFacts>,
}

/// Where the source of a build comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceRecord {
    /// Bytes in object storage.
    Archive {
        /// Where.
        blob_key: String,
        /// The name they were sent under.
        file_name: String,
        /// Bytes.
        size: i64,
        /// Lower-case hex SHA-256.
        sha256: String,
    },
    /// A git repository.
    Git {
        /// Its address.
        url: String,
        /// Branch, tag or commit.
        reference: String,
    },
}

impl SourceRecord {
    /// Where it lies in object storage; `None` when it lies elsewhere.
    pub fn blob_key(&self) -> Option<&str> {
        match self {
            SourceRecord::Archive { blob_key, .. } => Some(blob_key),
            SourceRecord::Git { .. } => None,
        }
    }
}

/// What git says of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitFacts {
    /// The commit.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// The commit's message.
    pub message: Option<String>,
    /// Whether there was more than the commit.
    pub dirty: Option<bool>,
}

/// A part of a build: a step, or what the runner does around them.
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
    /// The phase in which it happened.
    pub phase: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}

/// A machine that makes builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    /// `runner_…`.
    pub id: RunnerId,
    /// Whose builds it makes; `None` is everybody's.
    pub org_id: Option<OrgId>,
    /// What people call it.
    pub name: String,
    /// What it is and has, sorted.
    pub labels: Vec<String>,
    /// Builds at a time.
    pub slots: i64,
    /// The version of its program.
    pub version: String,
    /// Who let it in.
    pub created_by: String,
    /// When it enrolled.
    pub created_at: EpochMs,
    /// When it was last heard of.
    pub last_seen_at: EpochMs,
    /// When it was shut out.
    pub revoked_at: Option<EpochMs>,
}

/// A file that a build gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// `artifact_…`.
    pub id: ArtifactId,
    /// The build.
    pub build_id: BuildId,
    /// The try of it.
    pub attempt: u32,
    /// Whether its bytes are there and checked.
    pub is_stored: bool,
    /// What it is, such as `apk`.
    pub kind: String,
    /// Its file name.
    pub name: String,
    /// Bytes.
    pub size: i64,
    /// Lower-case hex SHA-256.
    pub sha256: String,
    /// Where it lies in object storage.
    pub blob_key: String,
    /// What it says about itself.
    pub facts: Option<Value>,
    /// When it was announced.
    pub created_at: EpochMs,
}
