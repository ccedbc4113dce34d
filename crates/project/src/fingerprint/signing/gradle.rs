//! Separates the code of a Gradle script from its comments and strings, so that their braces do not count. This is not
//! a parser: it rejects anything ambiguous.

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `build.gradle`.
    Groovy,
    /// `build.gradle.kts`.
    Kotlin,
}

/// The replacement for each byte of a comment or string. No rule matches it.
const HIDDEN: u8 = b'#';
/// Nesting limit of strings and the expressions in them. Deeper scripts are rejected.
const DEEPEST: usize = 64;

/// A kind of string, by its delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    /// `'…'`; a character in Kotlin.
    Single,
    /// `"…"`.
    Double,
    /// `'''…'''`, in Groovy.
    TripleSingle,
    /// `"""…"""`.
    TripleDouble,
    /// `/…/`, in Groovy.
    Slashy,
    /// `$/…/$`, in Groovy.
    DollarSlashy,
    /// `` `…` ``, a name in Kotlin.
    Backtick,
}

/// The context of a position in the script.
#[derive(Clone, Copy, Debug)]
enum Context {
    /// Code with this number of open braces: the script itself, or an expression in a string.
    Code(usize),
    Text(Quote),
}

/// The script with its comments and strings masked, byte for byte; line endings stay. `None` when the script is
/// ambiguous: braces do not match, a string or comment does not end, or a slash may either begin a string or divide.
pub fn code_of(text: &str, language: Language) -> Option<String> {
    // Older Groovy releases decode these before anything else, so that they may be quotes and braces.
    if language == Language::Groovy && text.contains("\\u") {
        return None;
    }
    let mut scan = Scan {
        bytes: text.as_bytes(),
        language,
        contexts: vec![Context::Code(0)],
        last: None,
        gap: Gap::None,
    };
    let mut code = text.as_bytes().to_vec();
    let mut at = 0;
    while at < code.len() {
        let was_nested = scan.contexts.len() > 1;
        let (length, is_comment) = match *scan.contexts.last()? {
            Context::Code(_) => scan.code(at)?,
            Context::Text(quote) => (scan.text(at, quote)?, false),
        };
        if scan.contexts.len() > DEEPEST {
            return None;
        }
        let end = (at + length).min(code.len());
        if was_nested || is_comment || scan.contexts.len() > 1 {
            let hidden = code[at..end].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r'));
            hidden.for_each(|byte| *byte = HIDDEN);
        }
        at = end;
    }
    match scan.contexts[..] {
        [Context::Code(0)] => String::from_utf8(code).ok(),
        _ => None,
    }
}

/// The text between a position and the code before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Blank,
    Line,
}

struct Scan<'t> {
    bytes: &'t [u8],
    language: Language,
    /// The script, then strings and the expressions in them, the innermost last.
    contexts: Vec<Context>,
    /// Where the last non-blank byte of code or the last string ended.
    last: Option<usize>,
    gap: Gap,
}

impl Scan<'_> {
    /// The length of the token at `at` in code, and whether it is a comment.
    fn code(&mut self, at: usize) -> Option<(usize, bool)> {
        let rest = &self.bytes[at..];
        let is_groovy = self.language == Language::Groovy;
        if rest.starts_with(b"//") {
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            return Some((end.unwrap_or(rest.len()), true));
        }
        if rest.starts_with(b"/*") {
            self.gap = self.gap.max(Gap::Blank);
            return Some((comment(rest, !is_groovy)?, true));
        }
        let quote = match rest {
            [b'\'', b'\'', b'\'', ..] if is_groovy => Some((Quote::TripleSingle, 3)),
            [b'"', b'"', b'"', ..] => Some((Quote::TripleDouble, 3)),
            [b'\'', ..] => Some((Quote::Single, 1)),
            [b'"', ..] => Some((Quote::Double, 1)),
            [b'`', ..] if is_groovy => return None,
            [b'`', ..] => Some((Quote::Backtick, 1)),
            [b'$', b'/', ..] if is_groovy && self.follows_operand() => return None,
            [b'$', b'/', ..] if is_groovy => Some((Quote::DollarSlashy, 2)),
            [b'/', ..] if is_groovy && self.begins_string(rest)? => Some((Quote::Slashy, 1)),
            _ => None,
        };
        if let Some((quote, length)) = quote {
            self.contexts.push(Context::Text(quote));
            return Some((length, false));
        }
        let Some(Context::Code(braces)) = self.contexts.last_mut() else {
            return None;
        };
        match rest[0] {
            b'{' => *braces += 1,
            b'}' if *braces > 0 => *braces -= 1,
            // The end of an expression in a string. The script itself has no unmatched closing brace.
            b'}' if self.contexts.len() > 1 => {
                self.contexts.pop();
            }
            b'}' => return None,
            b'\\' if !matches!(rest, [_, b'\n' | b'\r', ..]) => return None,
            _ => {}
        }
        match rest[0] {
            b'\n' | b'\r' => self.gap = Gap::Line,
            b' ' | b'\t' | b'\\' => self.gap = self.gap.max(Gap::Blank),
            _ => self.note(at),
        }
        Some((1, false))
    }

    fn note(&mut self, at: usize) {
        self.last = Some(at);
        self.gap = Gap::None;
    }

    /// Whether the preceding code ends with a value: a name, a number, a string, a bracket.
    fn follows_operand(&self) -> bool {
        let last = self.last.map(|at| self.bytes[at]);
        last.is_some_and(|byte| {
            byte.is_ascii_alphanumeric()
                || !byte.is_ascii()
                || matches!(byte, b'_' | b'$' | b')' | b']' | b'}' | b'"' | b'\'' | b'/')
        })
    }

    /// Whether a slash in code begins a string; `None` if ambiguous.
    fn begins_string(&self, rest: &[u8]) -> Option<bool> {
        let before = &self.bytes[..self.last.map_or(0, |last| last + 1)];
        if before.ends_with(b"++") || before.ends_with(b"--") {
            return None;
        }
        if !self.follows_operand() {
            return Some(true);
        }
        let is_alone = matches!(rest, [_, b' ' | b'\t', ..] | [_, b'=', b' ', ..]);
        match self.gap {
            Gap::None => Some(false),
            Gap::Blank if is_alone && !ends_with_keyword(before) => Some(false),
            Gap::Blank | Gap::Line => None,
        }
    }

    /// The length of the token at `at` in a string; `None` where the string ends prematurely.
    fn text(&mut self, at: usize, quote: Quote) -> Option<usize> {
        let rest = &self.bytes[at..];
        let is_kotlin = self.language == Language::Kotlin;
        let (is_end, length) = match (quote, rest) {
            (Quote::Slashy, [b'\\', b'/', ..]) | (Quote::DollarSlashy, [b'$', b'$' | b'/', ..]) => (false, 2),
            (Quote::Single | Quote::Double | Quote::TripleSingle, [b'\\', ..]) => (false, 2),
            (Quote::TripleDouble, [b'\\', ..]) if !is_kotlin => (false, 2),
            (Quote::Single, [b'\'', ..])
            | (Quote::Double, [b'"', ..])
            | (Quote::Slashy, [b'/', ..])
            | (Quote::Backtick, [b'`', ..]) => (true, 1),
            (Quote::DollarSlashy, [b'/', b'$', ..]) => (true, 2),
            (Quote::TripleSingle, [b'\'', b'\'', b'\'', ..]) => (true, 3),
            // In Kotlin, additional quotes belong to the string that ends.
            (Quote::TripleDouble, [b'"', b'"', b'"', more @ ..]) => {
                let more = more.iter().take_while(|byte| is_kotlin && **byte == b'"');
                (true, 3 + more.count())
            }
            (Quote::Single | Quote::Double | Quote::Slashy | Quote::Backtick, [b'\n' | b'\r', ..]) => return None,
            (Quote::Double | Quote::TripleDouble | Quote::Slashy | Quote::DollarSlashy, [b'$', b'{', ..]) => {
                self.contexts.push(Context::Code(0));
                self.note(at + 1);
                return Some(2);
            }
            _ => (false, 1),
        };
        if is_end {
            self.contexts.pop();
            self.note(at + length - 1);
        }
        Some(length)
    }
}

/// The length of the comment at the start of a text; `None` when it does not end. Kotlin comments can be nested.
fn comment(text: &[u8], nests: bool) -> Option<usize> {
    let (mut at, mut depth) = (2, 1_usize);
    while depth > 0 {
        let step = match text.get(at..)? {
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            [b'/', b'*', ..] if nests => {
                depth += 1;
                2
            }
            [_, ..] => 1,
            [] => return None,
        };
        at += step;
    }
    Some(at)
}

/// Whether the code ends with a keyword that precedes a value.
fn ends_with_keyword(code: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let start = code.iter().rposition(|byte| !is_word(byte)).map_or(0, |at| at + 1);
    let keywords: [&[u8]; 8] = [b"return", b"in", b"case", b"assert", b"throw", b"else", b"do", b"as"];
    keywords.contains(&&code[start..])
}

#[cfg(test)]
mod tests;
