//! Limits how deep a TOML text nests. The parser limits keys and values to 80 levels each, but a dotted key in an
//! inline table in a dotted key multiplies: 6,000 levels fit into 13 KB, and building or dropping such a tree overflows
//! the stack. This module therefore counts the depth on the parser's events, before a tree exists.

use toml_parser::parser::{EventReceiver, parse_document};
use toml_parser::{ErrorSink, Source, Span};

/// Levels of tables, arrays and keys. A real file has five.
pub(super) const MOST_LEVELS: usize = 32;

/// Whether the text nests deeper than [`MOST_LEVELS`].
pub(super) fn is_too_deep(text: &str) -> bool {
    let tokens = Source::new(text).lex().into_vec();
    let mut depth = Depth::default();
    // The reader of the file reports all other errors.
    parse_document(&tokens, &mut depth, &mut ());
    depth.is_over
}

#[derive(Default)]
struct Depth {
    /// Levels of the current table header.
    header: usize,
    /// Levels of each open table or array, including the key before it.
    open: Vec<usize>,
    /// Levels of the current key, minus one.
    key: usize,
    is_over: bool,
}

impl Depth {
    /// Whether another level is allowed.
    fn check(&mut self) -> bool {
        let levels = self.header + self.open.iter().sum::<usize>() + self.key;
        self.is_over |= levels > MOST_LEVELS;
        !self.is_over
    }

    fn enter(&mut self) -> bool {
        self.open.push(self.key + 1);
        self.key = 0;
        self.check()
    }

    fn leave(&mut self) {
        self.open.pop();
        self.key = 0;
    }

    fn begin_header(&mut self) {
        (self.header, self.key) = (0, 0);
    }

    fn end_header(&mut self) {
        (self.header, self.key) = (self.key + 1, 0);
    }
}

impl EventReceiver for Depth {
    fn std_table_open(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.begin_header();
    }

    fn std_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.end_header();
    }

    fn array_table_open(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.begin_header();
    }

    fn array_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.end_header();
    }

    fn inline_table_open(&mut self, _: Span, _: &mut dyn ErrorSink) -> bool {
        self.enter()
    }

    fn inline_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.leave();
    }

    fn array_open(&mut self, _: Span, _: &mut dyn ErrorSink) -> bool {
        self.enter()
    }

    fn array_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.leave();
    }

    fn key_sep(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.key += 1;
        self.check();
    }

    fn value_sep(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.key = 0;
    }

    fn newline(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.key = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nests an inline table in a key of `parts` parts, several times, below a header.
    fn nested(header: usize, parts: usize, times: usize) -> String {
        let key = vec!["a"; parts].join(".");
        let inside = format!("{key} = {{").repeat(times);
        format!(
            "[{}]\n{inside}b = 1{}\n",
            vec!["h"; header].join("."),
            "}".repeat(times)
        )
    }

    #[test]
    fn keys_tables_and_arrays_add_up() {
        let arrays = |depth: usize| format!("a = {}{}\n", "[".repeat(depth), "]".repeat(depth));
        for (text, expected) in [
            (nested(1, 1, 1), false),
            (nested(2, 3, 10), false),
            (nested(3, 3, 10), true),
            (nested(79, 1, 1), true),
            (nested(1, 79, 1), true),
            (nested(1, 1, 79), true),
            (nested(79, 79, 79), true),
            (nested(1, 79, 10_000), true),
            (format!("{} = 1\n", vec!["a"; 100_000].join(".")), true),
            (format!("[[{}]]\n", vec!["a"; 100_000].join(".")), true),
            (arrays(32), false),
            (arrays(33), true),
            (arrays(100_000), true),
            (format!("a={}", "[".repeat(100_000)), true),
            ("a={".repeat(100_000), true),
            // Siblings do not add up.
            ("[a.b]\nc.d = [1, 2]\nc.e = {f.g = 1, f.h = 2}\n".repeat(1000), false),
        ] {
            assert_eq!(is_too_deep(&text), expected, "{}", &text[..text.len().min(80)]);
        }
    }
}
