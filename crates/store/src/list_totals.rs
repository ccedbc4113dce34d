//! Kept totals of lists: rows that triggers add whenever a row of a list appears, changes or goes, and their sums
//! (`docs/adr/0028-totals-of-lists-are-kept.md`).

mod folding;

use std::fmt::Write as _;

use crate::lists::{Column, Filter, List, contains};
use crate::tx::Tx;
use crate::{Paging, StoreError};

pub use folding::{FoldCursor, UnfoldedList};

/// The list of the builds of a branch: an organization may have very many branches, so that other totals leave them out.
const BRANCHES: &str = "branches";
/// The column that has the branch in that list.
const NAME: &str = "name";
const BUILDS: &str = "builds";

/// How many rows match a filter.
#[derive(Debug)]
pub(crate) struct Totals {
    /// All of its conditions.
    pub(crate) all: i64,
    /// Each of its equalities alone.
    pub(crate) of_each: Vec<i64>,
}

impl Totals {
    /// The equality that the fewest rows meet.
    pub(crate) fn leading(&self) -> usize {
        let fewest = self.of_each.iter().enumerate().min_by_key(|(_, total)| **total);
        fewest.map_or(0, |(at, _)| at)
    }

    /// What to read of a page: a database stops at the last row that matches.
    pub(crate) fn bounded(&self, paging: Paging) -> Paging {
        Paging {
            limit: paging.limit.min(self.all - paging.offset).max(0),
            offset: paging.offset,
        }
    }
}

/// Writes the statement that sums the totals of a filter. Its first row is that of all conditions.
fn statement(list: &List, filter: &Filter<'_>) -> String {
    let conditions = |equal: &dyn Fn(usize) -> bool, with_parts: bool| {
        let (mut text, mut has_branch, mut number) = (String::new(), false, 2);
        for (at, (column, _)) in filter.equal.iter().enumerate() {
            if equal(at) {
                // Writing to a string cannot fail.
                let _ = write!(text, " AND {} = ${number}", column.of_totals);
                has_branch |= is_branch(list, *column);
            }
            number += 1;
        }
        for (column, _) in filter.parts.iter().filter(|_| with_parts) {
            text += " AND ";
            text += &contains(column.of_totals, number);
            has_branch |= is_branch(list, *column);
            number += 1;
        }
        let name = if has_branch { BRANCHES } else { list.name };
        format!("FROM list_totals WHERE org_id = $1 AND list = '{name}'{text}")
    };
    let sum = "CAST(COALESCE(SUM(n), 0) AS BIGINT)";
    let mut text = format!("SELECT 0, {sum} {}", conditions(&|_| true, true));
    // A single equality needs no choice.
    let each = if filter.equal.len() < 2 { 0 } else { filter.equal.len() };
    for at in 0..each {
        let _ = write!(
            text,
            " UNION ALL SELECT {}, {sum} {}",
            at + 1,
            conditions(&|other| other == at, false)
        );
    }
    text + " ORDER BY 1"
}

fn is_branch(list: &List, column: Column) -> bool {
    list.name == BUILDS && column.of_totals == NAME
}

/// How many rows of an organization match a filter.
pub(crate) async fn totals(tx: &mut Tx, org: &str, list: &List, filter: &Filter<'_>) -> Result<Totals, StoreError> {
    let rows: Vec<(i32, i64)> = fetch_all_bound!(tx, (i32, i64), statement(list, filter), org, filter.values())?;
    let mut sums = rows.into_iter().map(|(_, sum)| sum);
    Ok(Totals {
        all: sums.next().unwrap_or_default(),
        of_each: sums.collect(),
    })
}

/// Reads a page of a [`List`] into rows, and its total.
macro_rules! fetch_page {
    ($tx:expr, $row:ty, $org:expr, $list:expr, $filter:expr, $paging:expr $(,)?) => {{
        let (list, filter, paging): (&$crate::lists::List, &$crate::lists::Filter<'_>, $crate::Paging) =
            ($list, $filter, $paging);
        let totals = match filter.is_direct() {
            true => None,
            false => Some($crate::list_totals::totals($tx, $org, list, filter).await?),
        };
        let (leading, bounded) = match &totals {
            Some(totals) => (totals.leading(), totals.bounded(paging)),
            None => (0, paging),
        };
        let rows: Vec<$row> = match bounded.limit {
            0 => Vec::new(),
            _ => fetch_all_bound!(
                $tx,
                $row,
                filter.page(list, leading),
                $org,
                filter.values(),
                bounded.limit,
                bounded.offset
            )?,
        };
        let shown = $crate::lists::shown_total(paging, rows.len());
        let total = match (totals, shown) {
            (Some(totals), _) => totals.all,
            (None, Some(total)) => total,
            (None, None) if filter.is_uncounted() => {
                let counts: Vec<(i64,)> = fetch_all_bound!($tx, (i64,), filter.count(list), $org, filter.values())?;
                counts.first().map_or(0, |(count,)| *count)
            }
            (None, None) => $crate::list_totals::totals($tx, $org, list, filter).await?.all,
        };
        (rows, total)
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_that_the_fewest_rows_meet_leads() {
        let totals = |of_each: &[i64]| Totals {
            all: 1,
            of_each: of_each.to_vec(),
        };
        for (of_each, leading) in [(&[][..], 0), (&[7], 0), (&[9, 2, 5], 1), (&[3, 3], 0)] {
            assert_eq!(totals(of_each).leading(), leading);
        }
    }

    #[test]
    fn a_page_ends_with_the_last_row() {
        let totals = Totals {
            all: 12,
            of_each: Vec::new(),
        };
        for (limit, offset, rows) in [(10, 0, 10), (10, 10, 2), (10, 12, 0), (10, 99, 0)] {
            assert_eq!(totals.bounded(Paging { limit, offset }).limit, rows);
        }
    }

    #[test]
    fn the_totals_of_branches_are_read_only_for_a_branch() {
        let list = List {
            name: BUILDS,
            select: "",
            order: "",
        };
        let branch = Column {
            of_rows: "branch",
            of_totals: NAME,
        };
        let filter = Filter::default()
            .equal(Column::named("status"), Some("failed"))
            .equal(branch, Some("main"));
        let sum = "CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM list_totals WHERE org_id = $1 AND list =";
        assert_eq!(
            statement(&list, &filter),
            format!(
                "SELECT 0, {sum} 'branches' AND status = $2 AND name = $3 UNION ALL SELECT 1, {sum} 'builds' AND status = $2 \
                 UNION ALL SELECT 2, {sum} 'branches' AND name = $3 ORDER BY 1"
            )
        );
    }
}
