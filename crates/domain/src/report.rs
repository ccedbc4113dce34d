//! Reports of devices about an update (`docs/reference/updates.md#device-reports`).

/// The maximum number of characters of a reason.
pub const MAX_REASON: usize = 200;
/// How many reasons of an update are kept: the most recent ones.
pub const KEPT_REASONS: i64 = 20;
/// For how many days the counts of each day are kept; totals are kept forever.
pub const REPORT_DAYS: i64 = 90;

words! {
    /// What happened on a device, in the usual order.
    ReportKind, error = "type must be downloaded, installed, confirmed, rolled_back or failed",
    /// The package was downloaded.
    Downloaded = "downloaded",
    /// It was installed.
    Installed = "installed",
    /// The app started with it successfully.
    Confirmed = "confirmed",
    /// The app returned to its previous update.
    RolledBack = "rolled_back",
    /// Download or installation failed.
    Failed = "failed",
}
