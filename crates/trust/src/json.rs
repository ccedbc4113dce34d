//! JSON as signed metadata and devices carry it: unique names, and only integers that every language represents exactly.
//! The rules are in `docs/reference/trust.md#json`.

mod parser;
mod writer;

use std::collections::BTreeMap;

pub use parser::{JsonError, parse};
pub use writer::{canonical, to_text, to_utf8};

/// The largest magnitude of an integer: languages whose numbers are doubles cannot represent every integer above it.
pub const MAX_INTEGER: i64 = (1 << 53) - 1;
/// Arrays and objects nest at most this deep.
pub const MAX_DEPTH: usize = 32;

/// The members of an object. Ordered by the names' UTF-8 bytes, which is the order of the canonical form.
pub type Object = BTreeMap<String, Value>;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of at most [`MAX_INTEGER`] in magnitude.
    Integer(i64),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

impl Value {
    /// The member of this name, if the value is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Object(members) => members.get(name),
            _ => None,
        }
    }

    /// The text, if the value is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, if the value is one.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, if the value is one and not negative.
    pub fn as_count(&self) -> Option<u64> {
        match self {
            Value::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The items, if the value is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

/// An integer, which the caller knows to be at most [`MAX_INTEGER`]; anything above is written as that.
impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Integer(i64::try_from(number).unwrap_or(MAX_INTEGER).min(MAX_INTEGER))
    }
}

/// An object of these members.
pub fn object<const N: usize>(members: [(&str, Value); N]) -> Object {
    members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
