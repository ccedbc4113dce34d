//! A key with a text in an XML property list. Everything else of the file stays as it is.

use regex::{NoExpand, Regex};

/// The text of the key, if the list has it.
pub(super) fn value(list: &str, key: &str) -> Option<String> {
    let found = entry(key)?.captures(list)?;
    let text = found.get(1)?.as_str();
    // Xcode may have written it again, with quotes escaped.
    let entities = [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    let plain = entities
        .into_iter()
        .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter));
    Some(plain)
}

/// The list with the key: its value replaced if the key exists, otherwise added at the end of the outermost dictionary.
/// `None` if there is no place for it.
pub(super) fn with_value(list: &str, key: &str, value: &str) -> Option<String> {
    let end = if list.contains("\r\n") { "\r\n" } else { "\n" };
    let text = escaped(value);
    let pair = format!("<key>{key}</key>{end}\t<string>{text}</string>");
    let present = entry(key)?;
    if present.is_match(list) {
        return Some(present.replace(list, NoExpand(&pair)).into_owned());
    }
    let outermost = list.rfind("</plist>")?;
    let close = list[..outermost].rfind("</dict>")?;
    // Keep the line of the closing tag. If it shares its line with other tags, the file stays on one line.
    let line = list[..close].trim_end_matches([' ', '\t']).len();
    let before = &list[..line];
    if before.ends_with('\n') {
        return Some(format!("{before}\t{pair}{end}{}", &list[line..]));
    }
    let (before, behind) = (&list[..close], &list[close..]);
    Some(format!("{before}<key>{key}</key><string>{text}</string>{behind}"))
}

/// A text as XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn entry(key: &str) -> Option<Regex> {
    Regex::new(&format!(r"<key>{key}</key>\s*<string>([^<]*)</string>")).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIST: &str = "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n<dict>\n\t<key>A</key>\n\t<string>b</string>\n</dict>\n</plist>\n";

    #[test]
    fn quotes_that_xcode_escaped_are_read() {
        let list = LIST.replace("<string>b</string>", "<string>{&quot;a&quot;: 1}</string>");
        assert_eq!(value(&list, "A").as_deref(), Some("{\"a\": 1}"));
        assert_eq!(value(&list, "B"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(first in ".{0,60}", second in "[<>&\"'; a-z]{0,60}") {
            for list in [LIST.to_owned(), LIST.replace('\n', "\r\n"), LIST.replace(['\n', '\t'], "")] {
                let once = with_value(&list, "Key", &first).unwrap();
                prop_assert_eq!(value(&once, "Key"), Some(first.clone()));
                let twice = with_value(&once, "Key", &second).unwrap();
                prop_assert_eq!(value(&twice, "Key"), Some(second.clone()));
                prop_assert_eq!(value(&twice, "A"), Some("b".to_owned()));
                prop_assert_eq!(twice.matches("<key>").count(), 2);
            }
        }
    }
}
