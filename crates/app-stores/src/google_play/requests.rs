//! The bodies of the requests to Google Play, named by their published schemas.

use serde_json::{Value, json};

use super::progress::{Target, TargetStatus};
use crate::release::Release;

/// `AppEdit`: Google sets all its fields.
pub fn edit() -> Value {
    json!({})
}

/// `Track` with this release, and those of `known` (also a `Track`) that stay. `keeps_percent`: a staged release keeps
/// its fraction of users exactly.
pub fn track(release: &Release, version_code: i64, target: Target, keeps_percent: bool, known: &Value) -> Value {
    let own = version_code.to_string();
    let mut kept = Vec::new();
    let mut before = None;
    for other in known["releases"].as_array().into_iter().flatten() {
        let codes = other["versionCodes"].as_array();
        if codes.is_some_and(|codes| codes.iter().any(|code| code.as_str() == Some(&own))) {
            before = Some(other.clone());
            continue;
        }
        let stays = match (other["status"].as_str(), target.status) {
            // The fully rolled-out release stays for the users who do not get the new one.
            (Some("completed"), TargetStatus::Completed) => false,
            (Some("inProgress" | "halted"), TargetStatus::Draft) => true,
            (Some("inProgress" | "halted"), _) => false,
            _ => true,
        };
        if stays {
            kept.push(other.clone());
        }
    }
    let mut releases = vec![own_release(release, &own, target, keeps_percent, before)];
    releases.extend(kept);
    json!({"track": release.destination.as_str(), "releases": releases})
}

/// `TrackRelease`: keeps the fields of an existing release with the same version code, unless the request overrides
/// them.
fn own_release(
    release: &Release,
    version_code: &str,
    target: Target,
    keeps_percent: bool,
    before: Option<Value>,
) -> Value {
    let mut own = before.filter(Value::is_object).unwrap_or_else(|| json!({}));
    let fraction = own.get("userFraction").filter(|_| keeps_percent).cloned();
    own["versionCodes"] = json!([version_code]);
    own["status"] = json!(target.status.as_str());
    if let Some(object) = own.as_object_mut() {
        object.remove("userFraction");
        if !matches!(target.status, TargetStatus::InProgress) {
            object.remove("countryTargeting");
        }
    }
    if let Some(percent) = target.percent {
        own["userFraction"] = fraction.unwrap_or_else(|| json!(f64::from(percent) / 100.0));
    }
    let options = &release.options;
    if let Some(name) = &options.name {
        own["name"] = json!(name);
    }
    if let Some(priority) = options.priority {
        own["inAppUpdatePriority"] = json!(priority);
    }
    if !options.countries.is_empty() && target.status == TargetStatus::InProgress {
        own["countryTargeting"] = json!({"countries": options.countries, "includeRestOfWorld": false});
    }
    if !release.notes.is_empty() {
        let notes = release.notes.iter();
        let notes: Vec<Value> = notes
            .map(|note| json!({"language": note.locale, "text": note.text}))
            .collect();
        own["releaseNotes"] = json!(notes);
    }
    own
}
