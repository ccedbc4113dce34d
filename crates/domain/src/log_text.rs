//! The text of a log's line as people read and search it: without colors and control characters.

use memchr::{memchr2, memchr2_iter};

/// A text of so many bytes is short.
const SHORT: usize = 4;
/// What looking at a place costs, in bytes that could be compared instead.
const STOP: usize = 8;
/// A sieve adapts to the log again after it has looked at lines so many times.
const ADAPT: usize = 128;
/// The bytes of lines that it adapts to: at least, and at most.
const SAMPLE: (usize, usize) = (4 << 10, 8 << 10);
/// Begins an escape sequence.
const ESCAPE: u8 = 0x1b;

/// A text without the escape sequences that color terminal output, and without other control characters.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\u{1b}' if rest.peek() == Some(&'[') => {
                rest.next();
                while rest.next_if(|next| !('@'..='~').contains(next)).is_some() {}
                rest.next();
            }
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

/// Writes to `text` in what a search looks for a lower-case text: the line as [`plain`] text in lower case, as UTF-8. Search indexes
/// are made of the same text: a change of this function needs a new version of [`crate::log_index`].
///
/// Of several lines in ASCII, the text contains that of each.
pub fn searchable_into(line: &[u8], text: &mut Vec<u8>) {
    text.clear();
    if !line.is_ascii() {
        let lower = plain(&String::from_utf8_lossy(line)).to_lowercase();
        text.extend_from_slice(lower.as_bytes());
        return;
    }
    // Nearly every line. What follows is `plain` for bytes.
    let plain_length = match line.iter().fold(false, |any, byte| any | is_other_control(*byte)) {
        false => length_to_usual_control,
        true => length_to_control,
    };
    let mut rest = line;
    loop {
        let (shown, control) = rest.split_at(plain_length(rest));
        text.extend_from_slice(shown);
        rest = match control {
            [] => break,
            [ESCAPE, b'[', sequence @ ..] => {
                // It ends with its line at the latest.
                let end = sequence.iter().position(|byte| matches!(byte, b'@'..=b'~' | b'\n'));
                end.map_or(&[], |end| &sequence[end + 1..])
            }
            [_, rest @ ..] => rest,
        };
    }
    text.make_ascii_lowercase();
}

/// Whether lines may contain a text, judged by their raw bytes: several times as fast as [`searchable_into`].
#[derive(Debug)]
pub struct Sieve {
    /// The lower-case text.
    wanted: Vec<u8>,
    /// The place in it of the byte that is looked for first.
    from: usize,
    /// How often it has looked at lines since it adapted.
    since_adapted: usize,
}

impl Sieve {
    /// A sieve for this lower-case text, which must not be empty.
    pub fn new(wanted: &str) -> Sieve {
        Sieve {
            wanted: wanted.as_bytes().to_owned(),
            from: 0,
            since_adapted: ADAPT,
        }
    }

    /// Makes the search start from the byte of the text that is rarest in `sample`. What follows it in the text must exclude the places
    /// where it is, so it is in the first half, unless the text is short.
    fn adapt(&mut self, sample: &[u8]) {
        let mut counts = [0_u32; 256];
        for byte in sample {
            counts[usize::from(byte.to_ascii_lowercase())] += 1;
        }
        let length = self.wanted.len();
        let places = 0..length.div_ceil(2).max(length.min(SHORT));
        let count = |place: &usize| counts[usize::from(self.wanted[*place])];
        self.from = places.min_by_key(count).unwrap_or_default();
    }

    /// Whether the searchable text of one of these lines may contain the text. The lines must be in ASCII. Takes time in proportion to
    /// their length, however they are made. Now and then, it first adapts to them.
    pub fn may_contain(&mut self, lines: &[u8]) -> bool {
        self.since_adapted += 1;
        if self.since_adapted > ADAPT && lines.len() >= SAMPLE.0 {
            self.adapt(&lines[..lines.len().min(SAMPLE.1)]);
            self.since_adapted = 0;
        }
        self.may_contain_now(lines)
    }

    /// Whether these lines have the text, or a part of it before what is not shown.
    fn may_contain_now(&self, lines: &[u8]) -> bool {
        let wanted = &self.wanted[self.from..];
        let mut cost = 0;
        memchr2_iter(wanted[0], wanted[0].to_ascii_uppercase(), lines).any(|place| {
            let shown = &lines[place..];
            let differs = |(wanted, byte): (&u8, &u8)| byte.to_ascii_lowercase() != *wanted;
            let same = wanted.iter().zip(shown).position(differs);
            let same = same.unwrap_or(wanted.len().min(shown.len()));
            cost += STOP + same;
            // After what is not shown, anything may follow. Lines that have much of the text are left to the search in their text.
            same == wanted.len() || shown.get(same).is_some_and(is_hidden) || cost > lines.len()
        })
    }
}

/// Whether it is a control character that is not shown, and that few logs have. It has no branch, so that a loop over a text looks at
/// many bytes at a time.
fn is_other_control(byte: u8) -> bool {
    (byte < b' ') & !matches!(byte, b'\n' | b'\t' | b'\r' | ESCAPE) | (byte == 0x7f)
}

/// The number of bytes before the first [`ESCAPE`] or `\r`.
fn length_to_usual_control(bytes: &[u8]) -> usize {
    memchr2(ESCAPE, b'\r', bytes).unwrap_or(bytes.len())
}

/// The number of bytes before the first control character that is not shown.
fn length_to_control(bytes: &[u8]) -> usize {
    bytes.iter().position(is_hidden).unwrap_or(bytes.len())
}

/// Whether it is a control character that is not shown.
fn is_hidden(byte: &u8) -> bool {
    is_other_control(*byte) || matches!(*byte, ESCAPE | b'\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colors_and_control_characters_go() {
        assert_eq!(plain("\u{1b}[1;31mred\u{1b}[0m\r\n\u{7}a\tb\u{1b}"), "red\na\tb");
        assert_eq!(plain("\u{1b}[31"), "");
        assert_eq!(plain("<b>\u{1b}]0;title"), "<b>]0;title");
    }

    fn searchable(line: &[u8]) -> String {
        let mut text = b"of the last line".to_vec();
        searchable_into(line, &mut text);
        String::from_utf8(text).unwrap()
    }

    proptest! {
        #[test]
        fn a_line_of_bytes_is_searched_as_its_text(line in "([a-cA-C\u{1b}\\[@~m0;\t\r ]{0,80}|[a-cA-C\u{1b}\\[@~m0;\t\r\u{7f}\u{0} é]{0,80})\n?") {
            let expected = plain(&line).to_lowercase();
            prop_assert_eq!(searchable(line.as_bytes()), expected);
        }
    }

    proptest! {
        #[test]
        fn several_lines_contain_what_each_contains(lines in prop::collection::vec("[a-cA-C\u{1b}\\[@~m0;\t\r ]{0,20}\u{7f}?\n", 1..5)) {
            let all = searchable(lines.concat().as_bytes());
            let mut rest = &*all;
            for line in lines {
                let line = searchable(line.as_bytes());
                prop_assert!(rest.starts_with(&line), "{line:?} in {all:?}");
                rest = &rest[line.len()..];
            }
            prop_assert_eq!(rest, "");
        }
    }

    #[test]
    fn a_line_is_searched_in_lower_case_and_without_colors() {
        assert_eq!(
            searchable(b"\x1b[31mERROR\x1b[0m: Not\tFound\r\n"),
            "error: not\tfound\n"
        );
        assert_eq!(searchable("GRÖßE \u{80}x".as_bytes()), "größe x");
        assert_eq!(searchable(b"a\xffB"), "a\u{fffd}b");
    }

    proptest! {
        #[test]
        fn no_text_of_a_line_falls_through_a_sieve(
            lines in prop::collection::vec("[a-cA-C\u{1b}\\[@~m0;\t\r\u{7f} ]{0,60}\n", 1..5),
            line in any::<prop::sample::Index>(),
            (first, length) in (any::<prop::sample::Index>(), 1..80_usize),
            sample in "[a-cA-C0 ]{0,20}",
        ) {
            let text = searchable(line.get(&lines).as_bytes());
            // An escape sequence may end with its line.
            prop_assume!(!text.is_empty());
            let first = first.index(text.len());
            let wanted = &text[first..text.len().min(first + length)];
            let lines = lines.concat();
            let mut sieve = Sieve::new(wanted);
            prop_assert!(sieve.may_contain(lines.as_bytes()), "{wanted:?}");
            sieve.adapt(sample.as_bytes());
            prop_assert!(sieve.may_contain(lines.as_bytes()), "{wanted:?} from {}", sieve.from);
        }
    }

    #[test]
    fn a_sieve_looks_for_what_is_rare_and_compares_what_follows() {
        let lines =
            b"\x1b[32m[18]\x1b[0m Compiling module1.Component\n\x1b[32m[19]\x1b[0m Compiling module2.Component\n";
        for (text, expected) in [
            ("module1.comp", true),
            ("19]", true),
            ("module3.component", false),
            ("module9.component", false),
            // A color follows, or the end of the line.
            ("19] linking", true),
            ("component x", false),
            ("grün", false),
        ] {
            let mut sieve = Sieve::new(text);
            sieve.adapt(lines);
            assert_eq!((sieve.may_contain(lines), text), (expected, text));
        }
        let mut sieve = Sieve::new("module9");
        sieve.adapt(lines);
        assert_eq!(sieve.from, 2, "the d is as rare as the 9, and more follows it");
    }

    #[test]
    fn a_sieve_adapts_to_the_first_long_lines_and_again_later() {
        let mut sieve = Sieve::new("abcd");
        let lines = |letters: &str, length: usize| format!("{}\n", letters.repeat(length));
        sieve.may_contain(lines("a", 100).as_bytes());
        assert_eq!(sieve.from, 0, "too few bytes to judge by");
        for place in 1..4 {
            let letters = &"abcd"[..place];
            for _ in 0..=ADAPT {
                sieve.may_contain(lines(letters, SAMPLE.0).as_bytes());
                assert_eq!(sieve.from, place);
            }
        }
    }

    #[test]
    fn a_sieve_gives_up_on_lines_that_repeat_a_part_of_the_text() {
        let mut sieve = Sieve::new(&"a".repeat(100));
        let lines = |length| format!("{}b\n", "a".repeat(length));
        assert!(!sieve.may_contain([lines(1), ".".repeat(20)].concat().as_bytes()));
        assert!(sieve.may_contain(lines(99).repeat(10).as_bytes()));
    }
}
