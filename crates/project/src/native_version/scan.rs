//! Finds a plain value after a name, in files for which a parser would be too much: Gradle files, Xcode projects,
//! scripts.

/// The permitted forms of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Quoted only, so that the name of a variable is not mistaken for its value.
    Quoted,
    /// Quoted, or a bare word of letters, digits, dots and dashes.
    Bare,
}

/// Every plain value of `name` in `name = "value"`, `name: 'value'`, `name "value"` or `name("value")`, and with
/// [`Form::Bare`] also in `name = value;`. Computed values (`$`) and comment lines do not count.
pub fn assigned(text: &str, name: &str, form: Form) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| in_line(line, name, form)).collect()
}

fn in_line(line: &str, name: &str, form: Form) -> Vec<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let starts = line
        .match_indices(name)
        .filter(|(start, _)| !line[..*start].ends_with(is_word));
    let rests = starts
        .map(|(start, _)| &line[start + name.len()..])
        .filter(|rest| !rest.starts_with(is_word));
    rests.filter_map(|rest| value(rest, form)).collect()
}

fn value(rest: &str, form: Form) -> Option<String> {
    // The closing quote of a quoted name, as in JSON.
    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
    let rest = rest.trim_start_matches([' ', '\t', ':', '=', '(']);
    let quote = rest.chars().next().filter(|letter| ['"', '\'', '`'].contains(letter));
    let value = match (quote, form) {
        (Some(quote), _) => rest[1..].split_once(quote)?.0,
        (None, Form::Bare) => {
            let is_value = |letter: char| letter.is_ascii_alphanumeric() || ['.', '-', '+', '_'].contains(&letter);
            &rest[..rest.find(|letter| !is_value(letter)).unwrap_or(rest.len())]
        }
        (None, Form::Quoted) => return None,
    };
    (!value.is_empty() && !value.contains('$')).then(|| value.to_owned())
}

/// The text of the element after `<key>name</key>` in a property list.
pub fn property_list_value(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<key>{name}</key>"))?;
    let value = rest
        .trim_start()
        .strip_prefix("<string>")?
        .split_once("</string>")?
        .0
        .trim();
    Some(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_ways_of_writing_a_value() {
        let rows = [
            ("versionName \"1.2.3\"", "versionName", Form::Quoted, vec!["1.2.3"]),
            ("  versionName = '1.2.3'", "versionName", Form::Quoted, vec!["1.2.3"]),
            ("versionName(\"1.2.3\")", "versionName", Form::Quoted, vec!["1.2.3"]),
            ("versionNameSuffix \"-debug\"", "versionName", Form::Quoted, vec![]),
            ("myversionName \"1\"", "versionName", Form::Quoted, vec![]),
            (
                "// versionName \"0.9\"\nversionName \"1.0\"",
                "versionName",
                Form::Quoted,
                vec!["1.0"],
            ),
            ("versionName \"$major.0\"", "versionName", Form::Quoted, vec![]),
            (
                "versionName rootProject.ext.versionName",
                "versionName",
                Form::Quoted,
                vec![],
            ),
            ("versionCode 42", "versionCode", Form::Bare, vec!["42"]),
            ("versionCode = 42 // note", "versionCode", Form::Bare, vec!["42"]),
            (
                "\tMARKETING_VERSION = 1.0.2;",
                "MARKETING_VERSION",
                Form::Bare,
                vec!["1.0.2"],
            ),
            (
                "\"appId\": \"com.example.app\",",
                "appId",
                Form::Quoted,
                vec!["com.example.app"],
            ),
            (
                "const x = { appId: `com.example.app` }",
                "appId",
                Form::Quoted,
                vec!["com.example.app"],
            ),
            (
                "android:versionName=\"2.0\">",
                "android:versionName",
                Form::Quoted,
                vec!["2.0"],
            ),
            ("versionName", "versionName", Form::Bare, vec![]),
            ("versionName \"", "versionName", Form::Bare, vec![]),
            ("versionName é", "versionName", Form::Bare, vec![]),
        ];
        for (text, name, form, expected) in rows {
            assert_eq!(assigned(text, name, form), expected, "{text}");
        }
    }

    #[test]
    fn reads_property_lists() {
        let text = "<dict><key>A</key>\n\t<string> 1.0 </string><key>B</key><true/></dict>";
        assert_eq!(property_list_value(text, "A").as_deref(), Some("1.0"));
        assert_eq!(property_list_value(text, "B"), None);
        assert_eq!(property_list_value(text, "C"), None);
    }
}
