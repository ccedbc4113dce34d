//! Strict JSON (`docs/reference/sdk.md#json`): what a phone reads from servers and from its own files.
//!
//! RFC 8259 without its liberties: no name twice, bounded depth and size, and integers up to 2^53 as the only numbers.

mod read;
mod write;

pub use read::{JsonError, parse};

/// The deepest nesting of arrays and objects.
pub const MAX_DEPTH: usize = 32;
/// The largest absolute value of an integer, 2^53.
pub const MAX_INTEGER: i64 = 1 << 53;

/// A JSON value. Objects keep the order of their members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number between -2^53 and 2^53.
    Integer(i64),
    /// A text.
    Text(String),
    /// Values in order.
    Array(Vec<Json>),
    /// Members with distinct names.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The member with this name. `None` for a value that is no object, too.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, where it is not negative.
    #[must_use]
    pub fn as_count(&self) -> Option<u64> {
        match self {
            Self::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The values of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }

    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number. One beyond 2^53 becomes 2^53.
    #[must_use]
    pub fn count(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(MAX_INTEGER).min(MAX_INTEGER))
    }

    /// An object of these members.
    #[must_use]
    pub fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Object(members.map(|(name, value)| (name.to_owned(), value)).into())
    }
}
