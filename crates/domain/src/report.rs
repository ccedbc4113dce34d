//! Reports of devices about an update (`docs/reference/updates.md#device-reports`).

/// The maximum number of characters of a reason.
pub const MAX_REASON: usize = 200;
/// How many reasons of an update are kept: the most recent ones.
pub const KEPT_REASONS: i64 = 20;
/// For how many days the counts of each day are kept; totals are kept forever.
pub const REPORT_DAYS: i64 = 90;
/// From this share of bad results on, in percent, an update is failing.
const FAILING_PERCENT: i64 = 5;
/// The number of bad results below which no update is failing: one device may have a defect of its own.
const MIN_BAD: i64 = 2;

words! {
    /// What happened on a device and is counted, in the usual order.
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

words! {
    /// What a device reports: one of the kinds that are counted, or a crash.
    DeviceEventKind, error = "type must be downloaded, installed, confirmed, rolled_back, failed or crash",
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
    /// The app crashed while it ran the update.
    Crash = "crash",
}

impl DeviceEventKind {
    /// The kind that is counted; `None` for a crash, which is counted in groups.
    pub const fn counted(self) -> Option<ReportKind> {
        match self {
            DeviceEventKind::Downloaded => Some(ReportKind::Downloaded),
            DeviceEventKind::Installed => Some(ReportKind::Installed),
            DeviceEventKind::Confirmed => Some(ReportKind::Confirmed),
            DeviceEventKind::RolledBack => Some(ReportKind::RolledBack),
            DeviceEventKind::Failed => Some(ReportKind::Failed),
            DeviceEventKind::Crash => None,
        }
    }
}

impl From<ReportKind> for DeviceEventKind {
    fn from(kind: ReportKind) -> Self {
        match kind {
            ReportKind::Downloaded => DeviceEventKind::Downloaded,
            ReportKind::Installed => DeviceEventKind::Installed,
            ReportKind::Confirmed => DeviceEventKind::Confirmed,
            ReportKind::RolledBack => DeviceEventKind::RolledBack,
            ReportKind::Failed => DeviceEventKind::Failed,
        }
    }
}

/// How an update does on the devices that tried it (`docs/reference/dashboard.md#health-of-an-update`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Devices on which the result is known, or that installed it.
    pub tried: i64,
    /// Devices on which it failed, or that rolled it back.
    pub bad: i64,
}

impl Health {
    /// The health according to the number of devices for each kind of report. A device that rolled back has installed the
    /// update before, and one that failed may not have.
    pub fn of(counts: &[(ReportKind, i64)]) -> Health {
        let of = |kind| {
            counts
                .iter()
                .find(|(known, _)| *known == kind)
                .map_or(0, |(_, count)| *count)
        };
        let failed = of(ReportKind::Failed);
        let installed = of(ReportKind::Installed)
            .max(of(ReportKind::Confirmed))
            .max(of(ReportKind::RolledBack));
        let tried = installed + failed;
        Health {
            tried,
            bad: (failed + of(ReportKind::RolledBack)).min(tried),
        }
    }

    /// The share of bad results in tenths of a percent, rounded; `None` if no device tried it.
    pub fn bad_permille(self) -> Option<i64> {
        (self.tried > 0).then(|| (self.bad * 1000 + self.tried / 2) / self.tried)
    }

    /// Whether somebody should look at it.
    pub fn is_failing(self) -> bool {
        self.bad >= MIN_BAD && self.bad * 100 >= self.tried * FAILING_PERCENT
    }
}

#[cfg(test)]
mod tests {
    use super::{DeviceEventKind, Health, ReportKind};

    #[test]
    fn only_crashes_are_not_counted_by_kind() {
        for kind in ReportKind::ALL {
            let event = DeviceEventKind::from(kind);
            assert_eq!((event.as_str(), event.counted()), (kind.as_str(), Some(kind)));
        }
        assert_eq!(DeviceEventKind::Crash.counted(), None);
    }

    #[test]
    fn an_update_fails_from_two_devices_and_5_percent_on() {
        let health = |installed, rolled_back, failed| {
            Health::of(&[
                (ReportKind::Downloaded, 500),
                (ReportKind::Installed, installed),
                (ReportKind::RolledBack, rolled_back),
                (ReportKind::Failed, failed),
            ])
        };
        for (installed, rolled_back, failed, permille, is_failing) in [
            (0, 0, 0, None, false),
            (1, 0, 0, Some(0), false),
            (0, 0, 1, Some(1000), false),
            (0, 0, 2, Some(1000), true),
            (2, 2, 0, Some(1000), true),
            (40, 2, 0, Some(50), true),
            (41, 2, 0, Some(49), false),
            (38, 1, 1, Some(51), true),
            // The install of a device that rolled back may be missing.
            (0, 3, 0, Some(1000), true),
        ] {
            let health = health(installed, rolled_back, failed);
            assert_eq!(
                (health.bad_permille(), health.is_failing()),
                (permille, is_failing),
                "{health:?}"
            );
        }
    }
}
