//! Messages to users and in logs follow one style (`docs/style.md`): this reads the string literals of all crates, and
//! the documentation comments that become `--help`.

#![cfg(test)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use launchway_testing::workspace::{files_below, root, rust_files};
use serde_json::Value;

/// The messages that the reference quotes, and the page that does. They stay as they are byte for byte.
const FIXED: [(&str, &str); 8] = [
    ("No authentication provided", "conventions.md"),
    ("Invalid or expired API key", "conventions.md"),
    ("API key does not have '", "conventions.md"),
    ("Bundle ID is required", "conventions.md"),
    ("currentVersion is required", "conventions.md"),
    ("id is required", "conventions.md"),
    ("No update available", "updates.md"),
    ("No updates found for this bundle", "updates.md"),
];

/// Folders whose texts are not ours, or that no user sees: the simulator uses the wording of the app stores, the store
/// is SQL.
const SKIPPED: [&str; 3] = ["crates/app-store-simulator/", "crates/store/", "crates/testing/"];

/// Texts that look like messages but are not: commands, comments of generated files, rows, and descriptions of schemas.
const NOT_MESSAGES: [&str; 8] = [
    "flutter create ",
    "# ",
    "{platform}  root {version}",
    "{} Newer servers may add words.",
    "Another track of Google Play.",
    "Where the app goes:",
    "The events that a webhook receives:",
    "Settings that differ on one platform.",
];

/// The calls that make a message of an API response.
const RESPONSES: [&str; 7] = [
    "ApiError::bad(",
    "ApiError::BadRequest(",
    "ApiError::Forbidden(",
    "ApiError::NoneFits(",
    "ApiError::NotProven(",
    "ApiError::TooLarge(",
    "ApiError::Unavailable(",
];

/// A field that only forms of pages have.
const PAGE_FIELD: &str = "file";

/// Dialect, British spelling, apologies and contractions, in lower case.
const FORBIDDEN: [&str; 34] = [
    "anew",
    "any more",
    "at home",
    "begun",
    "behaviour",
    "broke off",
    "by hand",
    "came of",
    "can't",
    "cancelled",
    "cannot be told",
    "colour",
    "doesn't",
    "don't",
    "enrol",
    "enrolment",
    "enrols",
    "fell silent",
    "go on",
    "goes on",
    "honour",
    "is none",
    "isn't",
    "mend",
    "mended",
    "oops",
    "organisation",
    "please",
    "recognise",
    "recognised",
    "sorry",
    "unless told",
    "unmakes",
    "whoever",
];

#[test]
fn messages_follow_the_style() {
    let (mut messages, mut wrong) = (0, Vec::new());
    for file in rust_files() {
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let skipped = SKIPPED.iter().any(|folder| path.starts_with(folder));
        if skipped || !path.starts_with("crates/") || !path.contains("/src/") || is_test(&path) {
            continue;
        }
        for (place, text) in literals(&fs::read_to_string(&file).unwrap()) {
            if !is_message(&text, &place) {
                continue;
            }
            messages += 1;
            if text.contains('\n') {
                // Text for a terminal, a file or a chat: several lines, of which each has its own punctuation.
                wrong.extend(is_forbidden(&text).then(|| format!("{path}: forbidden: {text:?}")));
                continue;
            }
            // Paragraphs of `--help` are prose.
            let prose = path.starts_with("crates/cli/src/args");
            let found = faults(&text, &place).filter(|fault| !prose || *fault != "full stop");
            wrong.extend(found.map(|fault| format!("{path}: {fault}: {text:?}")));
        }
    }
    assert!(messages > 1500, "the search finds only {messages} messages");
    assert!(wrong.is_empty(), "see docs/style.md:\n{}", wrong.join("\n"));
}

#[test]
fn api_messages_start_with_a_capital_or_a_field() {
    let (fields, mut messages, mut wrong) = (field_names(), 0, Vec::new());
    for file in rust_files() {
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        if !path.starts_with("crates/") || !path.contains("/src/") || is_test(&path) {
            continue;
        }
        let literals = literals(&fs::read_to_string(&file).unwrap());
        for (_, text) in literals.into_iter().filter(|(place, _)| is_response(place)) {
            messages += 1;
            if !starts_well(&text, &fields) {
                wrong.push(format!("{path}: {text:?}"));
            }
        }
    }
    assert!(messages > 200, "the search finds only {messages} messages");
    assert!(wrong.is_empty(), "see docs/style.md:\n{}", wrong.join("\n"));
}

#[test]
fn help_has_no_forbidden_words() {
    let in_help = |path: &Path| {
        let path = path.strip_prefix(root()).unwrap().to_str().unwrap();
        let starts = [
            "crates/cli/src/args",
            "crates/server/src/admin",
            "crates/server/src/program",
        ];
        path == "crates/config/src/raw.rs" || starts.iter().any(|start| path.starts_with(start))
    };
    let files: Vec<_> = rust_files().into_iter().filter(|file| in_help(file)).collect();
    let mut lines = 0;
    for file in files {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let Some(text) = line.trim_start().strip_prefix("///") else {
                continue;
            };
            lines += 1;
            let found: Vec<_> = faults(text.trim(), "").filter(|fault| *fault != "full stop").collect();
            assert!(found.is_empty(), "{}: {found:?}: {text}", file.display());
        }
    }
    assert!(lines > 300, "the search finds only {lines} lines of help");
}

#[test]
fn pages_have_no_forbidden_words() {
    let templates = files_below(&root().join("crates"), &["html"]);
    let templates: Vec<_> = templates
        .iter()
        .filter(|file| file.to_str().unwrap().contains("/templates/"))
        .collect();
    assert!(templates.len() > 20, "the search finds only {templates:?}");
    for file in templates {
        let page = fs::read_to_string(file).unwrap();
        let texts = page
            .split('<')
            .filter_map(|part| part.split_once('>'))
            .map(|(_, text)| text);
        for text in texts {
            assert!(!is_forbidden(text), "{}: {text:?}", file.display());
        }
    }
}

#[test]
fn fixed_messages_are_as_the_reference_quotes_them() {
    let sources: String = rust_files()
        .iter()
        .filter(|file| file.to_str().unwrap().contains("/src/"))
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    for (text, page) in FIXED {
        let reference = fs::read_to_string(root().join("docs/reference").join(page)).unwrap();
        assert!(reference.contains(text), "{page} does not quote {text:?}");
        assert!(sources.contains(text), "no source says {text:?}");
    }
}

#[test]
fn bad_messages_are_found() {
    let rows = [
        ("The build is deleted.", "", "full stop"),
        ("The link has expired. Ask for a new one", "", "full stop"),
        ("The build begins anew here", "", "forbidden"),
        ("Please send the form again", "", "forbidden"),
        ("The colour is not valid", "", "forbidden"),
        ("The build  has two spaces", "", "double space"),
        ("The build is done!", "", "exclamation mark"),
        ("The lease was lost here", "tracing::warn!(", "case"),
        ("Cannot read the file here", "Failure::usage(", "case"),
    ];
    for (text, place, expected) in rows {
        let found: Vec<_> = faults(text, place).collect();
        assert_eq!(found, [expected], "{text}");
    }
    let good = [
        ("The build is deleted", ""),
        ("The link has expired. Ask for a new one.", ""),
        ("{0} is missing. {1}.", ""),
        ("lost the lease of a job", "tracing::warn!("),
        ("PATH is only the part", "Failure::usage("),
    ];
    for (text, place) in good {
        assert_eq!(faults(text, place).count(), 0, "{text}");
    }
    let fields = BTreeSet::from(["rollout".to_owned()]);
    assert!(is_response("return Err(ApiError::bad(format!("));
    assert!(!is_response("ApiError::NoSuch("));
    for (text, expected) in [
        ("rollout must be a whole number", true),
        ("`x` is not a word", true),
        ("{name} is required", true),
        ("cannot create a temporary file", false),
    ] {
        assert_eq!(starts_well(text, &fields), expected, "{text}");
    }
}

#[test]
fn literals_are_read_as_the_compiler_reads_them() {
    let source = "// \"a comment\"\nlet c = '\"'; f(\"one \\\"two\\\" \\\n      three\"); g(r#\"raw \"text\"\"#);\n";
    let texts: Vec<String> = literals(source).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["one \"two\" three", "raw \"text\""]);
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// The names of all fields and parameters of the API, and of the field that only pages have.
fn field_names() -> BTreeSet<String> {
    fn collect(value: &Value, names: &mut BTreeSet<String>) {
        let properties = value["properties"].as_object().into_iter().flatten();
        names.extend(properties.map(|(name, _)| name.clone()));
        if let (Some(name), Some(_)) = (value["name"].as_str(), value["in"].as_str()) {
            names.insert(name.to_owned());
        }
        match value {
            Value::Object(members) => members.values().for_each(|inner| collect(inner, names)),
            Value::Array(items) => items.iter().for_each(|inner| collect(inner, names)),
            _ => {}
        }
    }
    let document = fs::read_to_string(root().join("docs/openapi.json")).unwrap();
    let mut names = BTreeSet::from([PAGE_FIELD.to_owned()]);
    collect(&serde_json::from_str(&document).unwrap(), &mut names);
    names
}

/// Whether a literal at this place is the message of an API response.
fn is_response(place: &str) -> bool {
    let place = place.trim_end().trim_end_matches("format!(").trim_end();
    RESPONSES.iter().any(|call| place.ends_with(call))
}

/// Whether the message of an API response starts with a capital letter, a placeholder, a value, or the name of a field.
fn starts_well(text: &str, fields: &BTreeSet<String>) -> bool {
    let word = text.split([' ', '.', '[', ':']).next().unwrap_or_default();
    !word.starts_with(char::is_lowercase) || fields.contains(word)
}

/// Whether a literal is a message: at least three words, and neither code nor a note to developers.
fn is_message(text: &str, place: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_ascii_alphabetic() && letter != '\'');
    let code = ["<", "$", "::", "SELECT", "DELETE", "WHERE", "=\"", "{\""];
    let developers = ["expect(", "reason = ", "system(", "unreachable!("];
    words.filter(|word| word.len() >= 2).count() >= 3
        && !text.starts_with(' ')
        && !code.iter().any(|part| text.contains(part))
        && !developers.iter().any(|part| place.ends_with(part))
        && !NOT_MESSAGES.iter().any(|start| text.starts_with(start))
}

/// What is wrong with a message. `place` is the code before it.
fn faults(text: &str, place: &str) -> impl Iterator<Item = &'static str> {
    let wrong_case = is_lower_case(place) && starts_a_sentence(text);
    let exclaims = text.ends_with('!') || text.contains("! ");
    [
        (has_wrong_stop(text), "full stop"),
        (is_forbidden(text), "forbidden"),
        (text.contains("  "), "double space"),
        (exclaims, "exclamation mark"),
        (wrong_case, "case"),
    ]
    .into_iter()
    .filter_map(|(wrong, name)| wrong.then_some(name))
}

/// Whether a text has a forbidden word.
fn is_forbidden(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    FORBIDDEN.iter().any(|word| {
        lower.match_indices(word).any(|(at, _)| {
            !is_letter(lower[..at].chars().next_back()) && !is_letter(lower[at + word.len()..].chars().next())
        })
    })
}

/// One sentence has no full stop at the end; several each have one. What follows a colon, and a placeholder that is a
/// sentence of its own, may end otherwise.
fn has_wrong_stop(text: &str) -> bool {
    let starts = |at: usize| {
        let next = text[at + 2..].chars().next();
        next.is_some_and(|letter| letter.is_uppercase() || letter == '`' || letter == '{')
    };
    let last = [". ", "? "].iter().flat_map(|end| text.match_indices(end));
    let Some(last) = last.map(|(at, _)| at).filter(|at| starts(*at)).max() else {
        return text.ends_with('.');
    };
    let last = &text[last + 2..];
    let is_placeholder = last.starts_with('{') && last.ends_with('}') && !last.contains(' ');
    let ends = last.ends_with(['.', '?', ':']) || last.contains(".{") || last.contains(": ");
    !ends && !is_placeholder
}

/// Whether texts at this place are lower case: log lines, and errors and hints of the command line.
fn is_lower_case(place: &str) -> bool {
    let calls = ["Failure::usage(", "Failure::failed(", ".hint("];
    let place = place
        .trim_end()
        .trim_end_matches("format!(")
        .trim_end()
        .trim_end_matches('&');
    let logs = ["info!(", "warn!(", "error!(", "debug!("];
    let is_argument = |call: &&str| {
        place
            .rsplit_once(*call)
            .is_some_and(|(_, rest)| !rest.contains([';', '"', '}']))
    };
    calls.iter().any(|call| place.ends_with(call)) || logs.iter().any(is_argument)
}

/// Whether a text starts with a capitalized word that is not a name in its own spelling, such as `PATH`.
fn starts_a_sentence(text: &str) -> bool {
    let word = text.split(' ').next().unwrap_or_default();
    word.len() > 1 && word.starts_with(char::is_uppercase) && word[1..].chars().all(|letter| letter.is_lowercase())
}

/// The string literals of a file outside of its tests, each with the code before it.
fn literals(source: &str) -> Vec<(String, String)> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let (mut found, mut rest) = (Vec::new(), source);
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let (before, after) = rest.split_at(at);
        let place = code_before(&source[..source.len() - after.len()]);
        rest = if after.starts_with("//") {
            after.split_once('\n').map_or("", |(_, rest)| rest)
        } else if let Some(quote) = after.strip_prefix('\'') {
            let escaped = quote.starts_with('\\');
            let end = quote.char_indices().skip(1 + usize::from(escaped)).take(1);
            match end.filter(|(_, letter)| *letter == '\'').map(|(end, _)| end).next() {
                Some(end) => &quote[end + 1..],
                None => quote,
            }
        } else if let Some(text) = after.strip_prefix('"') {
            let hashes = before.len() - before.trim_end_matches('#').len();
            let is_raw = before.trim_end_matches('#').ends_with('r');
            let (text, rest) = if is_raw { raw(text, hashes) } else { plain(text) };
            found.push((place.to_owned(), text));
            rest
        } else {
            &after[1..]
        };
    }
    found
}

/// The end of the code before a literal.
fn code_before(code: &str) -> &str {
    let code = code.trim_end();
    let start = code.len().saturating_sub(200);
    let start = (start..code.len()).find(|at| code.is_char_boundary(*at));
    &code[start.unwrap_or_default()..]
}

fn raw(text: &str, hashes: usize) -> (String, &str) {
    let (text, rest) = text
        .split_once(&format!("\"{}", "#".repeat(hashes)))
        .unwrap_or((text, ""));
    (text.to_owned(), rest)
}

fn plain(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &text[at + 1..]),
            '\\' => match letters.next().map(|(_, letter)| letter) {
                Some('\n') => while letters.next_if(|(_, letter)| letter.is_whitespace()).is_some() {},
                Some('n') => value.push('\n'),
                Some(other) => value.push(other),
                None => {}
            },
            other => value.push(other),
        }
    }
    (value, "")
}
