//! Builds and their artifacts (`docs/reference/builds.md#build-record`).

use launchway_domain::build::plan::Plan;
use launchway_domain::build::{Artifact, Build, GitFacts, PhaseRecord};
use launchway_domain::time::{SECOND, iso};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::open;
use crate::runner::BuildError;
use crate::updates::{FingerprintInput, TextOrNumber};

/// `POST /build`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateBuild {
    /// The app.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
    /// `ios`, `android` or `visionos`.
    #[schema(example = "android")]
    pub platform: open::Platform,
    /// The source: `{"uploadId": …}` or `{"git": {"url": …, "ref": …, "directory": …}}`.
    pub source: BuildSource,
    /// The profile in `launchway.toml`.
    #[schema(example = "production")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The configuration, such as `production`. It selects the environment variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// The semantic version to build. Defaults to the project's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// 1 to 18 digits as text or number. `"auto"` reserves the next number of the app and platform. Defaults to the project's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_number: Option<TextOrNumber>,
    /// `debug` or `release`. Defaults to `release`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_type: Option<open::BuildType>,
    /// `store`, `internal`, `simulator` or `development`. Defaults to `store`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<open::Distribution>,
    /// The fingerprint of the native code: a hash, or the `lwfp-1` or `lwfp-2` document. The runner computes it if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<FingerprintInput>,
    /// The git commit of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<GitView>,
    /// The build plan that `launchway.toml` resolves to. If absent, the runner computes it from the source.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The priority in the organization's queue, -100 to 100; higher goes first. Defaults to 0.
    #[schema(minimum = -100, maximum = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
}

/// The source of a build: exactly one of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BuildSource {
    /// An uploaded archive: `.tar.gz`, `.tar.zst` or `.zip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    /// A git repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<GitSource>,
}

/// A git repository as a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GitSource {
    /// `https://…`, `ssh://user@host/path` or `user@host:path`.
    #[schema(example = "https://git.example.com/app.git")]
    pub url: String,
    /// A branch, a tag or a full commit id.
    #[schema(example = "main")]
    #[serde(rename = "ref")]
    pub reference: String,
    /// The directory of the project in the repository, with `launchway.toml`, such as `apps/mobile`. Defaults to the root.
    #[schema(max_length = 255, example = "apps/mobile")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// The git commit of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GitView {
    /// The commit id.
    #[schema(max_length = 64)]
    pub commit: Option<String>,
    /// The branch.
    #[schema(max_length = 255)]
    pub branch: Option<String>,
    /// The commit message; the first 1,000 characters are kept.
    pub message: Option<String>,
    /// Whether the working tree had uncommitted changes.
    pub dirty: Option<bool>,
}

/// A build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Build)]
pub struct BuildView {
    /// `build_…`.
    pub id: String,
    /// `queued`, `running`, `success`, `failed` or `canceled`.
    pub status: open::BuildStatus,
    /// The app.
    pub bundle_id: String,
    /// `ios`, `android` or `visionos`.
    pub platform: open::Platform,
    /// The configuration, if it has one.
    pub configuration: Option<String>,
    /// The profile in `launchway.toml`.
    pub profile: Option<String>,
    /// `debug` or `release`.
    pub build_type: open::BuildType,
    /// `store`, `internal`, `simulator` or `development`.
    pub distribution: open::Distribution,
    /// The version; null until the build has read it from the project.
    pub version: Option<String>,
    /// The build number; null until the build has read it from the project.
    pub build_number: Option<String>,
    /// The fingerprint's hash; null until known.
    pub fingerprint: Option<String>,
    /// The git commit of the source.
    pub git: Option<GitView>,
    /// The priority among the organization's builds; higher goes first.
    pub priority: i64,
    /// The number of the current attempt, from 1.
    pub attempt: u32,
    /// The phase that is running, or ran last.
    pub phase: Option<String>,
    /// All phases so far.
    pub phases: Vec<PhaseView>,
    /// The number of the organization's builds ahead in the queue; 1000 means 1000 or more; null if the build is not queued.
    pub queue_position: Option<i64>,
    /// Why the build is waiting, as a sentence; null if it is not queued.
    pub waiting_for: Option<String>,
    /// The runner that executes the build, or executed it last.
    pub runner: Option<String>,
    /// Whether cancellation was requested and has not finished.
    pub cancel_requested: bool,
    /// Why the build failed.
    pub error: Option<BuildError>,
    /// Problems that did not fail the build, one sentence each.
    pub warnings: Vec<String>,
    /// The artifacts.
    pub artifacts: Vec<ArtifactView>,
    /// The install page of a finished build whose app devices can install from a link.
    pub install: Option<InstallLink>,
    /// The length of the log so far, in bytes.
    pub log_size: i64,
    /// The build that this one retries.
    pub parent_id: Option<String>,
    /// Who created it: a user id or a key id.
    pub created_by: String,
    /// When it was created.
    pub created_at: String,
    /// When a runner first claimed it.
    pub started_at: Option<String>,
    /// When it ended.
    pub finished_at: Option<String>,
}

/// A phase of a build: a step, or the runner's own work before and after the steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BuildPhase)]
pub struct PhaseView {
    /// The name.
    pub name: String,
    /// When it started.
    pub started_at: String,
    /// When it ended; null while it runs.
    pub finished_at: Option<String>,
    /// The duration in seconds; null while it runs.
    pub seconds: Option<f64>,
    /// The exit code of a finished step; null if there is none.
    pub exit_code: Option<i32>,
}

/// A file that a build produced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Artifact)]
pub struct ArtifactView {
    /// `artifact_…`.
    pub id: String,
    /// The kind, such as `apk`.
    pub kind: String,
    /// The file name.
    pub name: String,
    /// The size in bytes.
    pub size: i64,
    /// The SHA-256 in lower-case hex.
    pub sha256: String,
    /// What the app's own metadata says: bundle id, version, build number, minimum OS, signing certificate.
    #[schema(value_type = Option<Object>)]
    pub facts: Option<Value>,
    /// The pre-signed download URL.
    pub url: String,
    /// When the URL expires.
    pub expires_at: String,
}

/// A link that expires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallLink {
    /// The page's URL. The page needs no sign-in.
    pub url: String,
    /// When it expires.
    pub expires_at: String,
}

/// What the view of a build needs in addition to its record.
#[derive(Clone, Debug, Default)]
pub struct BuildContext {
    /// The runner's name.
    pub runner: Option<String>,
    /// The number of builds ahead in the queue.
    pub queue_position: Option<i64>,
    /// Why it is waiting.
    pub waiting_for: Option<String>,
    /// The artifacts, each with its URL.
    pub artifacts: Vec<ArtifactView>,
    /// The install link.
    pub install: Option<InstallLink>,
}

/// `GET /build/plan?id=`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildPlan {
    /// `build_…`.
    pub id: String,
    /// The build's status.
    pub status: open::BuildStatus,
    /// The plan; null until the source was read.
    #[schema(value_type = Option<Object>)]
    pub plan: Option<Plan>,
    /// The plan's origin: `request`, `launchway.toml`, or the framework whose preset it is.
    pub origin: Option<open::PlanOrigin>,
}

/// The data of a `log` event of `GET /build/log/stream`. The event id is the offset after these bytes. The other events
/// are `build`, sent when the status or phase changes, and `end`, the last one; both carry the build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogEvent {
    /// The offset of this text in the log, in bytes.
    pub offset: i64,
    /// The text. Bytes that are not UTF-8 are replaced by `U+FFFD`.
    pub text: String,
}

impl From<&GitFacts> for GitView {
    fn from(git: &GitFacts) -> Self {
        Self {
            commit: git.commit.clone(),
            branch: git.branch.clone(),
            message: git.message.clone(),
            dirty: git.dirty,
        }
    }
}

impl From<&PhaseRecord> for PhaseView {
    fn from(phase: &PhaseRecord) -> Self {
        let seconds = |end| (end - phase.started_at) as f64 / SECOND as f64;
        Self {
            name: phase.name.clone(),
            started_at: iso(phase.started_at),
            finished_at: phase.finished_at.map(iso),
            seconds: phase.finished_at.map(seconds),
            exit_code: phase.exit_code,
        }
    }
}

impl ArtifactView {
    /// An artifact with its download URL, which expires at `expires_at`.
    pub fn of(artifact: &Artifact, url: String, expires_at: String) -> Self {
        Self {
            id: artifact.id.to_string(),
            kind: artifact.kind.clone(),
            name: artifact.name.clone(),
            size: artifact.size,
            sha256: artifact.sha256.clone(),
            facts: artifact.facts.clone(),
            url,
            expires_at,
        }
    }
}

impl BuildView {
    /// The view of a build, from its record and the parts stored elsewhere.
    pub fn of(build: &Build, context: BuildContext) -> Self {
        let (state, spec) = (&build.state, &build.spec);
        Self {
            id: build.id.to_string(),
            status: state.status.into(),
            bundle_id: build.bundle_id.clone(),
            platform: build.platform.into(),
            configuration: build.configuration.as_ref().map(|label| label.as_str().to_owned()),
            profile: spec.profile.clone(),
            build_type: open::BuildType::of(&spec.build_type),
            distribution: open::Distribution::of(&spec.distribution),
            version: spec.version.clone(),
            build_number: spec.build_number.clone(),
            fingerprint: build.fingerprint.as_ref().map(|hash| hash.as_str().to_owned()),
            git: spec.git.as_ref().map(GitView::from),
            priority: build.priority,
            attempt: state.attempt,
            phase: build.phases.last().map(|phase| phase.name.clone()),
            phases: build.phases.iter().map(PhaseView::from).collect(),
            queue_position: context.queue_position,
            waiting_for: context.waiting_for,
            runner: context.runner,
            cancel_requested: state.cancel_requested && !state.status.is_final(),
            error: build.error.as_ref().map(|error| BuildError {
                code: error.code.into(),
                phase: error.phase.clone(),
                message: error.message.clone(),
            }),
            warnings: build.warnings.clone(),
            artifacts: context.artifacts,
            install: context.install,
            log_size: build.log_size,
            parent_id: build.parent_id.map(|id| id.to_string()),
            created_by: build.created_by.clone(),
            created_at: iso(build.created_at),
            started_at: build.started_at.map(iso),
            finished_at: build.finished_at.map(iso),
        }
    }
}
