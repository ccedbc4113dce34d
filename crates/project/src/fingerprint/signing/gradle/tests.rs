//! Tests of the reader of Gradle scripts: comments, strings, and what is left whole.

use proptest::prelude::*;

use super::*;

const LANGUAGES: [Language; 2] = [Language::Groovy, Language::Kotlin];

fn braces(text: &str) -> (usize, usize) {
    (text.matches('{').count(), text.matches('}').count())
}

#[test]
fn nesting_is_bounded() {
    let deep = |levels: usize| "\"${".repeat(levels) + &"}\"".repeat(levels);
    for language in LANGUAGES {
        assert!(code_of(&deep(20), language).is_some());
        assert_eq!(code_of(&deep(100_000), language), None);
        assert_eq!(code_of(&"/*".repeat(100_000), language), None);
        assert_eq!(code_of(&"{".repeat(100_000), language), None);
    }
}

/// A piece of a script that is complete, and whether all of it is code.
fn piece() -> impl Strategy<Value = (&'static str, bool)> {
    prop::sample::select(vec![
        ("minSdk = 23\n", true),
        ("a(b, c) { it.d }\n", true),
        ("x = 6 / 2\n", true),
        ("// it's a { comment\n", false),
        ("/* \" { } } */", false),
        ("\"}${a(\"{\")}{'\"", false),
        ("\"\"\"\n{\"'}}\"\"\"", false),
        ("'{'", false),
        ("\"\\\"{\"", false),
    ])
}

proptest! {
    /// For any input: the remaining bytes are unchanged and in place, and the braces match.
    #[test]
    fn code_is_what_it_was(text in "([{}'\"/*$\\\\\n\r `a-z;é=+]|//|/\\*|\\*/|\"\"\"|'''|\\$\\{|\\$/|/\\$){0,60}") {
        for language in LANGUAGES {
            if let Some(code) = code_of(&text, language) {
                prop_assert_eq!(code.len(), text.len());
                let same = code.bytes().zip(text.bytes()).all(|(code, text)| code == text || code == HIDDEN);
                prop_assert!(same, "{:?}", code);
                let (opened, closed) = braces(&code);
                prop_assert_eq!(opened, closed);
            }
        }
    }

    /// Exactly comments and strings are masked.
    #[test]
    fn comments_and_strings_are_hidden(pieces in prop::collection::vec(piece(), 0..12)) {
        for language in LANGUAGES {
            let (mut text, mut expected) = (String::new(), String::new());
            for (piece, is_code) in &pieces {
                text += piece;
                let hide = |letter: char| if letter == '\n' { '\n' } else { '#' };
                match is_code {
                    true => expected += piece,
                    false => expected.extend(piece.chars().map(hide)),
                }
                // On a line of its own, each piece means the same in every context.
                text += "\n";
                expected += "\n";
            }
            prop_assert_eq!(code_of(&text, language), Some(expected));
        }
    }
}
