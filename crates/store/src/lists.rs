//! The statements of pages of long lists. Their text contains only the conditions that a request has, so that each filter uses
//! its index.

use std::fmt::Write as _;

use crate::Paging;

/// A list whose totals are kept.
pub(crate) struct List {
    /// Its name in `list_totals`.
    pub(crate) name: &'static str,
    /// The statement up to and including the condition on the organization, `$1`, and what leaves out deleted rows.
    pub(crate) select: &'static str,
    /// The order of the rows.
    pub(crate) order: &'static str,
}

/// A column that a list can be filtered by.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    /// In the rows of the list.
    pub(crate) of_rows: &'static str,
    /// In `list_totals`.
    pub(crate) of_totals: &'static str,
}

impl Column {
    /// A column with the same name in both tables.
    pub(crate) const fn named(name: &'static str) -> Column {
        Column {
            of_rows: name,
            of_totals: name,
        }
    }
}

/// A condition whose rows are counted where they are, and its values.
type Uncounted<'f> = (fn(usize) -> String, Vec<&'f str>);

/// The filter of a list: columns that equal a text, columns that contain one, whatever the letter case, and conditions by which
/// no totals are kept.
#[derive(Default)]
pub(crate) struct Filter<'f> {
    pub(crate) equal: Vec<(Column, &'f str)>,
    pub(crate) parts: Vec<(Column, &'f str)>,
    uncounted: Vec<Uncounted<'f>>,
    /// Whether one of the uncounted conditions has an index, and is met by few rows.
    has_rare: bool,
}

impl<'f> Filter<'f> {
    pub(crate) fn equal(mut self, column: Column, text: Option<&'f str>) -> Filter<'f> {
        self.equal.extend(text.map(|text| (column, text)));
        self
    }

    pub(crate) fn part(mut self, column: Column, text: Option<&'f str>) -> Filter<'f> {
        self.parts.extend(text.map(|text| (column, text)));
        self
    }

    /// Adds a condition by which no totals are kept, unless it has no values. It is written for the number of its first value.
    pub(crate) fn uncounted(
        mut self,
        condition: fn(usize) -> String,
        values: impl IntoIterator<Item = &'f str>,
    ) -> Filter<'f> {
        let values: Vec<_> = values.into_iter().collect();
        if !values.is_empty() {
            self.uncounted.push((condition, values));
        }
        self
    }

    /// Adds an uncounted condition that has an index and is met by few rows.
    pub(crate) fn rare(
        mut self,
        condition: fn(usize) -> String,
        values: impl IntoIterator<Item = &'f str>,
    ) -> Filter<'f> {
        let mut values = values.into_iter().peekable();
        self.has_rare |= values.peek().is_some();
        self.uncounted(condition, values)
    }

    /// Whether its rows must be counted.
    pub(crate) fn is_uncounted(&self) -> bool {
        !self.uncounted.is_empty()
    }

    /// Whether a page is read without the totals: they would not help to choose an index, or there are none.
    pub(crate) fn is_direct(&self) -> bool {
        self.is_uncounted() || (self.equal.len() < 2 && self.parts.is_empty())
    }

    /// The statement of a page, whose values are the organization, those of [`Filter::values`], the limit and the offset. Only the
    /// equality `leading`, which the fewest rows meet, may use an index: without statistics, a database would choose any.
    pub(crate) fn page(&self, list: &List, leading: usize) -> String {
        let limit = self.values().count() + 2;
        let rows = self.rows(list, leading);
        format!("{rows} {} LIMIT ${limit} OFFSET ${}", list.order, limit + 1)
    }

    /// The statement that counts the rows, for conditions by which no totals are kept.
    pub(crate) fn count(&self, list: &List) -> String {
        format!("SELECT COUNT(*) FROM ({}) AS listed", self.rows(list, 0))
    }

    fn rows(&self, list: &List, leading: usize) -> String {
        let leading = (!self.has_rare).then_some(leading);
        let mut text = String::from(list.select);
        let mut number = 2;
        for (at, (column, _)) in self.equal.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = match Some(at) == leading {
                true => write!(text, " AND {} = ${number}", column.of_rows),
                false => write!(text, " AND ({} || '') = ${number}", column.of_rows),
            };
            number += 1;
        }
        for (column, _) in &self.parts {
            text += " AND ";
            text += &contains(column.of_rows, number);
            number += 1;
        }
        for (condition, values) in &self.uncounted {
            text += " AND ";
            text += &condition(number);
            number += values.len();
        }
        text
    }

    /// The values of the conditions, in the order of their placeholders.
    pub(crate) fn values(&self) -> impl Iterator<Item = &'f str> {
        let counted = self.equal.iter().chain(&self.parts).map(|(_, text)| *text);
        counted.chain(self.uncounted.iter().flat_map(|(_, values)| values.iter().copied()))
    }
}

/// The condition that a column contains the text of a parameter, whatever the letter case. It means the same on both databases,
/// and no character of the text has a meaning.
pub(crate) fn contains(column: &str, number: usize) -> String {
    format!("replace(lower({column}), lower(${number}), '') <> lower({column})")
}

/// The total of a list whose page has so many rows, if the page shows it.
pub(crate) fn shown_total(paging: Paging, rows: usize) -> Option<i64> {
    let rows = i64::try_from(rows).ok()?;
    (paging.offset == 0 && rows < paging.limit).then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: List = List {
        name: "builds",
        select: "SELECT id FROM builds WHERE org_id = $1",
        order: "ORDER BY id DESC",
    };

    #[test]
    fn only_the_leading_condition_can_use_an_index() {
        let filter = Filter::default()
            .equal(Column::named("status"), Some("failed"))
            .equal(Column::named("platform"), Some("ios"))
            .equal(Column::named("branch"), None)
            .part(Column::named("configuration"), Some("eta"));
        assert_eq!(
            filter.page(&LIST, 1),
            "SELECT id FROM builds WHERE org_id = $1 AND (status || '') = $2 AND platform = $3 \
             AND replace(lower(configuration), lower($4), '') <> lower(configuration) ORDER BY id DESC LIMIT $5 OFFSET $6"
        );
        assert_eq!(filter.values().collect::<Vec<_>>(), ["failed", "ios", "eta"]);
        assert!(!filter.is_direct() && Filter::default().is_direct());
    }

    #[test]
    fn a_condition_that_few_rows_meet_leads() {
        let filter = Filter::default()
            .equal(Column::named("status"), Some("failed"))
            .rare(|number| format!("build_id = ${number}"), ["x"])
            .uncounted(|number| contains("build_id", number), []);
        let rows = "SELECT id FROM builds WHERE org_id = $1 AND (status || '') = $2 AND build_id = $3";
        assert_eq!(
            filter.page(&LIST, 0),
            format!("{rows} ORDER BY id DESC LIMIT $4 OFFSET $5")
        );
        assert_eq!(filter.count(&LIST), format!("SELECT COUNT(*) FROM ({rows}) AS listed"));
        assert_eq!(filter.values().collect::<Vec<_>>(), ["failed", "x"]);
        assert!(filter.is_direct());
    }

    #[test]
    fn a_page_that_is_not_full_shows_the_total() {
        let page = |limit, offset| Paging { limit, offset };
        for (paging, rows, total) in [
            (page(10, 0), 9, Some(9)),
            (page(10, 0), 0, Some(0)),
            (page(10, 0), 10, None),
            (page(10, 10), 3, None),
        ] {
            assert_eq!(shown_total(paging, rows), total, "{paging:?}");
        }
    }
}
