//! The messages between runners and the server, under `/runner`. Runners poll; nothing connects to them
//! (`docs/reference/builds.md#runners`).
//!
//! A call that names a build carries the fencing number `attempt`; what a runner sends of another attempt is refused
//! with 400, and the runner then drops the build. `cancel` rides on every answer about a build.

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
pub struct Enrol {
    /// What people call the machine.
    #[schema(min_length = 1, max_length = 100, example = "mac-mini-1")]
    pub name: String,
    /// What it is and has, such as `os=macos`.
    #[schema(example = json!(["os=linux", "arch=x86_64"]))]
    pub labels: Vec<String>,
    /// Builds at a time, 1 to 64.
    #[schema(minimum = 1, maximum = 64)]
    pub slots: u32,
    /// The version of its program.
    #[schema(max_length = 100)]
    pub version: String,
}

/// The answer to an enrolment, the only one that carries the token.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Enrolled {
    /// `runner_…`.
    pub id: String,
    /// `active`.
    pub status: open::ActiveStatus,
    /// What the runner shows from now on, as Bearer.
    pub token: String,
}

impl fmt::Debug for Enrolled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Enrolled({})", self.id)
    }
}

/// `POST /runner/lease`: asks for a build, and waits for one.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskLease {
    /// What the machine is and has now.
    pub labels: Vec<String>,
    /// The version of its program.
    #[schema(max_length = 100)]
    pub version: String,
    /// Seconds to wait for a build, at most 30.
    #[schema(minimum = 0, maximum = 30)]
    pub wait_seconds: u32,
}

/// The answer: a build, or none yet.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseAnswer {
    /// The build; null when there was none in time.
    pub lease: Option<Lease>,
}

/// A build in a runner's hands.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// `build_…`.
    pub build_id: String,
    /// The organization it is for: caches are kept apart by it.
    pub org_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// Seconds until the lease ends without a renewal.
    pub lease_seconds: u32,
    /// Seconds between renewals.
    pub renew_seconds: u32,
    /// Where the log goes on.
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
    /// The version to build; the project's own when null.
    pub version: Option<String>,
    /// The build number to build; the project's own when null.
    pub build_number: Option<String>,
    /// Where the source comes from.
    pub source: Source,
    /// What to do; null when the source says it.
    #[schema(value_type = Option<Object>)]
    pub plan: Option<Plan>,
    /// Environment variables and files.
    pub env: Vec<LeasedVariable>,
    /// What signs the app.
    pub credentials: Vec<LeasedCredential>,
    /// Which builds of the organization share caches with this one; null from an older server.
    #[serde(default)]
    pub cache_scope: Option<String>,
}

/// Where the source of a build comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Source {
    /// An archive in object storage.
    #[serde(rename_all = "camelCase")]
    Archive {
        /// The pre-signed URL to get it from.
        url: String,
        /// Its name; the ending tells the format.
        file_name: String,
        /// Bytes.
        size: u64,
        /// Lower-case hex SHA-256.
        sha256: String,
    },
    /// A git repository.
    #[serde(rename_all = "camelCase")]
    Git {
        /// Its address.
        url: String,
        /// Branch, tag or commit.
        #[serde(rename = "ref")]
        reference: String,
    },
}

/// An environment variable for a build.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeasedVariable {
    /// Its name.
    pub name: String,
    /// Its value; the content of a file.
    #[schema(value_type = String)]
    pub value: SecretText,
    /// Where a file goes in the workspace; null for a variable.
    pub path: Option<String>,
    /// Whether the log must not show it.
    pub secret: bool,
}

/// A credential for a build.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeasedCredential {
    /// `credential_…`.
    pub id: String,
    /// Such as `android_keystore`.
    pub kind: open::CredentialKind,
    /// What people call it.
    pub name: String,
    /// The file, in base64.
    #[schema(value_type = String)]
    pub content: SecretText,
    /// Passwords and names that open it, such as `password`, `alias`, `keyPassword`.
    #[schema(value_type = BTreeMap<String, String>)]
    pub secrets: BTreeMap<String, SecretText>,
    /// What was read from it.
    #[schema(value_type = Object)]
    pub facts: Value,
}

/// A part of a build: a step, or what the runner does around them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Phase {
    /// Its name.
    #[schema(max_length = 100)]
    pub name: String,
    /// When it began.
    pub started_at: String,
    /// When it ended; null while it runs.
    pub finished_at: Option<String>,
    /// The exit code of a step that ended; null where there is none.
    pub exit_code: Option<i32>,
}

/// `POST /runner/renew`: the build goes on.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Renew {
    /// The build.
    pub build_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// Its phases so far, in their order.
    pub phases: Vec<Phase>,
}

/// What the server says about a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AttemptReply)]
pub struct AttemptReply {
    /// Whether the build is to be stopped.
    pub cancel: bool,
    /// Where the log goes on: all bytes before are kept.
    pub log_offset: u64,
}

/// `POST /runner/plan`: what the source turned out to say.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TellPlan {
    /// The build.
    pub build_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// The plan that is followed.
    #[schema(value_type = Object)]
    pub plan: Plan,
    /// Where it comes from: `request`, `launchway.toml`, or the framework whose preset it is.
    #[schema(max_length = 100)]
    pub origin: open::PlanOrigin,
    /// The commit that a git source turned out to be; null for an archive.
    #[schema(max_length = 64)]
    #[serde(default)]
    pub commit: Option<String>,
}

/// `POST /runner/artifacts`: announces a file that the build gives.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnnounceArtifact {
    /// The build.
    pub build_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// What it is, such as `apk`.
    #[schema(max_length = 32)]
    pub kind: String,
    /// Its file name.
    #[schema(max_length = 255)]
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Lower-case hex SHA-256.
    #[schema(min_length = 64, max_length = 64)]
    pub sha256: String,
}

/// Where an artifact goes.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactTarget {
    /// `artifact_…`.
    pub id: String,
    /// `pending`.
    pub status: open::PendingStatus,
    /// The pre-signed URL to PUT it to.
    pub url: String,
    /// When the URL stops working.
    pub expires_at: String,
    /// Whether the build is to be stopped.
    pub cancel: bool,
}

/// `POST /runner/finish`: what came of it. Sent again until it is answered; a second time changes nothing.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Finish {
    /// The build.
    pub build_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// `success`, `failed` or `canceled`.
    pub status: open::BuildResult,
    /// Why it failed; only with `failed`.
    pub error: Option<BuildError>,
    /// All of its phases.
    pub phases: Vec<Phase>,
    /// The artifacts that were sent.
    pub artifacts: Vec<String>,
    /// Bytes of the whole log; the server takes the end only when it has them all.
    pub log_size: u64,
    /// The fingerprint of the native code, or its document.
    #[schema(value_type = Option<Object>)]
    pub fingerprint: Option<Value>,
    /// What did not fit but did not stop it, a sentence each; at most 50 count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Why a build failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BuildError {
    /// `STEP_FAILED`, `TIMED_OUT`, `RUNNER_LOST`, `EXPIRED`, `SOURCE_INVALID`, `ARTIFACT_MISSING` or `INTERNAL`.
    pub code: open::BuildErrorCode,
    /// The phase in which it happened.
    pub phase: Option<String>,
    /// What is wrong and what to do.
    #[schema(max_length = 2000)]
    pub message: String,
}

/// The answer to the end of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finished {
    /// The build.
    pub id: String,
    /// Where it stands now.
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
