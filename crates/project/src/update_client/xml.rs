//! Values of Android's resources and manifests and of property lists, without a parser: these files are untrusted, and what
//! is not plain counts as absent.

use super::settings::SettingValue;

/// Markup that is looked at in one file. Files of an app have far less.
const MOST_ELEMENTS: usize = 20_000;

/// The file without comments. An unclosed comment ends it.
pub fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = behind.split_once("-->").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// The text of `<string name="…">` in Android's resources.
pub fn string_resource(text: &str, name: &str) -> Option<SettingValue> {
    elements(text, "<string").find_map(|(tag, rest)| {
        if attribute(tag, "name")? != name {
            return None;
        }
        Some(value(rest.split_once("</string>")?.0))
    })
}

/// `android:value` of `<meta-data android:name="…">` in Android's manifest.
pub fn meta_data(text: &str, name: &str) -> Option<SettingValue> {
    elements(text, "<meta-data").find_map(|(tag, _)| {
        if attribute(tag, "android:name")? != name {
            return None;
        }
        attribute(tag, "android:value").map(value)
    })
}

/// The text behind `<key>…</key>` in a property list, at any depth.
pub fn property(text: &str, name: &str) -> Option<SettingValue> {
    crate::native_version::scan::property_list_value(text, name).map(|text| value(&text))
}

/// The attributes of each element of this name, and what follows its tag.
fn elements<'t>(text: &'t str, start: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let starts = text.match_indices(start).take(MOST_ELEMENTS);
    starts.filter_map(move |(at, _)| {
        let rest = &text[at + start.len()..];
        let is_whole_name = rest.starts_with(|letter: char| letter.is_whitespace());
        rest.split_once('>').filter(|_| is_whole_name)
    })
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    tag.match_indices(name).find_map(|(at, _)| {
        let is_start = tag[..at].ends_with(|letter: char| letter.is_whitespace());
        let rest = tag[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
        is_start.then_some(())?;
        rest[1..].split_once(quote).map(|(value, _)| value)
    })
}

/// A text with its entities resolved; `$(…)`, `${…}` and references to other resources are computed.
fn value(text: &str) -> SettingValue {
    let text = text.trim();
    if text.contains("$(") || text.contains("${") || text.starts_with('@') || text.contains('<') {
        return SettingValue::Computed;
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    let text = entities
        .iter()
        .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter));
    SettingValue::of(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<SettingValue> {
        Some(SettingValue::Text(text.to_owned()))
    }

    #[test]
    fn resources_are_read_as_android_writes_them() {
        let rows = [
            ("<string name=\"K\">a</string>", text("a")),
            (
                "<string moduleConfig=\"true\" name='K' >\n a &amp; b\n</string>",
                text("a & b"),
            ),
            (
                "<string name=\"K\">@string/other</string>",
                Some(SettingValue::Computed),
            ),
            ("<string name=\"K\">${KEY}</string>", Some(SettingValue::Computed)),
            ("<string name=\"K\"></string>", None),
            ("<!-- <string name=\"K\">a</string> -->", None),
            ("<!-- <string name=\"K\">a</string>", None),
            ("<string-array name=\"K\">a</string-array>", None),
            ("<string rename=\"K\">a</string>", None),
            ("<string name=\"KK\">a</string>", None),
            ("<string name=\"K\">a", None),
            ("<string name=\"K", None),
            ("<string", None),
        ];
        for (file, expected) in rows {
            let found = string_resource(&without_comments(file), "K").filter(|value| *value != SettingValue::of(""));
            assert_eq!(found, expected, "{file}");
        }
    }

    #[test]
    fn manifests_and_property_lists_are_read() {
        let manifest = "<application>\n<meta-data\n  android:value = \"https://a/b\"\n  android:name=\"x.URL\"/>\n\
                        <meta-data android:name=\"x.VERSION\" android:value=\"@string/version\"/></application>";
        assert_eq!(meta_data(manifest, "x.URL"), text("https://a/b"));
        assert_eq!(meta_data(manifest, "x.VERSION"), Some(SettingValue::Computed));
        assert_eq!(meta_data(manifest, "x"), None);
        let plist =
            "<dict><key>A</key>\n<string>$(KEY)</string><key>B</key><dict><key>C</key><string>c</string></dict></dict>";
        assert_eq!(property(plist, "A"), Some(SettingValue::Computed));
        assert_eq!(property(plist, "C"), text("c"));
        assert_eq!(property(plist, "B"), None);
    }

    #[test]
    fn hostile_files_end() {
        for text in [
            "<string ".repeat(300_000),
            "<!--".repeat(300_000),
            "<meta-data\n".repeat(200_000),
        ] {
            let text = without_comments(&text);
            assert_eq!(string_resource(&text, "K"), None);
            assert_eq!(meta_data(&text, "K"), None);
        }
    }
}
