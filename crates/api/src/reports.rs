//! Reports of devices about updates: `POST /update/report/{bundleId}` (`docs/reference/updates.md#device-reports`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;

/// `POST /update/report/{bundleId}`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeviceReport {
    /// The token from this device's check.
    pub report_token: String,
    /// The events, 1 to 100.
    #[schema(min_items = 1, max_items = 100)]
    pub events: Vec<DeviceEvent>,
}

/// An event on a device.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeviceEvent {
    /// `downloaded`, `installed`, `confirmed`, `rolled_back`, `failed` or `crash`.
    #[serde(rename = "type")]
    #[schema(example = "installed")]
    pub kind: open::DeviceEventKind,
    /// The update that the event is about. It must be the one that the token was issued for.
    pub update_id: String,
    /// When it happened, by the device's clock.
    #[schema(example = "2026-11-20T10:00:00.000Z")]
    pub at: String,
    /// The reason, at most 200 characters; kept for `failed` and `rolled_back`.
    #[schema(max_length = 200)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The stack of the error, at most 8 KiB; kept for `crash`.
    #[schema(max_length = 8192)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

/// The response to a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReportAnswer {
    /// `accepted`.
    pub status: open::AcceptedStatus,
    /// The number of events that were counted. Repeated events do not count.
    pub counted: u64,
}

/// The number of devices that reported each kind of event about an update. Each device counts once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportCounts {
    /// The number of devices that downloaded the package.
    pub downloaded: i64,
    /// The number of devices that installed it.
    pub installed: i64,
    /// The number of devices that started with it and confirmed it.
    pub confirmed: i64,
    /// The number of devices that rolled back to their previous version.
    pub rolled_back: i64,
    /// The number of devices on which download or installation failed.
    pub failed: i64,
    /// The last 20 reasons, newest first.
    pub reasons: Vec<ReportReason>,
    /// The crashes with the update, equal ones together: those of the most devices first, at most 50.
    #[serde(default)]
    pub crashes: Vec<CrashGroup>,
}

/// Crashes with the same stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrashGroup {
    /// The number of devices, at most 1024.
    pub devices: i64,
    /// When the first of these crashes was reported.
    pub first_seen_at: String,
    /// When the last of them was reported.
    pub last_seen_at: String,
    /// The first line of the stack that is not blank, at most 200 characters; empty if the device sent no stack.
    pub first_line: String,
    /// The stack of the first of them, as the device sent it.
    pub stack: String,
}

/// A reason why an update failed or was rolled back on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReportReason {
    /// `rolled_back` or `failed`.
    #[serde(rename = "type")]
    pub kind: open::ReportKind,
    /// When it was reported.
    pub at: String,
    /// The reason, in the device's words.
    pub reason: String,
}
