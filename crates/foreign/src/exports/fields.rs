//! Fields of the JSON that other services' tools print.

use launchway_domain::configuration::Configuration;
use launchway_domain::release::{BinaryRange, ForeignId};
use launchway_domain::time::{EpochMs, from_rfc3339};
use serde_json::Value;

use super::{ExportError, MAX_EXPORT_BYTES, MAX_RELEASES};

/// Letters of a note that are kept.
const MAX_NOTES: usize = 4_000;
/// Letters of a name that a message repeats.
const MAX_SHOWN: usize = 80;

/// Parses a file.
pub fn document(bytes: &[u8]) -> Result<Value, ExportError> {
    if bytes.len() > MAX_EXPORT_BYTES {
        return Err(ExportError::TooLarge);
    }
    // Windows' shells begin a file with a mark.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|_| ExportError::NotJson)
}

/// The list itself, or the one under one of these names.
pub fn list<'v>(document: &'v Value, names: &[&str], tool: &'static str) -> Result<&'v [Value], ExportError> {
    let inner = || names.iter().find_map(|name| document.get(name)?.as_array());
    let list = document.as_array().or_else(inner).ok_or(ExportError::OtherForm(tool))?;
    Ok(&list[..list.len().min(MAX_RELEASES)])
}

/// A text that is not empty.
pub fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// The first of several names that has a text: databases print columns in another form than interfaces.
pub fn first_text<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    names.iter().find_map(|name| text(value, name))
}

/// A flag; SQLite prints numbers.
pub fn flag(value: &Value, names: &[&str]) -> Option<bool> {
    names.iter().find_map(|name| match value.get(name)? {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => Some(number.as_i64()? != 0),
        _ => None,
    })
}

/// Text for people, shortened.
pub fn notes(value: &Value, name: &str) -> String {
    text(value, name).unwrap_or_default().chars().take(MAX_NOTES).collect()
}

/// A time as text or in milliseconds.
pub fn time(value: &Value, name: &str) -> Option<EpochMs> {
    match value.get(name)? {
        Value::String(text) => from_rfc3339(text),
        Value::Number(number) => number.as_i64().filter(|time| *time > 0),
        _ => None,
    }
}

/// Whether a deployment or channel can be a configuration here; the reason if not.
pub fn configuration_problem(name: &str) -> Option<String> {
    let error = Configuration::parse(name).err()?;
    Some(format!("its name {error}"))
}

/// Why an id cannot be kept.
pub fn id_problem(id: &str) -> Option<String> {
    let error = ForeignId::parse(id).err()?;
    Some(format!("its id {error}"))
}

/// Why a range cannot be kept.
pub fn range_problem(range: &str) -> Option<String> {
    BinaryRange::parse(range)
        .err()
        .map(|_| format!("`{}` is not a range of versions", shown(range)))
}

/// A name for messages.
pub fn shown(name: &str) -> String {
    let printable = name.chars().filter(|letter| !letter.is_control());
    printable.take(MAX_SHOWN).collect()
}
