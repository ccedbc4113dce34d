//! Device reports of an update by day: a chart of its results, and its numbers.

use std::collections::BTreeMap;

use launchway_domain::report::{REPORT_DAYS, ReportKind};
use launchway_domain::time::{DAY, date};
use launchway_store::DayCount;

/// The minimum number of days in the chart, because a single one would fill all of it.
const MIN_DAYS: i64 = 14;
/// The width of a day, in units of the chart.
const DAY_WIDTH: i64 = 10;
/// The height of the greatest day, in units of the chart.
const HEIGHT: i64 = 100;

/// The days from the first with a report to today.
pub struct Days {
    /// The width of the chart, in its units.
    pub width: i64,
    /// The bars: one day's results are stacked.
    pub bars: Vec<Bar>,
    /// The greatest number of results on a day.
    pub most: i64,
    /// The first day of the chart, such as `2026-11-05`.
    pub first: String,
    /// The last day of the chart.
    pub last: String,
    /// The days with a report, newest first.
    pub rows: Vec<Row>,
}

/// A part of a day's column.
#[derive(Debug, PartialEq, Eq)]
pub struct Bar {
    /// The distance from the left.
    pub x: i64,
    /// The distance from the top.
    pub y: i64,
    /// At least 1, so that a single device is visible.
    pub height: i64,
    /// The class of its color.
    pub colour: &'static str,
}

/// The numbers of a day.
#[derive(Default)]
pub struct Row {
    /// Such as `2026-11-05`.
    pub date: String,
    /// Devices that have the package.
    pub downloaded: i64,
    /// Devices that installed it.
    pub installed: i64,
    /// Devices that confirmed it.
    pub confirmed: i64,
    /// Devices that rolled it back.
    pub rolled_back: i64,
    /// Devices on which it failed.
    pub failed: i64,
}

impl Row {
    fn add(&mut self, count: &DayCount) {
        let of = match count.kind {
            ReportKind::Downloaded => &mut self.downloaded,
            ReportKind::Installed => &mut self.installed,
            ReportKind::Confirmed => &mut self.confirmed,
            ReportKind::RolledBack => &mut self.rolled_back,
            ReportKind::Failed => &mut self.failed,
        };
        *of += count.count;
    }

    fn outcomes(&self) -> [(i64, &'static str); 3] {
        [
            (self.confirmed, "good"),
            (self.rolled_back, "warn"),
            (self.failed, "bad"),
        ]
    }

    fn ended(&self) -> i64 {
        self.outcomes().iter().map(|(count, _)| count).sum()
    }
}

impl Days {
    /// The days with counts, up to today; `None` if no count is left.
    pub fn of(counts: &[DayCount], today: i64) -> Option<Days> {
        let mut rows: BTreeMap<i64, Row> = BTreeMap::new();
        // Clean-up may not have run yet.
        for count in counts.iter().filter(|count| count.day > today - REPORT_DAYS) {
            let row = rows.entry(count.day).or_insert_with(|| Row {
                date: date(count.day * DAY),
                ..Row::default()
            });
            row.add(count);
        }
        let (earliest, latest) = (*rows.keys().next()?, *rows.keys().next_back()?);
        // A node whose clock is ahead has counted for tomorrow.
        let last = latest.max(today);
        let first = earliest.min(last - MIN_DAYS + 1);
        let most = rows.values().map(Row::ended).max().unwrap_or_default();
        Some(Days {
            width: (last - first + 1) * DAY_WIDTH,
            bars: rows
                .iter()
                .flat_map(|(day, row)| column(row, (day - first) * DAY_WIDTH + 1, most))
                .collect(),
            most,
            first: date(first * DAY),
            last: date(last * DAY),
            rows: rows.into_values().rev().collect(),
        })
    }
}

/// The bars of a day, from the bottom up.
fn column(row: &Row, x: i64, most: i64) -> Vec<Bar> {
    let mut top = HEIGHT;
    let some = row.outcomes().into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, colour)| {
        let height = (count * HEIGHT / most.max(1)).max(1);
        top = (top - height).max(0);
        Bar {
            x,
            y: top,
            height,
            colour,
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(day: i64, kind: ReportKind, count: i64) -> DayCount {
        DayCount { day, kind, count }
    }

    #[test]
    fn a_day_is_a_column_of_how_it_ended() {
        let counts = [
            count(0, ReportKind::Confirmed, 7),
            count(95, ReportKind::Confirmed, 6),
            count(95, ReportKind::Failed, 2),
            count(95, ReportKind::Installed, 9),
            count(99, ReportKind::RolledBack, 4),
        ];
        let days = Days::of(&counts, 100).expect("some days");
        assert_eq!((days.width, days.most), (140, 8));
        assert_eq!((days.first.as_str(), days.last.as_str()), ("1970-03-29", "1970-04-11"));
        let bar = |x, y, height, colour| Bar { x, y, height, colour };
        assert_eq!(
            days.bars,
            [bar(81, 25, 75, "good"), bar(81, 0, 25, "bad"), bar(121, 50, 50, "warn"),]
        );
        let rows: Vec<_> = days
            .rows
            .iter()
            .map(|row| (row.date.as_str(), row.installed, row.failed))
            .collect();
        assert_eq!(rows, [("1970-04-10", 0, 0), ("1970-04-06", 9, 2)]);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(Days::of(&[], 100).is_none());
        assert!(
            Days::of(&[count(10, ReportKind::Failed, 1)], 100).is_none(),
            "too long ago"
        );
        let only = Days::of(&[count(100, ReportKind::Downloaded, 1)], 100).expect("a day");
        assert!(only.bars.is_empty() && only.most == 0 && only.rows.len() == 1);
    }
}
