//! The list of signatures of a draft, as JSON: joined, narrowed, or empty.

use launchway_trust::json::{self, Value};
use launchway_trust::metadata::{Body, Targets};

/// The file with the signatures of both, each key id once. Those of the draft go first: they were verified.
pub fn joined(file: &[u8], draft: &[u8], limit: usize) -> Option<String> {
    let Ok(Value::Object(mut members)) = json::parse(file, limit) else {
        return None;
    };
    let mut signatures = json::parse(draft, limit).ok()?.get("signatures")?.as_array()?.to_vec();
    let id = |signature: &Value| signature.get("keyid").and_then(Value::as_text).map(str::to_owned);
    for signature in members.get("signatures")?.as_array()? {
        if !signatures.iter().any(|known| id(known) == id(signature)) {
            signatures.push(signature.clone());
        }
    }
    members.insert("signatures".to_owned(), Value::Array(signatures));
    Some(json::to_text(&Value::Object(members)))
}

/// A file with the signatures of these key ids only.
pub fn with_signatures_of(ids: &[String], content: &str) -> Option<String> {
    let Ok(Value::Object(mut members)) = json::parse(content.as_bytes(), Targets::LIMIT) else {
        return None;
    };
    let Some(Value::Array(signatures)) = members.get_mut("signatures") else {
        return None;
    };
    let id = |signature: &Value| signature.get("keyid").and_then(Value::as_text).map(str::to_owned);
    signatures.retain(|signature| id(signature).is_some_and(|id| ids.contains(&id)));
    Some(json::to_text(&Value::Object(members)))
}

/// Whether a draft has a signature: drafts take only those that verify.
pub fn is_signed(content: &str) -> bool {
    let file = json::parse(content.as_bytes(), Targets::LIMIT).ok();
    let signatures = file.as_ref().and_then(|file| file.get("signatures")?.as_array());
    signatures.is_none_or(|signatures| !signatures.is_empty())
}
