//! The config plugin of the SDK in an Expo project: it edits the native projects that Expo generates.

use serde_json::Value;

use super::manifest;
use crate::framework::Framework;
use crate::packages::join;
use crate::source::Source;

/// The configuration that lacks the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithoutPlugin {
    /// Its path.
    pub path: String,
    /// Its text.
    pub before: String,
    /// Its text with the plugin; `None` for a script, which is not edited.
    pub after: Option<String>,
}

/// The configuration of the app in `directory`, if it does not list the plugin `name`.
pub fn without_plugin(source: &Source, directory: &str, name: &str) -> Option<WithoutPlugin> {
    let groups = Framework::Expo.configs(source, directory);
    // A script may take its values from the JSON.
    let files = groups.iter().filter_map(|group| group.first()).map(|name| {
        let path = join(directory, name);
        let text = source.text(&path).unwrap_or_default();
        (path, text)
    });
    let files: Vec<_> = files.collect();
    if files.iter().any(|(_, text)| lists_plugin(text, name)) {
        return None;
    }
    let is_script = |path: &str| !path.ends_with(".json");
    let (path, before) = match files.into_iter().next() {
        Some(file) => file,
        None => (join(directory, "app.json"), String::new()),
    };
    let after = match is_script(&path) {
        true => None,
        false => manifest::with_plugin(&before, name),
    };
    Some(WithoutPlugin { path, before, after })
}

fn lists_plugin(text: &str, name: &str) -> bool {
    let Ok(config) = serde_json::from_str::<Value>(text) else {
        let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        return code.any(|line| {
            ['"', '\'', '`']
                .iter()
                .any(|quote| line.contains(&format!("{quote}{name}{quote}")))
        });
    };
    let plugins = ["/expo/plugins", "/plugins"]
        .iter()
        .find_map(|place| config.pointer(place));
    let is_it = |plugin: &Value| plugin == name || plugin.get(0).is_some_and(|first| first == name);
    plugins
        .and_then(Value::as_array)
        .is_some_and(|list| list.iter().any(is_it))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "@launchway/react-native";

    fn found(files: &[(&str, &str)]) -> Option<(String, Option<String>)> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        let found = without_plugin(&Source::new(directory.path()), "", NAME)?;
        Some((found.path, found.after))
    }

    #[test]
    fn the_plugin_comes_first_in_the_configuration() {
        let rows = [
            (
                "{\n  \"expo\": {\n    \"plugins\": [\n      \"expo-router\"\n    ]\n  }\n}\n",
                "{\n  \"expo\": {\n    \"plugins\": [\n      \"@launchway/react-native\",\n      \"expo-router\"\n    ]\n  }\n}\n",
            ),
            (
                "{\n  \"expo\": {\n    \"name\": \"App\"\n  }\n}\n",
                "{\n  \"expo\": {\n    \"name\": \"App\",\n    \"plugins\": [\"@launchway/react-native\"]\n  }\n}\n",
            ),
            (
                "{\"expo\": {\"plugins\": []}}",
                "{\"expo\": {\"plugins\": [\"@launchway/react-native\"]}}",
            ),
            (
                "{\"name\": \"App\"}",
                "{\"name\": \"App\",\"plugins\": [\"@launchway/react-native\"]}",
            ),
        ];
        for (text, expected) in rows {
            let (path, after) = found(&[("app.json", text)]).expect("it is missing");
            assert_eq!((path.as_str(), after.as_deref()), ("app.json", Some(expected)));
            assert_eq!(found(&[("app.json", expected)]), None, "once");
        }
    }

    #[test]
    fn a_plugin_that_is_listed_is_found_in_its_forms() {
        let rows = [
            (
                "app.json",
                "{\"expo\": {\"plugins\": [[\"@launchway/react-native\", {}]]}}",
            ),
            (
                "app.config.ts",
                "export default { plugins: ['@launchway/react-native'] }",
            ),
        ];
        for (path, text) in rows {
            assert_eq!(found(&[(path, text)]), None, "{path}");
        }
        let base = ("app.json", "{\"expo\": {\"plugins\": [\"@launchway/react-native\"]}}");
        assert_eq!(
            found(&[base, ("app.config.js", "module.exports = ({ config }) => config")]),
            None
        );
        let script = (
            "app.config.js",
            "// plugins: ['@launchway/react-native']\nmodule.exports = {}",
        );
        assert_eq!(found(&[script]), Some(("app.config.js".to_owned(), None)));
        assert_eq!(found(&[]), Some(("app.json".to_owned(), None)));
        let odd = ("app.json", "{\"expo\": {\"plugins\": {}}}");
        assert_eq!(found(&[odd]), Some(("app.json".to_owned(), None)));
    }
}
