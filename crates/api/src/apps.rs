//! Apps: which bundle id belongs to which organization (`docs/reference/callers.md#apps`).

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
    /// The bundle identifier, as the app's native project writes it.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
    /// What people call the app; the bundle identifier when absent.
    #[schema(max_length = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// An app.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = App)]
pub struct AppView {
    /// `app_…`.
    pub id: String,
    /// `active`.
    pub status: open::ActiveStatus,
    /// The bundle identifier as it was first written; no other may differ from it by letter case only.
    pub bundle_id: String,
    /// What people call the app.
    pub name: String,
    /// When it was claimed.
    pub created_at: String,
}

impl AppView {
    /// An app.
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
