//! Reports of devices about updates: each device, update and kind counts once. Above a bound only a sample of the devices is
//! stored, so invented device ids cannot fill the disk; from there on counts are estimates.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::UpdateId;
use launchway_domain::platform::Platform;
use launchway_domain::report::{KEPT_REASONS, ReportKind};
use launchway_domain::time::{DAY, EpochMs};

use crate::sql::typed;
use crate::{Org, StoreError, System};

/// One report of a device.
#[derive(Clone, Debug)]
pub struct Report {
    /// The update.
    pub update_id: UpdateId,
    /// What happened.
    pub kind: ReportKind,
    /// 64 bits of a keyed hash of the device.
    pub device: i64,
    /// The hash by which nodes of release 0.1.0 identify the same device. A device counted by such a node is not counted
    /// again.
    pub unkeyed: i64,
    /// When it was reported.
    pub at: i64,
    /// The reason given by the device.
    pub reason: Option<String>,
}

/// A stored reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReason {
    /// What happened.
    pub kind: ReportKind,
    /// When it was reported.
    pub at: i64,
    /// The device's own text.
    pub reason: String,
}

/// The number of devices that reported one kind on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayCount {
    /// Days since 1970, in UTC.
    pub day: i64,
    /// What happened.
    pub kind: ReportKind,
    /// The number of devices.
    pub count: i64,
}

/// The update of an app, platform and configuration with the most devices known to have fetched it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateReach {
    /// Its version.
    pub version: String,
    /// When it was published.
    pub since: i64,
    /// The number of devices.
    pub devices: i64,
}

/// The day of a time, as in [`DayCount`].
pub const fn day_of(time: EpochMs) -> i64 {
    time.div_euclid(DAY)
}

/// The maximum number of rows of `report_devices` per update and kind. Beyond it, counts are estimates with an error of
/// about 1 %.
pub const KEPT_DEVICES: i64 = 1 << 14;
/// At this level a full sample accepts no more devices.
const MAX_LEVEL: i64 = 30;

/// The stored sample of devices of an update and kind.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// The sample contains devices whose hash ends in this many zero bits.
    level: i64,
    /// Rows in the sample.
    rows: i64,
}

impl Sample {
    /// Whether a device belongs to the sample.
    fn takes(self, device: i64, bound: i64) -> bool {
        let is_full = self.level == MAX_LEVEL && self.rows >= bound;
        device & self.mask() == 0 && !is_full
    }

    /// The number of devices that each row counts for.
    fn weight(self) -> i64 {
        1 << self.level
    }

    fn mask(self) -> i64 {
        self.weight() - 1
    }
}

/// The unit of counting.
type Group = (UpdateId, ReportKind);

impl System<'_> {
    /// Counts reports; returns for each whether it was new. The token of each named its update, which belongs to the
    /// tenant. Rows are locked in a fixed order, regardless of the order of the reports, so that nodes do not deadlock.
    pub async fn count_reports(&mut self, reports: &[Report]) -> Result<Vec<bool>, StoreError> {
        self.count_reports_within(reports, KEPT_DEVICES).await
    }

    /// The same, storing at most `bound` devices of an update and kind.
    pub async fn count_reports_within(&mut self, reports: &[Report], bound: i64) -> Result<Vec<bool>, StoreError> {
        let mut order: Vec<usize> = (0..reports.len()).collect();
        // Stable sort: of two equal reports the first counts.
        order.sort_by_key(|at| (reports[*at].update_id, reports[*at].kind, reports[*at].device));
        let mut groups: BTreeMap<Group, (Sample, i64)> = BTreeMap::new();
        let mut counted = vec![false; reports.len()];
        // All devices before all counts: a node that holds a count never waits for a device.
        for at in &order {
            let report = &reports[*at];
            let group = (report.update_id, report.kind);
            if let Entry::Vacant(unknown) = groups.entry(group) {
                unknown.insert((self.kept(group).await?, 0));
            }
            if let Some((kept, new)) = groups.get_mut(&group)
                && kept.takes(report.device, bound)
                && self.note_device(report).await?
            {
                counted[*at] = true;
                kept.rows += 1;
                *new += 1;
            }
        }
        order.retain(|at| counted[*at]);
        let weight = |report: &Report| {
            groups
                .get(&(report.update_id, report.kind))
                .map_or(1, |(kept, _)| kept.weight())
        };
        for (group, (kept, new)) in groups.iter().filter(|(_, (_, new))| *new > 0) {
            self.add_count(*group, *kept, *new, bound).await?;
        }
        self.count_days(order.iter().map(|at| (&reports[*at], weight(&reports[*at]))))
            .await?;
        for report in order.iter().map(|at| &reports[*at]) {
            if let Some(reason) = &report.reason {
                self.keep_reason(report, reason).await?;
            }
        }
        Ok(counted)
    }

    async fn kept(&mut self, (update, kind): Group) -> Result<Sample, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (i64, i64),
            "SELECT level, COALESCE(kept, count) FROM report_counts WHERE update_id = $1 AND kind = $2",
            update.to_string(),
            kind.as_str()
        )?;
        Ok(row.map_or_else(Sample::default, |(level, rows)| Sample { level, rows }))
    }

    /// Adds new devices to a count, and thins the sample if it exceeds the bound.
    async fn add_count(&mut self, (update, kind): Group, kept: Sample, new: i64, bound: i64) -> Result<(), StoreError> {
        let (level, rows) = fetch_one!(
            self.tx,
            (i64, i64),
            "INSERT INTO report_counts (update_id, kind, count, kept) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (update_id, kind) DO UPDATE SET count = report_counts.count + excluded.count, forgotten = 0, \
             kept = COALESCE(report_counts.kept, report_counts.count) + excluded.kept RETURNING level, kept",
            update.to_string(),
            kind.as_str(),
            new * kept.weight(),
            new
        )?;
        if rows > bound {
            self.thin((update, kind), Sample { level, rows }, bound).await?;
        }
        Ok(())
    }

    /// Halves the sample until it is within the bound.
    async fn thin(&mut self, (update, kind): Group, mut kept: Sample, bound: i64) -> Result<(), StoreError> {
        while kept.rows > bound && kept.level < MAX_LEVEL {
            kept.level += 1;
            execute!(
                self.tx,
                "DELETE FROM report_devices WHERE update_id = $1 AND kind = $2 AND (device & $3) <> 0",
                update.to_string(),
                kind.as_str(),
                kept.mask()
            )?;
            (kept.rows,) = fetch_one!(
                self.tx,
                (i64,),
                "SELECT COUNT(*) FROM report_devices WHERE update_id = $1 AND kind = $2",
                update.to_string(),
                kind.as_str()
            )?;
        }
        execute!(
            self.tx,
            "UPDATE report_counts SET level = $3, kept = $4 WHERE update_id = $1 AND kind = $2",
            update.to_string(),
            kind.as_str(),
            kept.level,
            kept.rows
        )?;
        Ok(())
    }

    /// Counts new reports by day, each with the number of devices it represents: each row once and in a fixed order.
    async fn count_days<'r>(&mut self, new: impl Iterator<Item = (&'r Report, i64)>) -> Result<(), StoreError> {
        let mut days = BTreeMap::new();
        for (report, weight) in new {
            *days
                .entry((report.update_id, day_of(report.at), report.kind))
                .or_insert(0_i64) += weight;
        }
        for ((update, day, kind), count) in days {
            execute!(
                self.tx,
                "INSERT INTO report_days (update_id, day, kind, count) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (update_id, day, kind) DO UPDATE SET count = report_days.count + excluded.count",
                update.to_string(),
                day,
                kind.as_str(),
                count
            )?;
        }
        Ok(())
    }

    /// Deletes the devices of at most `limit` groups (update and kind) that have no daily counts any more; the totals stay.
    /// Returns the number of groups.
    pub async fn forget_silent_devices(&mut self, limit: i64) -> Result<u64, StoreError> {
        let silent = fetch_all!(
            self.tx,
            (String, String),
            "SELECT c.update_id, c.kind FROM report_counts c WHERE c.forgotten = 0 AND NOT EXISTS \
             (SELECT 1 FROM report_days d WHERE d.update_id = c.update_id AND d.kind = c.kind) \
             ORDER BY c.update_id, c.kind LIMIT $1",
            limit
        )?;
        for (update, kind) in &silent {
            execute!(
                self.tx,
                "DELETE FROM report_devices WHERE update_id = $1 AND kind = $2",
                update,
                kind
            )?;
            execute!(
                self.tx,
                "UPDATE report_counts SET forgotten = 1, kept = 0, level = 0 WHERE update_id = $1 AND kind = $2",
                update,
                kind
            )?;
        }
        Ok(silent.len() as u64)
    }

    /// Deletes daily counts before a day; the totals stay.
    pub async fn forget_report_days_before(&mut self, day: i64) -> Result<u64, StoreError> {
        forget!(self.tx, "report_days", "update_id, day, kind", "day < $1", day)
    }

    /// Records that a device reported; returns false if it had reported before.
    async fn note_device(&mut self, report: &Report) -> Result<bool, StoreError> {
        let new = execute!(
            self.tx,
            "INSERT INTO report_devices (update_id, kind, device) SELECT $1, $2, $3 WHERE NOT EXISTS \
             (SELECT 1 FROM report_devices WHERE update_id = $1 AND kind = $2 AND device = $4) ON CONFLICT DO NOTHING",
            report.update_id.to_string(),
            report.kind.as_str(),
            report.device,
            report.unkeyed
        )?;
        Ok(new == 1)
    }

    /// Stores a reason under the next number of its update, and deletes all but the last ones. Another node may take the
    /// number first, for another kind; the insert waits for its commit and then takes the number after it.
    async fn keep_reason(&mut self, report: &Report, reason: &str) -> Result<(), StoreError> {
        let update = report.update_id.to_string();
        let number = loop {
            let (last,) = fetch_one!(
                self.tx,
                (i64,),
                "SELECT COALESCE(MAX(number), 0) FROM report_reasons WHERE update_id = $1",
                &update
            )?;
            let kept = execute!(
                self.tx,
                "INSERT INTO report_reasons (update_id, number, kind, at, reason) VALUES ($1, $2, $3, $4, $5) \
                 ON CONFLICT DO NOTHING",
                &update,
                last + 1,
                report.kind.as_str(),
                report.at,
                reason
            )?;
            if kept == 1 {
                break last + 1;
            }
        };
        execute!(
            self.tx,
            "DELETE FROM report_reasons WHERE update_id = $1 AND number <= $2",
            &update,
            number - KEPT_REASONS
        )?;
        Ok(())
    }
}

impl Org<'_> {
    /// The number of devices for each kind of report of an update of this organization.
    pub async fn report_counts(&mut self, update: UpdateId) -> Result<Vec<(ReportKind, i64)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, i64),
            "SELECT c.kind, c.count FROM report_counts c JOIN updates u ON u.id = c.update_id \
             WHERE u.org_id = $1 AND c.update_id = $2",
            &self.id,
            update.to_string()
        )?;
        rows.into_iter()
            .map(|(kind, count)| Ok((typed("report_counts.kind", &kind)?, count)))
            .collect()
    }

    /// The number of devices for each kind of report of each of these updates that has any.
    pub async fn report_counts_of(
        &mut self,
        updates: &[UpdateId],
    ) -> Result<HashMap<UpdateId, Vec<(ReportKind, i64)>>, StoreError> {
        let rows = fetch_all_of!(
            self.tx,
            (String, String, i64),
            "SELECT c.update_id, c.kind, c.count FROM report_counts c JOIN updates u ON u.id = c.update_id \
             WHERE u.org_id = $1 AND c.update_id IN",
            updates,
            "",
            &self.id
        )?;
        let mut counts: HashMap<UpdateId, Vec<(ReportKind, i64)>> = HashMap::new();
        for (update, kind, count) in rows {
            let of_update = counts.entry(typed("report_counts.update_id", &update)?).or_default();
            of_update.push((typed("report_counts.kind", &kind)?, count));
        }
        Ok(counts)
    }

    /// The widest reach of any update of an app, platform and configuration, deleted ones included; `None` while no device
    /// has reported any. A device is identified within one update only, so the counts of several cannot be added.
    pub async fn widest_reach(
        &mut self,
        bundle: &BundleId,
        platform: Platform,
        configuration: Option<&Configuration>,
    ) -> Result<Option<UpdateReach>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String, i64, i64),
            "SELECT u.version, u.created_at, c.count FROM report_counts c JOIN updates u ON u.id = c.update_id \
             WHERE u.org_id = $1 AND u.bundle_key = $2 AND u.platform = $3 AND u.configuration = $4 \
             ORDER BY c.count DESC, u.id DESC LIMIT 1",
            &self.id,
            bundle.key(),
            platform.as_str(),
            configuration.map_or("", |label| label.as_str())
        )?;
        Ok(row.map(|(version, since, devices)| UpdateReach {
            version,
            since,
            devices,
        }))
    }

    /// The number of devices for each kind of report and day of an update of this organization, oldest first.
    pub async fn report_days(&mut self, update: UpdateId) -> Result<Vec<DayCount>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (i64, String, i64),
            "SELECT d.day, d.kind, d.count FROM report_days d JOIN updates u ON u.id = d.update_id \
             WHERE u.org_id = $1 AND d.update_id = $2 ORDER BY d.day, d.kind",
            &self.id,
            update.to_string()
        )?;
        rows.into_iter()
            .map(|(day, kind, count)| {
                let kind = typed("report_days.kind", &kind)?;
                Ok(DayCount { day, kind, count })
            })
            .collect()
    }

    /// The last reasons, newest first.
    pub async fn report_reasons(&mut self, update: UpdateId) -> Result<Vec<StoredReason>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, i64, String),
            "SELECT r.kind, r.at, r.reason FROM report_reasons r JOIN updates u ON u.id = r.update_id \
             WHERE u.org_id = $1 AND r.update_id = $2 ORDER BY r.number DESC",
            &self.id,
            update.to_string()
        )?;
        rows.into_iter()
            .map(|(kind, at, reason)| {
                Ok(StoredReason {
                    kind: typed("report_reasons.kind", &kind)?,
                    at,
                    reason,
                })
            })
            .collect()
    }
}
