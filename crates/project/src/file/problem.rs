//! Messages about an invalid `launchway.toml`: the line, and the name that was probably meant.

use toml::de::Error;

/// Describes an error of the TOML parser, beginning with the line.
pub fn describe(text: &str, error: &Error) -> String {
    let before = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = 1 + text.as_bytes()[..before].iter().filter(|byte| **byte == b'\n').count();
    let message = unknown(error.message()).unwrap_or_else(|| error.message().to_owned());
    format!("line {line}: {message}")
}

/// serde's message about an unknown name, with the most similar known name.
fn unknown(message: &str) -> Option<String> {
    let (what, rest) = match message.strip_prefix("unknown field `") {
        Some(rest) => ("key", rest),
        None => ("value", message.strip_prefix("unknown variant `")?),
    };
    let (name, expected) = rest.split_once('`')?;
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    Some(match nearest(name, &known) {
        Some(meant) => format!("unknown {what} `{name}`; did you mean `{meant}`?"),
        None => format!("unknown {what} `{name}`; known are {}", known.join(", ")),
    })
}

/// The known name that is most similar to a mistyped one.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let distances = known
        .iter()
        .map(|known| (distance(&plain(name), &plain(known)), *known));
    let (distance, meant) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + meant.len() / 4).then_some(meant)
}

/// The edit distance. Long names are cut, because no known name is that long.
fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=one.len()).collect();
    for (at, letter) in other.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, same) in one.iter().enumerate() {
            let exchanged = diagonal + usize::from(*same != letter);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[one.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let known = ["configuration", "build_type", "env", "extends"];
        for (name, meant) in [
            ("configurtion", Some("configuration")),
            ("buildType", Some("build_type")),
            ("evn", None),
            ("en", Some("env")),
            ("extend", Some("extends")),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &known), meant, "{name}");
        }
        assert_eq!(nearest("a", &[]), None);
    }

    #[test]
    fn letters_are_counted() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("é", "e"), 1);
    }
}
