//! The RFC 8785 form of a fingerprint document: the canonical text that every implementation hashes.
//!
//! Written by hand for this document only, so that a library update cannot change hashes.

use super::document::FingerprintDocument;

/// The canonical JSON of a document: no spaces, fields sorted by name.
pub(super) fn write(document: &FingerprintDocument) -> String {
    let mut json = String::from("{\"alg\":");
    text(&mut json, document.algorithm().as_str());
    json.push_str(",\"framework\":");
    text(&mut json, document.framework().as_str());
    json.push_str(",\"native\":");
    text(&mut json, document.native());
    json.push_str(",\"platform\":");
    text(&mut json, document.platform().as_str());
    json.push_str(",\"plugins\":{");
    let mut plugins: Vec<_> = document.plugins().iter().collect();
    // RFC 8785 part 3.2.3: by UTF-16 code units, which is not the order of UTF-8 beyond U+FFFF.
    plugins.sort_by(|(this, _), (that, _)| this.encode_utf16().cmp(that.encode_utf16()));
    for (place, (name, version)) in plugins.into_iter().enumerate() {
        if place > 0 {
            json.push(',');
        }
        text(&mut json, name);
        json.push(':');
        text(&mut json, version);
    }
    json.push_str("},\"resources\":");
    text(&mut json, document.resources());
    json.push('}');
    json
}

/// Writes a JSON string as RFC 8785 section 3.2.2.2 specifies: the short escapes, `\u00xx` in lower case for other
/// controls, and everything else unchanged.
fn text(json: &mut String, text: &str) {
    json.push('"');
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\u{8}' => json.push_str("\\b"),
            '\t' => json.push_str("\\t"),
            '\n' => json.push_str("\\n"),
            '\u{c}' => json.push_str("\\f"),
            '\r' => json.push_str("\\r"),
            '\0'..='\u{1f}' => json.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => json.push(letter),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(value: &str) -> String {
        let mut json = String::new();
        text(&mut json, value);
        json
    }

    #[test]
    fn strings_are_escaped_as_the_rfc_has_it() {
        // The string of the sample in RFC 8785 parts 3.2.2 and 3.2.3.
        assert_eq!(written("\u{20ac}$\u{f}\nA'B\"\\\\\"/"), r#""€$\u000f\nA'B\"\\\\\"/""#);
        assert_eq!(
            written("\u{0}\u{8}\t\u{b}\u{c}\r\u{1f}\u{7f}\u{2028}"),
            "\"\\u0000\\b\\t\\u000b\\f\\r\\u001f\u{7f}\u{2028}\""
        );
        assert_eq!(written(""), "\"\"");
    }

    proptest! {
        #[test]
        fn strings_read_back_as_they_were(value in any::<String>()) {
            let json = written(&value);
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), value);
        }
    }
}
