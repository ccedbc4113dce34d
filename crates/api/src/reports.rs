//! Reports of devices about updates: `POST /update/report/{bundleId}` (`docs/reference/updates.md#device-reports`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;

/// `POST /update/report/{bundleId}`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeviceReport {
    /// The token that the check gave to this device.
    pub report_token: String,
    /// What happened, 1 to 100 events.
    #[schema(min_items = 1, max_items = 100)]
    pub events: Vec<DeviceEvent>,
}

/// One thing that happened on a device.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeviceEvent {
    /// `downloaded`, `installed`, `confirmed`, `rolled_back` or `failed`.
    #[serde(rename = "type")]
    #[schema(example = "installed")]
    pub kind: open::ReportKind,
    /// The update it happened to: the one the token was given for.
    pub update_id: String,
    /// When it happened, by the device's clock.
    #[schema(example = "2026-11-20T10:00:00.000Z")]
    pub at: String,
    /// Why, at most 200 characters; kept for `failed` and `rolled_back`.
    #[schema(max_length = 200)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The answer to a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReportAnswer {
    /// `accepted`.
    pub status: open::AcceptedStatus,
    /// How many of the events were counted; one that was known already is not.
    pub counted: u64,
}

/// How many devices reported what of an update, each device once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportCounts {
    /// Devices that downloaded the package.
    pub downloaded: i64,
    /// Devices that installed it.
    pub installed: i64,
    /// Devices that started with it and found it good.
    pub confirmed: i64,
    /// Devices that went back to what they had before.
    pub rolled_back: i64,
    /// Devices on which download or installation failed.
    pub failed: i64,
    /// The last 20 reasons, newest first.
    pub reasons: Vec<ReportReason>,
}

/// Why an update failed or was rolled back on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReportReason {
    /// `rolled_back` or `failed`.
    #[serde(rename = "type")]
    pub kind: open::ReportKind,
    /// When it was reported.
    pub at: String,
    /// The device's words.
    pub reason: String,
}
