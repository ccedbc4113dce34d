//! Environment variables of builds (`docs/reference/environment.md`).

use launchway_domain::env_var::EnvVar;
use launchway_domain::time::iso;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;
use crate::secret::SecretText;
use crate::words::ActiveStatus;

/// `POST /env`: creates a variable, or replaces the one with the same name and scope.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetEnvVar {
    /// `[A-Za-z_][A-Za-z0-9_]*`, at most 255 characters.
    #[schema(
        pattern = "^[A-Za-z_][A-Za-z0-9_]*$",
        max_length = 255,
        example = "SENTRY_AUTH_TOKEN"
    )]
    pub name: String,
    /// The value, at most 64 KiB.
    #[schema(value_type = String, max_length = 65536)]
    pub value: SecretText,
    /// `variable` (the default), or `file`: the build writes the value to `path`, and the variable contains the file's location.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<open::EnvVarKind>,
    /// The path of a file, relative to the build's workspace. Required for `file`, and refused otherwise.
    #[schema(max_length = 255, example = "android/app/google-services.json")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `secret` (the default): the value is never returned. `plain`: everyone who may list variables can read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<open::Visibility>,
    /// The app that gets it. Defaults to every app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle_id: Option<String>,
    /// The configurations that get it. Absent or empty means every build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configurations: Option<Vec<String>>,
    /// The platforms that get it. Absent or empty means every platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platforms: Option<Vec<open::Platform>>,
}

/// An environment variable. If several have the same name, a build gets the one with the narrowest scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EnvVar)]
pub struct EnvVarView {
    /// `env_…`.
    pub id: String,
    /// `active`.
    pub status: open::ActiveStatus,
    /// The name.
    pub name: String,
    /// `variable` or `file`.
    pub kind: open::EnvVarKind,
    /// The path of a file; null for a variable.
    pub path: Option<String>,
    /// `plain` or `secret`.
    pub visibility: open::Visibility,
    /// The value; null if it is secret.
    pub value: Option<String>,
    /// The app that gets it; null for every app.
    pub bundle_id: Option<String>,
    /// The configurations that get it; empty for every build.
    pub configurations: Vec<String>,
    /// The platforms that get it; empty for every platform.
    pub platforms: Vec<open::Platform>,
    /// Who created it: a user id or a key id.
    pub created_by: String,
    /// When it was created.
    pub created_at: String,
    /// When its value was last set.
    pub updated_at: String,
}

impl EnvVarView {
    /// The view of a variable; `value` only for a plain one.
    pub fn of(variable: &EnvVar, value: Option<String>) -> Self {
        Self {
            id: variable.id.to_string(),
            status: ActiveStatus::Active.into(),
            name: variable.name.clone(),
            kind: variable.kind.into(),
            path: variable.path.clone(),
            visibility: variable.visibility.into(),
            value,
            bundle_id: variable.scope.bundle_id.as_ref().map(ToString::to_string),
            configurations: variable.scope.configurations.iter().map(ToString::to_string).collect(),
            platforms: variable
                .scope
                .platforms
                .iter()
                .copied()
                .map(open::Platform::from)
                .collect(),
            created_by: variable.created_by.clone(),
            created_at: iso(variable.created_at),
            updated_at: iso(variable.updated_at),
        }
    }
}
