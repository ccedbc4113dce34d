//! The messages between runners and the server, under `/runner`. Runners poll; nothing connects to them
//! (`docs/reference/builds.md#runners`).
//!
//! A request about a build carries the fencing number `attempt`. The server refuses requests of another attempt
//! with 400, and the runner then drops the build. Every response about a build carries `cancel`.

use std::collections::BTreeMap;
use std::fmt;

use launchway_domain::build::plan::Plan;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::open;
use crate::secret::SecretText;

/// `POST /runner/enrol`, with the one-time token as Bearer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Enroll {
    /// The machine's display name.
    #[schema(min_length = 1, max_length = 100, example = "mac-mini-1")]
    pub name: String,
    /// The labels that describe the machine, such as `os=macos`.
    #[schema(example = json!(["os=linux", "arch=x86_64"]))]
    pub labels: Vec<String>,
    /// The number of builds to execute at a time, 1 to 64.
    #[schema(minimum = 1, maximum = 64)]
    pub slots: u32,
    /// The version of the runner program.
    #[schema(max_length = 100)]
    pub version: String,
}

/// The response to an enrollment, the only one that carries the token.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Enrolled {
    /// `runner_…`.
    pub id: String,
    /// `active`.
    pub status: open::ActiveStatus,
    /// The token that the runner sends from now on, as Bearer.
    pub token: String,
}

impl fmt::Debug for Enrolled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Enrolled({})", self.id)
    }
}

/// `POST /runner/lease`: claims a build, waiting for one if necessary.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskLease {
    /// The machine's current labels.
    pub labels: Vec<String>,
    /// The version of the runner program.
    #[schema(max_length = 100)]
    pub version: String,
    /// The number of seconds to wait for a build, at most 30.
    #[schema(minimum = 0, maximum = 30)]
    pub wait_seconds: u32,
}

/// The response: a build, or none yet.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseAnswer {
    /// The build; null if there was none in time.
    pub lease: Option<Lease>,
}

/// A build that a runner has leased.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// `build_…`.
    pub build_id: String,
    /// The organization. Caches are separate for each.
    pub org_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// The number of seconds until the lease expires without a renewal.
    pub lease_seconds: u32,
    /// The number of seconds between renewals.
    pub renew_seconds: u32,
    /// The offset at which the log continues, in bytes.
    pub log_offset: u64,
    /// The app.
    pub bundle_id: String,
    /// `ios`, `android` or `visionos`.
    pub platform: open::Platform,
    /// The configuration, if the build has one.
    pub configuration: Option<String>,
    /// The profile of `launchway.toml` to build.
    pub profile: Option<String>,
    /// `debug` or `release`.
    pub build_type: open::BuildType,
    /// `store`, `internal`, `simulator` or `development`.
    pub distribution: open::Distribution,
    /// The version to build; null means the project's own.
    pub version: Option<String>,
    /// The build number to build; null means the project's own.
    pub build_number: Option<String>,
    /// The source.
    pub source: Source,
    /// The plan; null if the runner computes it from the source.
    #[schema(value_type = Option<Object>)]
    pub plan: Option<Plan>,
    /// Environment variables and files.
    pub env: Vec<LeasedVariable>,
    /// The credentials that sign the app.
    pub credentials: Vec<LeasedCredential>,
    /// Which builds of the organization share caches with this one; null from an older server.
    #[serde(default)]
    pub cache_scope: Option<String>,
    /// What the profile in the source decides; nothing from an older server.
    #[serde(default)]
    pub undecided: Undecided,
}

/// The values of a build that its request left to the profile in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Undecided {
    /// The build type.
    pub build_type: bool,
    /// The distribution.
    pub distribution: bool,
    /// The configuration.
    pub configuration: bool,
}

/// The values of the profile in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProfileValues {
    /// `debug` or `release`.
    pub build_type: open::BuildType,
    /// `store`, `internal`, `simulator` or `development`.
    pub distribution: open::Distribution,
    /// The configuration; null if the profile has none.
    pub configuration: Option<String>,
}

/// The source of a build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Source {
    /// An archive in object storage.
    #[serde(rename_all = "camelCase")]
    Archive {
        /// The pre-signed download URL.
        url: String,
        /// The file name; its extension is the format.
        file_name: String,
        /// The size in bytes.
        size: u64,
        /// The SHA-256 in lower-case hex.
        sha256: String,
    },
    /// A git repository.
    #[serde(rename_all = "camelCase")]
    Git {
        /// The URL.
        url: String,
        /// A branch, a tag or a commit; `REF:DIRECTORY` if the project is in a directory of the repository.
        #[serde(rename = "ref")]
        reference: String,
    },
}

/// An environment variable for a build.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeasedVariable {
    /// The name.
    pub name: String,
    /// The value, or the content of a file.
    #[schema(value_type = String)]
    pub value: SecretText,
    /// The path of a file in the workspace; null for a variable.
    pub path: Option<String>,
    /// Whether it is masked in the log.
    pub secret: bool,
}

/// A credential for a build.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeasedCredential {
    /// `credential_…`.
    pub id: String,
    /// The kind, such as `android_keystore`.
    pub kind: open::CredentialKind,
    /// The display name.
    pub name: String,
    /// The file, in base64.
    #[schema(value_type = String)]
    pub content: SecretText,
    /// The passwords and names that open the file, such as `password`, `alias`, `keyPassword`.
    #[schema(value_type = BTreeMap<String, String>)]
    pub secrets: BTreeMap<String, SecretText>,
    /// Metadata that was read from the file.
    #[schema(value_type = Object)]
    pub facts: Value,
}

/// A phase of a build: a step, or the runner's own work before and after the steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Phase {
    /// The name.
    #[schema(max_length = 100)]
    pub name: String,
    /// When it started.
    pub started_at: String,
    /// When it ended; null while it runs.
    pub finished_at: Option<String>,
    /// The exit code of a finished step; null if there is none.
    pub exit_code: Option<i32>,
}

/// `POST /runner/renew`: renews the lease of a build.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Renew {
    /// The build.
    pub build_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// The phases so far, in order.
    pub phases: Vec<Phase>,
}

/// The server's instructions about a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AttemptReply)]
pub struct AttemptReply {
    /// Whether to stop the build.
    pub cancel: bool,
    /// The offset at which the log continues; the server has stored all bytes before it.
    pub log_offset: u64,
}

/// `POST /runner/plan`: the plan that the runner computed from the source.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TellPlan {
    /// The build.
    pub build_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// The plan that the runner follows.
    #[schema(value_type = Object)]
    pub plan: Plan,
    /// The plan's origin: `request`, `launchway.toml`, or the framework whose preset it is.
    #[schema(max_length = 100)]
    pub origin: open::PlanOrigin,
    /// The commit id of a git source; null for an archive.
    #[schema(max_length = 64)]
    #[serde(default)]
    pub commit: Option<String>,
    /// The values of the profile, if the lease left any to it. If they are others than the lease has, the runner loses
    /// the build, which starts again with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileValues>,
}

/// `POST /runner/artifacts`: announces an artifact.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnnounceArtifact {
    /// The build.
    pub build_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// The kind, such as `apk`.
    #[schema(max_length = 32)]
    pub kind: String,
    /// The file name.
    #[schema(max_length = 255)]
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// The SHA-256 in lower-case hex.
    #[schema(min_length = 64, max_length = 64)]
    pub sha256: String,
}

/// The upload of an artifact.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactTarget {
    /// `artifact_…`.
    pub id: String,
    /// `pending`.
    pub status: open::PendingStatus,
    /// The pre-signed URL for the PUT.
    pub url: String,
    /// When the URL expires.
    pub expires_at: String,
    /// Whether to stop the build.
    pub cancel: bool,
}

/// `POST /runner/finish`: the result of a build. Runners repeat it until it is acknowledged; repetitions change nothing.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Finish {
    /// The build.
    pub build_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// `success`, `failed` or `canceled`.
    pub status: open::BuildResult,
    /// The error; only with `failed`.
    pub error: Option<BuildError>,
    /// All phases.
    pub phases: Vec<Phase>,
    /// The artifacts that were uploaded.
    pub artifacts: Vec<String>,
    /// The length of the whole log in bytes. The server refuses the result until it has stored all of them.
    pub log_size: u64,
    /// The fingerprint of the native code, or its document.
    #[schema(value_type = Option<Object>)]
    pub fingerprint: Option<Value>,
    /// Problems that did not fail the build, one sentence each; the first 50 are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Why a build failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BuildError {
    /// `STEP_FAILED`, `TIMED_OUT`, `RUNNER_LOST`, `EXPIRED`, `SOURCE_INVALID`, `ARTIFACT_MISSING` or `INTERNAL`.
    pub code: open::BuildErrorCode,
    /// The phase that failed.
    pub phase: Option<String>,
    /// What is wrong and what to do.
    #[schema(max_length = 2000)]
    pub message: String,
}

/// The response to the result of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finished {
    /// The build.
    pub id: String,
    /// The build's status.
    pub status: open::BuildStatus,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::ActiveStatus;

    #[test]
    fn a_source_tells_its_kind() {
        let git = Source::Git {
            url: "https://example.com/app.git".to_owned(),
            reference: "main".to_owned(),
        };
        let json = serde_json::json!({"kind": "git", "url": "https://example.com/app.git", "ref": "main"});
        assert_eq!(serde_json::to_value(&git).expect("JSON"), json);
        assert_eq!(serde_json::from_value::<Source>(json).expect("a source"), git);
    }

    #[test]
    fn nothing_secret_is_printed() {
        let variable = LeasedVariable {
            name: "TOKEN".to_owned(),
            value: SecretText::new("hunter2".to_owned()),
            path: None,
            secret: true,
        };
        assert!(!format!("{variable:?}").contains("hunter2"));
        let enrolled = Enrolled {
            id: "runner_x".to_owned(),
            status: ActiveStatus::Active.into(),
            token: "hunter2".to_owned(),
        };
        assert!(!format!("{enrolled:?}").contains("hunter2"));
    }
}
