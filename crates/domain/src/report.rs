//! What devices report of an update (contract part 7).

use std::str::FromStr;

/// A reason holds at most this many characters.
pub const MAX_REASON: usize = 200;
/// So many reasons of an update are kept, the last ones.
pub const KEPT_REASONS: i64 = 20;
/// For so many days it is kept what was reported on each; what was reported in all stays.
pub const REPORT_DAYS: i64 = 90;

/// What happened on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReportKind {
    /// The package was downloaded.
    Downloaded,
    /// It was installed.
    Installed,
    /// The app started with it and found it good.
    Confirmed,
    /// The app went back to what it had before.
    RolledBack,
    /// Download or installation failed.
    Failed,
}

/// The text names no kind of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("type must be downloaded, installed, confirmed, rolled_back or failed")]
pub struct UnknownReport;

impl ReportKind {
    /// Every kind, in the order a device goes through them.
    pub const ALL: [ReportKind; 5] = [
        ReportKind::Downloaded,
        ReportKind::Installed,
        ReportKind::Confirmed,
        ReportKind::RolledBack,
        ReportKind::Failed,
    ];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            ReportKind::Downloaded => "downloaded",
            ReportKind::Installed => "installed",
            ReportKind::Confirmed => "confirmed",
            ReportKind::RolledBack => "rolled_back",
            ReportKind::Failed => "failed",
        }
    }
}

impl FromStr for ReportKind {
    type Err = UnknownReport;

    fn from_str(text: &str) -> Result<Self, UnknownReport> {
        ReportKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or(UnknownReport)
    }
}
