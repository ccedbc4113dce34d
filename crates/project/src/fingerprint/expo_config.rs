//! The configuration of an Expo project, from which tools generate the native project.

use serde_json::{Map, Value};

/// The part of a configuration that concerns one platform: everything but versions, build numbers and other platforms.
/// Keys are sorted, so that their order does not count.
pub fn of_platform(mut config: Value, own: &str) -> Value {
    if let Value::Object(all) = &mut config {
        match all.get_mut("expo") {
            Some(Value::Object(expo)) => clean(expo, Some(own)),
            _ => clean(all, Some(own)),
        }
    }
    config.sort_all_objects();
    config
}

/// The text of an `app.json` without versions and build numbers; unchanged when it is not JSON.
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

/// The project files that a configuration names: `./assets/icon.png`, `./plugins/with-camera`.
pub fn named_files(config: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![config];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => found.extend(inside(text)),
            Value::Array(values) => left.extend(values),
            Value::Object(values) => left.extend(values.values()),
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The project files that a configuration script names. The script is not executed; every quoted string that looks like
/// a path counts.
pub fn named_in_script(text: &str) -> Vec<String> {
    let quoted = text.split(['"', '\'', '`']).skip(1).step_by(2);
    quoted.filter_map(inside).collect()
}

fn inside(text: &str) -> Option<String> {
    let path = text.strip_prefix("./")?;
    let stays = !path.is_empty() && !path.contains('\n') && path.split('/').all(|part| part != "..");
    stays.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_platform_takes_its_own() {
        let config = json!({"expo": {"version": "1", "slug": "a", "ios": {"buildNumber": "1", "icon": "./i.png"},
            "android": {"versionCode": 2, "icon": "./a.png"}, "web": {}, "plugins": [["./plugin", {"x": "../y"}]]}});
        let own = of_platform(config, "ios");
        assert_eq!(
            own,
            json!({"expo": {"slug": "a", "ios": {"icon": "./i.png"}, "plugins": [["./plugin", {"x": "../y"}]]}})
        );
        assert_eq!(named_files(&own), ["i.png", "plugin"]);
        assert_eq!(of_platform(json!([1]), "ios"), json!([1]));
    }

    #[test]
    fn scripts_name_files() {
        let text = "export default { icon: './assets/icon.png', plugins: [\"./plugins/a\"], other: './../b', v: '1' }";
        assert_eq!(named_in_script(text), ["assets/icon.png", "plugins/a"]);
    }
}
