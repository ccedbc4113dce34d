//! Deployment keys of CodePush's clients (`docs/reference/foreign-clients.md#deployment-keys`).

use launchway_domain::release::DeploymentKey;
use launchway_domain::time::iso;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;
use crate::words::ActiveStatus;

/// `POST /deployment-keys`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateDeploymentKey {
    /// The app.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
    /// The platform whose updates the key finds.
    pub platform: open::Platform,
    /// The configuration whose updates the key finds. Without it, only updates for every configuration.
    #[schema(example = "production")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// The key of apps that are in use: 10 to 100 letters, digits, `-` and `_`. Without it, the server makes one.
    #[schema(min_length = 10, max_length = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A deployment key: what the CodePush client of an app sends to name its platform and configuration. It is public, because every
/// copy of the app contains it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeploymentKey)]
pub struct DeploymentKeyView {
    /// `deploykey_…`.
    pub id: String,
    /// `active`.
    pub status: open::ActiveStatus,
    /// The app.
    pub bundle_id: String,
    /// The platform whose updates it finds.
    pub platform: open::Platform,
    /// The configuration whose updates it finds; null: only updates for every configuration.
    pub configuration: Option<String>,
    /// The key itself.
    pub key: String,
    /// Who created it: a user id or a key id.
    pub created_by: String,
    /// When it was created.
    pub created_at: String,
}

impl DeploymentKeyView {
    /// The view of a deployment key.
    pub fn of(key: &DeploymentKey) -> Self {
        Self {
            id: key.id.to_string(),
            status: ActiveStatus::Active.into(),
            bundle_id: key.bundle_id.clone(),
            platform: key.platform.into(),
            configuration: key.configuration.as_ref().map(|label| label.as_str().to_owned()),
            key: key.key.clone(),
            created_by: key.created_by.clone(),
            created_at: iso(key.created_at),
        }
    }
}
