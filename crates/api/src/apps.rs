//! Apps and the organizations that own them (`docs/reference/callers.md#apps`).

use launchway_domain::app::App;
use launchway_domain::time::iso;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;
use crate::words::ActiveStatus;

/// `POST /apps`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateApp {
    /// The bundle identifier, spelled as in the app's native project.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
    /// The display name. Defaults to the bundle identifier.
    #[schema(max_length = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The record of an app.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = App)]
pub struct AppView {
    /// `app_…`.
    pub id: String,
    /// `active`.
    pub status: open::ActiveStatus,
    /// The bundle identifier as first claimed. No other app may differ from it by letter case only.
    pub bundle_id: String,
    /// The display name.
    pub name: String,
    /// When the organization claimed it.
    pub created_at: String,
}

impl AppView {
    /// The record of an app.
    pub fn of(app: &App) -> Self {
        Self {
            id: app.id.to_string(),
            status: ActiveStatus::Active.into(),
            bundle_id: app.bundle_id.clone(),
            name: app.name.clone(),
            created_at: iso(app.created_at),
        }
    }
}

/// The response to `DELETE /apps`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedApp {
    /// The id of the app.
    pub id: String,
    /// `deleted`.
    #[schema(example = "deleted")]
    pub status: open::DoneStatus,
    /// What is left of the app. Older servers do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<AppRemains>,
}

/// What is left of an app that was deleted from the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppRemains {
    /// The bundle identifier, which still belongs to the organization.
    pub bundle_id: String,
    /// The updates that were not deleted, whatever their status.
    pub updates: i64,
    /// Those of them that phones are still offered. To end that, withdraw them.
    pub offered_updates: i64,
    /// The builds.
    pub builds: i64,
    /// The submissions.
    pub submissions: i64,
    /// The environment variables of this app alone.
    pub env_vars: i64,
    /// The credentials of this app alone.
    pub credentials: i64,
    /// The deployment keys, with which apps in the field still ask for updates. Older servers do not say.
    #[serde(default)]
    pub deployment_keys: i64,
}
