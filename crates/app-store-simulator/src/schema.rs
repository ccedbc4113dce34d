//! Validates requests against the published schemas: types, enums, required fields, and no unknown names.

use std::sync::OnceLock;

use serde_json::Value;

const APP_STORE: &str = include_str!("../schemas/app-store-connect.json");
const GOOGLE_PLAY: &str = include_str!("../schemas/google-play.json");

/// The document of App Store Connect.
pub(crate) fn app_store() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| serde_json::from_str(APP_STORE).unwrap_or_default())
}

/// The document of Google Play.
pub(crate) fn google_play() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| serde_json::from_str(GOOGLE_PLAY).unwrap_or_default())
}

/// What is wrong with a value according to the schema with this name; `None` if it is valid.
pub(crate) fn validation_error(document: &Value, name: &str, value: &Value) -> Option<String> {
    match document["schemas"].get(name) {
        Some(schema) => check(document, schema, value, name),
        None => Some(format!("there is no schema {name}")),
    }
}

fn check(document: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        return validation_error(document, reference.rsplit('/').next().unwrap_or_default(), value);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = choices
            .iter()
            .any(|choice| check(document, choice, value, at).is_none());
        return (!fits).then(|| format!("{at} has none of its forms"));
    }
    if value.is_null() && schema["nullable"] == true {
        return None;
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Some(format!("{at} is none of its words"));
    }
    let fits = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    if !fits {
        return Some(format!("{at} has another type"));
    }
    if let Some(items) = value.as_array() {
        return items
            .iter()
            .find_map(|item| check(document, &schema["items"], item, at));
    }
    let object = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !object.contains_key(name) {
            return Some(format!("{at} lacks {name}"));
        }
    }
    object
        .iter()
        .find_map(|(name, inner)| match schema["properties"].get(name) {
            Some(schema) => check(document, schema, inner, name),
            None => Some(format!("{at} has no field {name}")),
        })
}
