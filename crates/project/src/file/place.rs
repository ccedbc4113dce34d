//! Finds the line of a value in `launchway.toml`, for messages.

use toml::de::{DeTable, DeValue};

use super::depth::is_too_deep;

/// The number of the line that assigns `key` in these tables; `None` when no line does.
pub fn line_of(text: &str, tables: &[String], key: &str) -> Option<usize> {
    if is_too_deep(text) {
        return None;
    }
    let root = DeTable::parse(text).ok()?;
    let mut table = root.get_ref();
    for name in tables {
        table = match table.get(name.as_str())?.get_ref() {
            DeValue::Table(inner) => inner,
            _ => return None,
        };
    }
    let (key, _) = table.get_key_value(key)?;
    let before = text.as_bytes().get(..key.span().start)?;
    Some(1 + before.iter().filter(|byte| **byte == b'\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_however_they_are_written() {
        let text = "[app]\nbundle_id = 'a'\n\n[app.ios]\n# why\nbundle_id = 'b'\n[build]\nx = { android = { bundle_id = 'c' } }\n";
        let rows = [
            (vec!["app"], Some(2)),
            (vec!["app", "ios"], Some(6)),
            (vec!["build", "x", "android"], Some(8)),
            (vec!["app", "android"], None),
            (vec!["app", "bundle_id"], None),
            (vec![], None),
        ];
        for (tables, line) in rows {
            let tables: Vec<String> = tables.into_iter().map(str::to_owned).collect();
            assert_eq!(line_of(text, &tables, "bundle_id"), line, "{tables:?}");
        }
        assert_eq!(line_of("broken", &[], "bundle_id"), None);
        assert_eq!(line_of(&format!("a = {}", "[".repeat(100_000)), &[], "a"), None);
    }
}
