//! Ranges of versions of the installed app, in the syntax and with the meaning of npm's `semver`
//! (`docs/reference/foreign-clients.md#ranges`): what CodePush and hot-updater call a target version.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::version::Version;

/// The maximum number of characters of a range.
pub const MAX_RANGE_LENGTH: usize = 256;
/// The largest number that a version of npm can contain, 2^53 - 1.
const MAX_NUMBER: u64 = 9_007_199_254_740_991;
/// The version below all others.
const LOWEST: &str = "0.0.0-0";

/// The text is not a range. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a range of versions such as `^1.2.0` or `>=1.0.0 <2.0.0`, of at most 256 characters")]
pub struct BinaryRangeError;

/// A range of versions: alternatives, in each of which all comparators must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryRange {
    text: Box<str>,
    alternatives: Box<[Alternative]>,
}

/// Comparators that must all hold; none of them holds always.
type Alternative = Box<[Comparator]>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Comparator {
    operator: Operator,
    version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    LessOrEqual,
    Equal,
    GreaterOrEqual,
    Greater,
}

impl BinaryRange {
    /// Parses a range: comparators (`>=1.2.3`), `^`, `~`, `x` for any number, `1.0.0 - 2.0.0`, and `||` between alternatives.
    ///
    /// # Errors
    /// Anything that npm's `semver` refuses, over 256 characters, or not ASCII.
    pub fn parse(text: &str) -> Result<Self, BinaryRangeError> {
        if text.len() > MAX_RANGE_LENGTH || !text.is_ascii() {
            return Err(BinaryRangeError);
        }
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let alternatives: Result<Box<[_]>, _> =
            words.join(" ").split("||").map(|one| alternative(one.trim())).collect();
        let mut alternatives = alternatives?;
        // npm reads an alternative without conditions as the whole range, which pre-releases are not in.
        if alternatives.iter().any(|one| one.is_empty()) {
            alternatives = Box::new([Box::default()]);
        }
        Ok(Self {
            text: text.into(),
            alternatives,
        })
    }

    /// The range as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a version lies in the range. A pre-release does so only if an alternative that it satisfies names a pre-release
    /// of the same three numbers.
    pub fn contains(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|comparators| {
            let is_named = !version.is_pre_release()
                || comparators
                    .iter()
                    .any(|one| one.version.is_pre_release() && one.version.core() == version.core());
            is_named && comparators.iter().all(|one| one.holds(version))
        })
    }

    /// Whether the whole range lies below a version, so that an app of that version is too new for it.
    pub fn is_below(&self, version: &Version) -> bool {
        !self.contains(version) && self.alternatives.iter().all(|one| is_alternative_below(one, version))
    }
}

/// The outermost comparators decide, as in npm's `gtr`.
fn is_alternative_below(comparators: &Alternative, version: &Version) -> bool {
    let Some((mut high, rest)) = comparators.split_first() else {
        return false;
    };
    let mut low = high;
    for one in rest {
        match one.version.cmp(&high.version) {
            Ordering::Greater => high = one,
            _ if one.version < low.version => low = one,
            _ => {}
        }
    }
    let is_open = matches!(high.operator, Operator::Greater | Operator::GreaterOrEqual);
    let reaches_version = match low.operator {
        Operator::Equal | Operator::Greater => *version <= low.version,
        Operator::GreaterOrEqual => *version < low.version,
        Operator::Less | Operator::LessOrEqual => false,
    };
    !is_open && !reaches_version
}

impl Comparator {
    fn holds(&self, version: &Version) -> bool {
        let order = version.cmp(&self.version);
        match self.operator {
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Equal => order.is_eq(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Greater => order.is_gt(),
        }
    }
}

impl fmt::Display for BinaryRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for BinaryRange {
    type Err = BinaryRangeError;

    fn from_str(text: &str) -> Result<Self, BinaryRangeError> {
        Self::parse(text)
    }
}

/// Parses the comparators between two `||`. Spaces are single.
fn alternative(text: &str) -> Result<Alternative, BinaryRangeError> {
    let mut found = Vec::new();
    let text = without_build(text);
    let text = text.trim();
    let ends = text
        .split_once(" - ")
        .and_then(|(from, to)| Plain::parse_end(from).zip(Plain::parse_end(to)));
    if let Some((from, to)) = ends {
        let is_odd = |end: &Plain<'_>| !end.is_open() && !matches!(end.prefix, "" | "v");
        if is_odd(&from) || (is_odd(&to) && to.pre.is_none()) {
            return Err(BinaryRangeError);
        }
        push_from(&mut found, &from)?;
        push_to(&mut found, &to)?;
        return simplified(found);
    }
    let mut rest = text;
    while !rest.is_empty() {
        let (operator, version, after) = next_word(rest);
        push(&mut found, operator, version)?;
        rest = after.trim_start();
    }
    simplified(found)
}

/// The comparators without those that decide nothing, as npm leaves them out.
fn simplified(mut found: Vec<Comparator>) -> Result<Alternative, BinaryRangeError> {
    // npm reads `>=0.0.0` as no condition at all.
    let lowest = Version::parse("0.0.0").map_err(|_| BinaryRangeError)?;
    found.retain(|one| one.operator != Operator::GreaterOrEqual || one.version != lowest);
    // Nothing lies below the lowest version: this comparator decides alone.
    let nothing = found
        .iter()
        .position(|one| one.operator == Operator::Less && one.version.to_string() == LOWEST);
    if let Some(place) = nothing {
        found = vec![found.swap_remove(place)];
    }
    Ok(found.into())
}

/// Splits off the operator and what follows it up to a space. Spaces may stand behind the operator.
fn next_word(text: &str) -> (String, &str, &str) {
    let mut operator = String::new();
    let mut rest = text;
    for choice in [['~', '^'], ['<', '>'], ['=', '=']] {
        if let Some(after) = rest.strip_prefix(choice) {
            operator.push_str(&rest[..1]);
            rest = after;
        }
        if choice[0] == '~' && !operator.is_empty() {
            rest = rest.trim_start();
        }
    }
    if !operator.is_empty() {
        rest = rest.trim_start();
    }
    // A second half of the operator may stand behind the space: `> =1.0.0`.
    if operator.ends_with(['<', '>'])
        && let Some(after) = rest.strip_prefix('=')
    {
        operator.push('=');
        rest = after;
    }
    let (version, after) = rest.split_once(' ').unwrap_or((rest, ""));
    (operator, version, after)
}

/// Three numbers, of which the last ones may be open, and a pre-release.
struct Plain<'t> {
    /// What stands before the numbers: any of `v` and `=`.
    prefix: &'t str,
    major: Option<u64>,
    minor: Option<u64>,
    patch: Option<u64>,
    pre: Option<&'t str>,
}

impl<'t> Plain<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let numbers = text.trim_start_matches(['v', '=']);
        let prefix = &text[..text.len() - numbers.len()];
        let end = numbers.find(['-', '+']).unwrap_or(numbers.len());
        let (core, suffix) = numbers.split_at(end);
        let mut parts = core.split('.');
        let major = number(parts.next()?)?;
        let minor = parts.next().map(number);
        let patch = parts.next().map(number);
        let has_suffix = !suffix.is_empty();
        if parts.next().is_some() || minor == Some(None) || patch == Some(None) || (has_suffix && patch.is_none()) {
            return None;
        }
        // The parser of versions knows what a suffix may be.
        if has_suffix && Version::parse(&format!("0.0.0{suffix}")).is_err() {
            return None;
        }
        let pre = suffix.strip_prefix('-').map(|pre| pre.split('+').next().unwrap_or(pre));
        Some(Self {
            prefix,
            major,
            minor: minor.flatten().flatten(),
            patch: patch.flatten().flatten(),
            pre,
        })
    }

    /// One end of `1.0.0 - 2.0.0`, before whose numbers spaces may stand, too.
    fn parse_end(text: &'t str) -> Option<Self> {
        let numbers = text.trim_start_matches(['v', '=', ' ']);
        let prefix = &text[..text.len() - numbers.len()];
        Self::parse(numbers).map(|plain| Self { prefix, ..plain })
    }

    /// The numbers up to the first open one.
    fn closed(&self) -> (Option<u64>, Option<u64>, Option<u64>) {
        let minor = self.major.and(self.minor);
        (self.major, minor, minor.and(self.patch))
    }

    /// The lowest version that it can mean.
    fn lowest(&self) -> Result<Version, BinaryRangeError> {
        match self.closed() {
            (Some(major), Some(minor), Some(patch)) => version(major, minor, patch, self.pre),
            (major, minor, _) => version(major.unwrap_or(0), minor.unwrap_or(0), 0, None),
        }
    }

    /// The version above all that share its closed numbers, and below all others: a pre-release `0`.
    fn above(&self) -> Result<Option<Version>, BinaryRangeError> {
        match self.closed() {
            (Some(major), None, _) => version(major + 1, 0, 0, Some("0")).map(Some),
            (Some(major), Some(minor), _) => version(major, minor + 1, 0, Some("0")).map(Some),
            (None, ..) => Ok(None),
        }
    }

    /// Whether a number follows an open one, as in `1.x.3`: `^` and `~` ignore it, other operators refuse it.
    fn is_closed_after_open(&self) -> bool {
        (self.major.is_none() && self.minor.is_some()) || (self.minor.is_none() && self.patch.is_some())
    }

    fn is_open(&self) -> bool {
        self.closed().2.is_none()
    }
}

/// A number, or `Some(None)` for `x`, `X` and `*`; `None` for anything else.
fn number(text: &str) -> Option<Option<u64>> {
    if matches!(text, "x" | "X" | "*") {
        return Some(None);
    }
    let is_numeral = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    let number = is_numeral.then(|| text.parse().ok())??;
    (number <= MAX_NUMBER).then_some(Some(number))
}

fn version(major: u64, minor: u64, patch: u64, pre: Option<&str>) -> Result<Version, BinaryRangeError> {
    let suffix = pre.map(|pre| format!("-{pre}")).unwrap_or_default();
    let is_too_large = [major, minor, patch].into_iter().any(|number| number > MAX_NUMBER);
    let version = Version::parse(&format!("{major}.{minor}.{patch}{suffix}"));
    version.ok().filter(|_| !is_too_large).ok_or(BinaryRangeError)
}

fn push(found: &mut Vec<Comparator>, operator: String, text: &str) -> Result<(), BinaryRangeError> {
    if operator.is_empty() && text.is_empty() {
        return Ok(());
    }
    let plain = Plain::parse(text).ok_or(BinaryRangeError)?;
    let at_least = |found: &mut Vec<Comparator>| push_from(found, &plain);
    match operator.as_str() {
        "^" | "^=" => {
            at_least(found)?;
            push_below(found, caret_end(&plain)?);
        }
        "~" | "~>" | "~=" | "~>=" => {
            at_least(found)?;
            push_below(found, plain.above()?);
        }
        odd if !matches!(odd, "" | "=" | "<" | "<=" | ">" | ">=") => return Err(BinaryRangeError),
        _ if plain.is_closed_after_open() => return Err(BinaryRangeError),
        _ if plain.is_open() => push_open(found, &operator, &plain)?,
        _ if !matches!(plain.prefix, "" | "v") => return Err(BinaryRangeError),
        written => found.push(Comparator {
            operator: match written {
                "" | "=" => Operator::Equal,
                "<" => Operator::Less,
                "<=" => Operator::LessOrEqual,
                ">" => Operator::Greater,
                ">=" => Operator::GreaterOrEqual,
                _ => return Err(BinaryRangeError),
            },
            version: plain.lowest()?,
        }),
    }
    Ok(())
}

/// The text without build metadata, which means nothing in a range.
fn without_build(text: &str) -> String {
    let mut pieces = text.split('+');
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let build = build_length(piece);
        if build == 0 {
            kept.push('+');
        }
        kept.push_str(&piece[build..]);
    }
    kept
}

/// The length of the dotted identifiers at the start of a text.
fn build_length(text: &str) -> usize {
    let mut end = 0;
    let mut start = 0;
    for part in text.split('.') {
        let length = part
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .unwrap_or(part.len());
        if length == 0 {
            break;
        }
        end = start + length;
        if length < part.len() {
            break;
        }
        start = end + 1;
    }
    end
}

/// `^`: below the next change of the first number that is not 0, as far as the numbers are closed.
fn caret_end(plain: &Plain<'_>) -> Result<Option<Version>, BinaryRangeError> {
    match plain.closed() {
        (Some(0), Some(0), Some(patch)) => version(0, 0, patch + 1, Some("0")).map(Some),
        (Some(0), Some(minor), _) => version(0, minor + 1, 0, Some("0")).map(Some),
        (Some(major), ..) => version(major + 1, 0, 0, Some("0")).map(Some),
        (None, ..) => Ok(None),
    }
}

/// An operator before open numbers: `>1.2` means from 1.3.0 on.
fn push_open(found: &mut Vec<Comparator>, operator: &str, plain: &Plain<'_>) -> Result<(), BinaryRangeError> {
    let next = match plain.closed() {
        (Some(major), None, _) => Some((major + 1, 0)),
        (Some(major), Some(minor), _) => Some((major, minor + 1)),
        (None, ..) => None,
    };
    let Some((major, minor)) = next else {
        if matches!(operator, "<" | ">") {
            push_below(found, Version::parse(LOWEST).ok());
        }
        return Ok(());
    };
    match operator {
        "" | "=" => {
            push_from(found, plain)?;
            push_below(found, plain.above()?);
        }
        ">" => found.push(Comparator {
            operator: Operator::GreaterOrEqual,
            version: version(major, minor, 0, None)?,
        }),
        ">=" => push_from(found, plain)?,
        "<" => push_below(found, Some(version_of_open(plain)?)),
        "<=" => push_below(found, plain.above()?),
        _ => return Err(BinaryRangeError),
    }
    Ok(())
}

/// The pre-release `0` of the lowest version of open numbers.
fn version_of_open(plain: &Plain<'_>) -> Result<Version, BinaryRangeError> {
    let (major, minor, _) = plain.closed();
    version(major.unwrap_or(0), minor.unwrap_or(0), 0, Some("0"))
}

/// The lower end of a range.
fn push_from(found: &mut Vec<Comparator>, plain: &Plain<'_>) -> Result<(), BinaryRangeError> {
    if plain.major.is_some() {
        found.push(Comparator {
            operator: Operator::GreaterOrEqual,
            version: plain.lowest()?,
        });
    }
    Ok(())
}

/// The upper end of `1.0.0 - 2.0.0`, which belongs to the range.
fn push_to(found: &mut Vec<Comparator>, plain: &Plain<'_>) -> Result<(), BinaryRangeError> {
    if plain.is_open() {
        push_below(found, plain.above()?);
    } else {
        found.push(Comparator {
            operator: Operator::LessOrEqual,
            version: plain.lowest()?,
        });
    }
    Ok(())
}

fn push_below(found: &mut Vec<Comparator>, version: Option<Version>) {
    found.extend(version.map(|version| Comparator {
        operator: Operator::Less,
        version,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(text: &str) -> BinaryRange {
        BinaryRange::parse(text).expect("a range")
    }

    fn version(text: &str) -> Version {
        Version::parse(text).expect("a version")
    }

    #[test]
    fn is_bounded_ascii() {
        for text in ["é", "1.0.0\u{a0}", &" ".repeat(MAX_RANGE_LENGTH + 1)] {
            assert_eq!(BinaryRange::parse(text), Err(BinaryRangeError), "{text:?}");
        }
        assert!(range(&" ".repeat(MAX_RANGE_LENGTH)).contains(&version("1.0.0")));
    }

    #[test]
    fn keeps_the_text() {
        assert_eq!(range(" ^1.2 || 3 ").to_string(), " ^1.2 || 3 ");
    }

    #[test]
    fn a_range_lies_below_versions_above_all_of_it() {
        for (text, of_version, is_below) in [
            ("^1.2.0", "2.0.0", true),
            ("^1.2.0", "1.9.0", false),
            ("^1.2.0", "1.0.0", false),
            ("1.0.0", "1.0.1", true),
            (">=1.0.0", "9.0.0", false),
            ("1.x || 3.x", "2.0.0", false),
            ("1.x || 3.x", "4.0.0", true),
            ("*", "4.0.0", false),
        ] {
            assert_eq!(
                range(text).is_below(&version(of_version)),
                is_below,
                "{text} {of_version}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9xv.*<>=~^| -]{0,40}|.{0,40}", of_version in "[0-2]\\.[0-2]\\.[0-2](-a)?") {
            if let Ok(read) = BinaryRange::parse(&text) {
                let of_version = version(&of_version);
                prop_assert!(!(read.contains(&of_version) && read.is_below(&of_version)));
            }
        }
    }
}
