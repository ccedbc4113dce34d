//! What devices report about an update (`docs/reference/updates.md#device-reports`).

/// A reason holds at most this many characters.
pub const MAX_REASON: usize = 200;
/// So many reasons of an update are kept, the last ones.
pub const KEPT_REASONS: i64 = 20;
/// For so many days it is kept what was reported on each; what was reported in all stays.
pub const REPORT_DAYS: i64 = 90;

words! {
    /// What happened on a device, in the order a device goes through it.
    ReportKind, error = "type must be downloaded, installed, confirmed, rolled_back or failed",
    /// The package was downloaded.
    Downloaded = "downloaded",
    /// It was installed.
    Installed = "installed",
    /// The app started with it and found it good.
    Confirmed = "confirmed",
    /// The app went back to what it had before.
    RolledBack = "rolled_back",
    /// Download or installation failed.
    Failed = "failed",
}
