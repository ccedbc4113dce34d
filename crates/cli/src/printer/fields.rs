//! Formats one resource: a name and a value on each line, with aligned values.

use std::fmt::Write as _;

use launchway_api::lists::Page;
use launchway_domain::time::{from_rfc3339, minute};

use crate::printer::clean;

/// Aligns names and values. The further lines of a value are indented to its first; empty values are omitted.
pub fn fields(rows: &[(&str, String)]) -> String {
    let shown = || rows.iter().filter(|(_, value)| !value.is_empty());
    let width = shown().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in shown() {
        for (number, line) in clean(value).lines().enumerate() {
            let name = if number == 0 { name } else { "" };
            let _ = writeln!(text, "{}", format!("{name:width$}  {line}").trim_end());
        }
    }
    text
}

/// `1 file`, `2 files`.
pub fn count_files(count: i64) -> String {
    match count {
        1 => "1 file".to_owned(),
        _ => format!("{count} files"),
    }
}

/// `2026-11-20T10:00:00.000Z` as `2026-11-20 10:00`.
pub fn format_minute(time: &str) -> String {
    from_rfc3339(time).map_or_else(|| time.to_owned(), minute)
}

/// Which part of a list a page is. `thing` is the singular name of the elements.
pub fn page_summary<T>(thing: &str, page: &Page<T>) -> String {
    let things = match thing.strip_suffix('y').filter(|stem| !stem.ends_with('e')) {
        Some(stem) => format!("{stem}ies"),
        None => format!("{thing}s"),
    };
    let shown = i64::try_from(page.items.len()).unwrap_or(i64::MAX);
    let next = page.offset.saturating_add(shown);
    match (page.total, shown) {
        (0, _) => format!("No {things}"),
        (total, 0) => format!("No {things} at this offset; there are {total}"),
        (total, _) if next < total => format!("{shown} of {total} {things}; --offset {next} shows the next"),
        (1, _) => format!("1 {thing}"),
        (total, _) if shown == total => format!("{total} {things}"),
        (total, _) => format!("The last {shown} of {total} {things}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_under_each_other() {
        let rows = [
            ("Id", "1".to_owned()),
            ("Empty", String::new()),
            ("Notes", "one\n\ntwo".to_owned()),
        ];
        assert_eq!(fields(&rows), "Id     1\nNotes  one\n\n       two\n");
        assert_eq!(fields(&[]), "");
    }

    #[test]
    fn says_which_part_of_a_list_it_is() {
        let page = |items: usize, total, offset| Page {
            items: vec![(); items],
            total,
            limit: 10,
            offset,
        };
        let rows = [
            ("delivery", page(0, 0, 0), "No deliveries"),
            ("API key", page(0, 3, 5), "No API keys at this offset; there are 3"),
            (
                "delivery",
                page(2, 5, 0),
                "2 of 5 deliveries; --offset 2 shows the next",
            ),
            ("app", page(1, 1, 0), "1 app"),
            ("API key", page(3, 3, 0), "3 API keys"),
            ("app", page(1, 3, 2), "The last 1 of 3 apps"),
        ];
        for (thing, page, said) in rows {
            assert_eq!(page_summary(thing, &page), said);
        }
    }
}
