//! Builds, their artifacts and the runners that execute them (`docs/reference/builds.md#build-record`).

use launchway_domain::build::plan::Plan;
use launchway_domain::build::{Artifact, Build, GitFacts, PhaseRecord, Runner, RunnerStatus};
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
    /// Where the source comes from: `{"uploadId": …}` or `{"git": {"url": …, "ref": …}}`.
    pub source: BuildSource,
    /// The profile of `launchway.toml`.
    #[schema(example = "production")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The configuration, such as `production`: environment variables are chosen by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// Semantic version to build; the project's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// 1 to 18 digits as text or number; `"auto"` reserves the next one of app and platform; the project's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_number: Option<TextOrNumber>,
    /// `debug` or `release`; `release` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_type: Option<open::BuildType>,
    /// `store`, `internal`, `simulator` or `development`; `store` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<open::Distribution>,
    /// What the source is natively: a hash, or the `lwfp-1` or `lwfp-2` document. The runner reckons it when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<FingerprintInput>,
    /// What git says of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<GitView>,
    /// What to do: what `launchway.toml` resolves to. The runner reads the source when absent.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What goes first in the queue: the greater, -100 to 100; 0 when absent.
    #[schema(minimum = -100, maximum = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
}

/// Where the source of a build comes from. Exactly one of the two.
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
    /// Branch, tag or whole commit id.
    #[schema(example = "main")]
    #[serde(rename = "ref")]
    pub reference: String,
}

/// What git says of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GitView {
    /// The commit.
    #[schema(max_length = 64)]
    pub commit: Option<String>,
    /// The branch.
    #[schema(max_length = 255)]
    pub branch: Option<String>,
    /// The commit's message; its first 1,000 characters are kept.
    pub message: Option<String>,
    /// Whether there was more than the commit.
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
    /// The profile of `launchway.toml`.
    pub profile: Option<String>,
    /// `debug` or `release`.
    pub build_type: open::BuildType,
    /// `store`, `internal`, `simulator` or `development`.
    pub distribution: open::Distribution,
    /// The version; null while only the project knows it.
    pub version: Option<String>,
    /// The build number; null while only the project knows it.
    pub build_number: Option<String>,
    /// The hash of what it is natively; null until known.
    pub fingerprint: Option<String>,
    /// What git says of the source.
    pub git: Option<GitView>,
    /// What goes first among the builds of the organization: the greater.
    pub priority: i64,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// The part of it that runs, or ran last.
    pub phase: Option<String>,
    /// All of its parts so far.
    pub phases: Vec<PhaseView>,
    /// How many builds of the organization go before it, from 0; 1000 stands for 1000 or more; null when it does not wait.
    pub queue_position: Option<i64>,
    /// What it waits for, as a sentence; null when it does not wait.
    pub waiting_for: Option<String>,
    /// The runner that has it, or had it last.
    pub runner: Option<String>,
    /// Whether it was asked to stop and has not yet.
    pub cancel_requested: bool,
    /// Why it failed.
    pub error: Option<BuildError>,
    /// What did not fit but did not stop it, a sentence each.
    pub warnings: Vec<String>,
    /// What it gave.
    pub artifacts: Vec<ArtifactView>,
    /// The page to install it from, for a finished build with an app that devices install by a link.
    pub install: Option<InstallLink>,
    /// Bytes of its log so far.
    pub log_size: i64,
    /// The build that it is another try of.
    pub parent_id: Option<String>,
    /// Who asked for it: a user id or a key id.
    pub created_by: String,
    /// When it was asked for.
    pub created_at: String,
    /// When a runner took it first.
    pub started_at: Option<String>,
    /// When it ended.
    pub finished_at: Option<String>,
}

/// A part of a build: a step, or what the runner does around them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BuildPhase)]
pub struct PhaseView {
    /// Its name.
    pub name: String,
    /// When it began.
    pub started_at: String,
    /// When it ended; null while it runs.
    pub finished_at: Option<String>,
    /// Seconds it took; null while it runs.
    pub seconds: Option<f64>,
    /// The exit code of a step that ended; null where there is none.
    pub exit_code: Option<i32>,
}

/// A file that a build gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Artifact)]
pub struct ArtifactView {
    /// `artifact_…`.
    pub id: String,
    /// What it is, such as `apk`.
    pub kind: String,
    /// Its file name.
    pub name: String,
    /// Bytes.
    pub size: i64,
    /// Lower-case hex SHA-256.
    pub sha256: String,
    /// What an app says about itself: bundle id, version, build number, minimum OS, signing certificate.
    #[schema(value_type = Option<Object>)]
    pub facts: Option<Value>,
    /// The pre-signed URL to get it from.
    pub url: String,
    /// When the URL stops working.
    pub expires_at: String,
}

/// A link that expires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallLink {
    /// The page, which needs no sign-in.
    pub url: String,
    /// When it stops working.
    pub expires_at: String,
}

/// What reading a build needs beside its record.
#[derive(Clone, Debug, Default)]
pub struct BuildContext {
    /// The runner's name.
    pub runner: Option<String>,
    /// Builds that go before it.
    pub queue_position: Option<i64>,
    /// What it waits for.
    pub waiting_for: Option<String>,
    /// What it gave, each with its URL.
    pub artifacts: Vec<ArtifactView>,
    /// Where to install it from.
    pub install: Option<InstallLink>,
}

/// `GET /build/plan?id=`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildPlan {
    /// `build_…`.
    pub id: String,
    /// Where the build stands.
    pub status: open::BuildStatus,
    /// What is done; null until the source was read.
    #[schema(value_type = Option<Object>)]
    pub plan: Option<Plan>,
    /// Where the plan comes from: `request`, `launchway.toml`, or the framework whose preset it is.
    pub origin: Option<open::PlanOrigin>,
}

/// The data of a `log` event of `GET /build/log/stream`. Its event id is the offset after these bytes. The other events
/// are `build`, when status or phase changed, and `end`, the last one; both carry the build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogEvent {
    /// Bytes of the log before these.
    pub offset: i64,
    /// What follows. What is no UTF-8 stands as `U+FFFD`.
    pub text: String,
}

/// A machine that makes builds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Runner)]
pub struct RunnerView {
    /// `runner_…`.
    pub id: String,
    /// `online`, `offline` or `revoked`.
    pub status: open::RunnerStatus,
    /// What people call it.
    pub name: String,
    /// What it is and has.
    pub labels: Vec<String>,
    /// Builds at a time.
    pub slots: i64,
    /// The version of its program.
    pub version: String,
    /// Whether it works for every organization of the server.
    pub shared: bool,
    /// Who let it in.
    pub created_by: String,
    /// When it enrolled.
    pub created_at: String,
    /// When it was last heard of.
    pub last_seen_at: String,
}

/// `POST /runners/tokens`: the token that enrols one runner, shown once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnerToken {
    /// What `launchway runner` is given, once; absent when an idempotent request is answered again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// When it stops working.
    pub expires_at: String,
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
    /// An artifact with the URL to get it from, which works until `expires_at`.
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
    /// A build with what stands elsewhere.
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

impl RunnerView {
    /// A runner; `is_online` says whether it was heard of lately.
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
