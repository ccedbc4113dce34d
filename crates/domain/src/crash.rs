//! Crashes of devices: which of them are the same, by their stacks (`docs/reference/updates.md#crashes`).

use sha2::{Digest, Sha256};

/// The maximum size of a stack in bytes.
pub const MAX_STACK: usize = 8 << 10;
/// How many groups of equal crashes are kept for an update.
pub const MAX_GROUPS: i64 = 50;
/// How many devices are counted in a group.
pub const MAX_GROUP_DEVICES: i64 = 1 << 10;
/// For how many days a group is kept after its last crash.
pub const CRASH_DAYS: i64 = 90;
/// How many lines of a stack decide about its group.
const COMPARED_LINES: usize = 32;
/// The maximum number of characters of a first line.
const MAX_FIRST_LINE: usize = 200;
/// What stands for everything that differs between two runs of the same program.
const PLACEHOLDER: u8 = b'#';
/// The parts of a UUID, in hexadecimal digits.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];
/// Longer numbers are not lines and columns.
const MAX_POSITION_DIGITS: usize = 9;
/// Numbers with so many digits are times, addresses and other values of one run.
const MIN_LONG_DIGITS: usize = 5;
/// Words of so many hexadecimal digits are hashes and addresses.
const MIN_HASH_DIGITS: usize = 8;

/// The text is not a stack. The message follows the name of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StackError {
    /// It is too long.
    #[error("stack must have at most {MAX_STACK} bytes")]
    TooLong,
    /// PostgreSQL cannot store a NUL in text.
    #[error("stack must not contain a NUL character")]
    Nul,
}

/// Where a program crashed, as a device writes it: at most 8 KiB, without NUL. Empty if the device does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack(String);

impl Stack {
    /// The stack with this text.
    ///
    /// # Errors
    /// The text is too long or contains a NUL.
    pub fn new(text: String) -> Result<Self, StackError> {
        if text.len() > MAX_STACK {
            return Err(StackError::TooLong);
        }
        if text.contains('\0') {
            return Err(StackError::Nul);
        }
        Ok(Stack(text))
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The group of the stack, as 32 hexadecimal digits: equal for the same crash in different runs. Compares the first 32
    /// lines that are not blank, without addresses, UUIDs, hashes and long numbers; lines and columns count.
    pub fn group_key(&self) -> String {
        let mut compared = Vec::with_capacity(self.0.len());
        for line in shown_lines(&self.0).take(COMPARED_LINES) {
            add_without_values(line.as_bytes(), &mut compared);
            compared.push(b'\n');
        }
        hex::encode(&Sha256::digest(&compared)[..16])
    }
}

/// What a stack begins with: its first line that is not blank, without white space around it, at most 200 characters.
/// Empty if there is none.
pub fn first_line(stack: &str) -> String {
    let line = shown_lines(stack).next().unwrap_or_default();
    line.chars().take(MAX_FIRST_LINE).collect()
}

/// The lines that are not blank, without white space around them.
fn shown_lines(stack: &str) -> impl Iterator<Item = &str> {
    stack.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Adds a line with a placeholder for each value of one run.
fn add_without_values(line: &[u8], compared: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        let rest = &line[at..];
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if word == 0 {
            compared.push(byte);
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).map(|previous| line[previous]);
        let value = value_length(rest, word, before);
        if value > 0 {
            compared.push(PLACEHOLDER);
        }
        compared.extend_from_slice(&rest[value..word.max(value)]);
        at += word.max(value);
    }
}

/// How many bytes at the start of `rest` are a value of one run; its first `word` bytes are letters and digits, and `before`
/// is the byte in front of them.
fn value_length(rest: &[u8], word: usize, before: Option<u8>) -> usize {
    if before == Some(b'_') {
        // A part of a name.
        return 0;
    }
    if let Some(length) = uuid_length(rest) {
        return length;
    }
    let text = &rest[..word];
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_hex = text.iter().all(u8::is_ascii_hexdigit);
    let is_address = text
        .strip_prefix(b"0x")
        .is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit));
    // How Java shows an object: its class and a hash.
    let is_object = before == Some(b'@') && is_hex && word >= MIN_LONG_DIGITS;
    let is_hash = is_hex && word >= MIN_HASH_DIGITS && digits < word && text.iter().any(u8::is_ascii_digit);
    if is_address || is_object || is_hash {
        return word;
    }
    let is_position = before == Some(b':') && digits == word && digits <= MAX_POSITION_DIGITS;
    if digits >= MIN_LONG_DIGITS && !is_position {
        return digits;
    }
    0
}

/// The length of the UUID at the start of these bytes; `None` if there is none.
fn uuid_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for (number, length) in UUID.into_iter().enumerate() {
        if number > 0 {
            (bytes.get(at) == Some(&b'-')).then_some(())?;
            at += 1;
        }
        let part = bytes.get(at..at + length)?;
        part.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        at += length;
    }
    let ends = bytes.get(at).is_none_or(|next| !next.is_ascii_alphanumeric());
    ends.then_some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn group_key(stack: &str) -> String {
        Stack::new(stack.to_owned()).expect("a stack").group_key()
    }

    fn compared(line: &str) -> String {
        let mut compared = Vec::new();
        add_without_values(line.as_bytes(), &mut compared);
        String::from_utf8(compared).expect("only ASCII is replaced")
    }

    #[test]
    fn values_of_one_run_do_not_count() {
        for (line, expected) in [
            // Lines and columns stay, also the long columns of minified code.
            (
                "at render (index.android.bundle:1:2345678)",
                "at render (index.android.bundle:1:2345678)",
            ),
            ("at App.main(App.java:12345)", "at App.main(App.java:12345)"),
            (
                "TypeError: x1234 is not a function",
                "TypeError: x1234 is not a function",
            ),
            (
                "3   App   0x0000000102a4c3d4 $s3App4mainyyF + 1234",
                "3   App   # $s3App4mainyyF + 1234",
            ),
            ("signal 11", "signal 11"),
            (
                "/Application/3F2504E0-4F89-11D3-9A0C-0305E82C3301/App.app/main.jsbundle:1:20",
                "/Application/#/App.app/main.jsbundle:1:20",
            ),
            ("java.lang.Object@1b6d3586 is gone", "java.lang.Object@# is gone"),
            ("no row 1764151200000 at 10", "no row # at 10"),
            ("waited 123456ms", "waited #ms"),
            ("id:12345678901", "id:#"),
            ("slots/9f86d081884c7d659a2feaa0c55ad015/app", "slots/#/app"),
            // What only looks like one of them.
            ("0xyz and 0x", "0xyz and 0x"),
            ("deadbeefcafe", "deadbeefcafe"),
            ("3F2504E0-4F89-11D3-9A0C", "#-4F89-11D3-9A0C"),
            ("user@abad1.example", "user@#.example"),
            ("Größe 12345 für 日本語", "Größe # für 日本語"),
            ("", ""),
        ] {
            assert_eq!(compared(line), expected, "{line}");
        }
    }

    #[test]
    fn the_first_32_lines_that_are_not_blank_count() {
        let stack = |lines: std::ops::Range<usize>, end: &str| {
            let lines: Vec<_> = lines.map(|number| format!("at f{number} (a.js:{number}:1)")).collect();
            lines.join(end)
        };
        let first = group_key(&stack(0..32, "\n"));
        assert_eq!(group_key(&stack(0..40, "\n")), first);
        assert_eq!(group_key(&stack(0..33, "\r\n\n    ")), first);
        assert_ne!(group_key(&stack(0..31, "\n")), first);
        assert_ne!(group_key("at f (a.js:1:1)"), group_key("at f (a.js:1:2)"));
        assert_eq!(group_key(""), group_key(" \n\n"));
        assert_eq!(first.len(), 32);
    }

    #[test]
    fn a_stack_is_short_and_has_no_nul() {
        let stack = |text: String| Stack::new(text).map(|stack| stack.text().len());
        assert_eq!(stack("x".repeat(MAX_STACK)), Ok(MAX_STACK));
        assert_eq!(stack("ü".repeat(MAX_STACK / 2) + "x"), Err(StackError::TooLong));
        assert_eq!(stack("a\0".to_owned()), Err(StackError::Nul));
        assert_eq!(stack(String::new()), Ok(0));
    }

    #[test]
    fn the_first_line_is_short_and_not_blank() {
        assert_eq!(first_line("\n  \r\n\tTypeError: x\n at f"), "TypeError: x");
        assert_eq!(first_line(&"ü".repeat(300)), "ü".repeat(200));
        assert_eq!(first_line(" \n"), "");
    }

    proptest! {
        #[test]
        fn the_same_crash_at_other_addresses_is_in_the_same_group(
            addresses in prop::collection::vec(any::<(u32, u32, u64)>(), 1..40),
            other in any::<(u32, u64)>(),
        ) {
            let stack_of = |moved: bool| {
                let line = |(line, address, id): &(u32, u32, u64)| {
                    let (address, id) = if moved { (other.0, other.1) } else { (*address, *id) };
                    format!("f (a.js:{}:7) 0x{address:x} {:08x}-0000-4000-8000-{:012x}", line % 100_000, id >> 32, id & 0xffff_ffff)
                };
                addresses.iter().map(line).collect::<Vec<_>>().join("\n")
            };
            prop_assert_eq!(group_key(&stack_of(false)), group_key(&stack_of(true)));
        }

        #[test]
        fn any_text_has_a_group_and_a_first_line(text in "\\PC{0,300}|[0-9a-fA-Fx@:\\- \n]{0,300}") {
            prop_assert_eq!(group_key(&text).len(), 32);
            prop_assert!(first_line(&text).chars().count() <= MAX_FIRST_LINE);
        }
    }
}
