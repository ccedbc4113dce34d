//! The configuration of an Expo project as JSON: from it the native project is made.

use serde_json::{Map, Value};

/// What a configuration of one platform takes from `app.json`: everything but versions, build numbers and what is for
/// others. Keys are sorted, so that their order does not count.
pub fn of_platform(text: &str, own: &str) -> Option<Value> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let all = value.as_object_mut()?;
    match all.get_mut("expo") {
        Some(Value::Object(expo)) => clean(expo, Some(own)),
        _ => clean(all, Some(own)),
    }
    value.sort_all_objects();
    Some(value)
}

/// The text of an `app.json` without versions and build numbers; as it is when it is no JSON.
pub fn masked(text: &str) -> String {
    let Ok(Value::Object(mut all)) = serde_json::from_str(text) else {
        return text.to_owned();
    };
    match all.get_mut("expo") {
        Some(Value::Object(expo)) => clean(expo, None),
        _ => clean(&mut all, None),
    }
    let mut config = Value::Object(all);
    config.sort_all_objects();
    config.to_string()
}

fn clean(config: &mut Map<String, Value>, own: Option<&str>) {
    config.remove("version");
    for (platform, number) in [("android", "versionCode"), ("ios", "buildNumber"), ("web", "")] {
        if own.is_some_and(|own| own != platform) {
            config.remove(platform);
        } else if let Some(Value::Object(inner)) = config.get_mut(platform) {
            inner.remove("version");
            inner.remove(number);
        }
    }
}

/// The files of the project that a configuration names: `./assets/icon.png`, `./plugins/with-camera`.
pub fn named_files(config: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![config];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => found.extend(text.strip_prefix("./").map(str::to_owned)),
            Value::Array(values) => left.extend(values),
            Value::Object(values) => left.extend(values.values()),
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
