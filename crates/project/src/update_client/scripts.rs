//! Settings in JSON and scripts: the configurations of Expo and Capacitor, and an app's own code.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::UpdateClient;
use super::settings::{FoundSetting, Setting, SettingValue};
use crate::framework::Framework;
use crate::native_version::blocks::{Reading, assignment, statements};
use crate::packages::join;
use crate::sdk::additions::AppFolder;
use crate::sdk::entry;
use crate::source::Source;

/// A setting, the block that contains it, and its key there.
type Keys = &'static [(Setting, &'static str, &'static str)];

const EXPO: Keys = &[
    (Setting::Address, "updates", "url"),
    (Setting::Channel, "requestHeaders", "expo-channel-name"),
    (Setting::Certificate, "updates", "codeSigningCertificate"),
    (Setting::CertificateKeyId, "codeSigningMetadata", "keyid"),
    (Setting::ChangeableAddress, "updates", "disableAntiBrickingMeasures"),
];
const CAPGO: Keys = &[
    (Setting::Address, "CapacitorUpdater", "updateUrl"),
    (Setting::StatsAddress, "CapacitorUpdater", "statsUrl"),
    (Setting::ChannelAddress, "CapacitorUpdater", "channelUrl"),
    (Setting::AppId, "CapacitorUpdater", "appId"),
    (Setting::Channel, "CapacitorUpdater", "defaultChannel"),
    (Setting::PublicKey, "CapacitorUpdater", "publicKey"),
    (Setting::ChangeableAddress, "CapacitorUpdater", "allowModifyUrl"),
];
/// The same keys in the argument of `new ElectronUpdater(…)`.
const CAPGO_ELECTRON: Keys = &[
    (Setting::Address, "ElectronUpdater", "updateUrl"),
    (Setting::StatsAddress, "ElectronUpdater", "statsUrl"),
    (Setting::ChannelAddress, "ElectronUpdater", "channelUrl"),
    (Setting::AppId, "ElectronUpdater", "appId"),
    (Setting::Channel, "ElectronUpdater", "defaultChannel"),
    (Setting::PublicKey, "ElectronUpdater", "publicKey"),
    (Setting::ChangeableAddress, "ElectronUpdater", "allowModifyUrl"),
];
/// The argument of `HotUpdater.wrap(…)` or `HotUpdater.init(…)`. Older versions call the address `source`.
const HOT_UPDATER: Keys = &[
    (Setting::Address, "wrap", "baseURL"),
    (Setting::Address, "init", "baseURL"),
    (Setting::Address, "wrap", "source"),
    (Setting::Address, "init", "source"),
];

/// The settings in configurations and code of the app.
pub fn settings(client: UpdateClient, app: AppFolder<'_>, source: &Source) -> Vec<FoundSetting> {
    match client {
        // Only its native parts know the server.
        UpdateClient::Codepush => Vec::new(),
        UpdateClient::Expo => in_config(source, app.directory, Framework::Expo, EXPO),
        UpdateClient::Capgo => {
            let mut found = in_config(source, app.directory, Framework::Capacitor, CAPGO);
            found.extend(in_code(app, "@capgo/electron-updater", CAPGO_ELECTRON));
            found
        }
        UpdateClient::HotUpdater => {
            let mut found = in_code(app, "@hot-updater/react-native", HOT_UPDATER);
            found.extend(channel_of_plugin(source, app.directory));
            found
        }
    }
}

/// What the first configuration that has a value says. A script may take its values from the JSON.
fn in_config(source: &Source, directory: &str, framework: Framework, keys: Keys) -> Vec<FoundSetting> {
    let mut found: Vec<FoundSetting> = Vec::new();
    for name in framework
        .configs(source, directory)
        .iter()
        .filter_map(|group| group.first())
    {
        let path = join(directory, name);
        let text = source.text(&path).unwrap_or_default();
        let values = match name.ends_with(".json") {
            true => of_json(&text, framework, keys),
            false => of_script(&text, framework, keys),
        };
        for (setting, value) in values {
            if !found.iter().any(|known| known.setting == setting) {
                found.push(everywhere(setting, &path, value));
            }
        }
    }
    found
}

fn of_json(text: &str, framework: Framework, keys: Keys) -> Vec<(Setting, SettingValue)> {
    let Ok(config) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    let root = match framework {
        Framework::Expo => config.get("expo").unwrap_or(&config),
        _ => config.get("plugins").unwrap_or(&Value::Null),
    };
    let block = |name: &str| match name {
        "requestHeaders" | "codeSigningMetadata" => root.get("updates")?.get(name),
        name => root.get(name),
    };
    let of = |(setting, name, key): &(Setting, &str, &str)| Some((*setting, json_value(block(name)?.get(key)?)));
    let mut found: Vec<_> = keys.iter().filter_map(of).collect();
    if framework == Framework::Expo {
        let version = root.get("runtimeVersion").map(json_value);
        found.extend(version.map(|value| (Setting::RuntimeVersion, value)));
    }
    found
}

fn json_value(value: &Value) -> SettingValue {
    match value {
        Value::String(text) => SettingValue::of(text),
        Value::Bool(flag) => SettingValue::of(if *flag { "true" } else { "false" }),
        // Such as the policy of a runtime version.
        _ => SettingValue::Computed,
    }
}

fn of_script(text: &str, framework: Framework, keys: Keys) -> Vec<(Setting, SettingValue)> {
    let mut found: Vec<(Setting, SettingValue)> = Vec::new();
    let mut add = |setting: Setting, value: SettingValue| match found.iter_mut().find(|(known, _)| *known == setting) {
        // Two values of one setting depend on something.
        Some((_, known)) if *known != value => *known = SettingValue::Computed,
        Some(_) => {}
        None => found.push((setting, value)),
    };
    statements(text, |blocks, statement| {
        let block = blocks.last().map(String::as_str);
        for (setting, name, key) in keys {
            if block == Some(name)
                && let Some(value) = script_value(statement, key)
            {
                add(*setting, value);
            }
        }
        if framework == Framework::Expo {
            match script_value(statement, "runtimeVersion") {
                Some(value) => add(Setting::RuntimeVersion, value),
                None if block == Some("runtimeVersion") => add(Setting::RuntimeVersion, SettingValue::Computed),
                None => {}
            }
        }
    });
    found
}

fn script_value(statement: &str, key: &str) -> Option<SettingValue> {
    match assignment(statement, key) {
        Reading::Absent => None,
        Reading::Plain(text) => Some(SettingValue::of(&text)),
        Reading::Unclear => {
            let word = statement.rsplit([' ', ':', '\t']).next().unwrap_or_default();
            let is_flag = matches!(word, "true" | "false") && !statement.contains('?');
            Some(if is_flag {
                SettingValue::of(word)
            } else {
                SettingValue::Computed
            })
        }
    }
}

/// What the app's own code says in files that name the package.
fn in_code(app: AppFolder<'_>, package: &str, keys: Keys) -> Vec<FoundSetting> {
    let root = app.root.join(app.directory);
    let mut found = Vec::new();
    for (path, text) in entry::code(&root, app.framework).filter(|(_, text)| text.contains(package)) {
        let below = path
            .strip_prefix(&root)
            .unwrap_or(&path)
            .to_string_lossy()
            .replace('\\', "/");
        let path = join(app.directory, &below);
        let mut values = of_script(&text, Framework::Capacitor, keys);
        for (_, value) in values.iter_mut().filter(|(_, value)| *value == SettingValue::Computed) {
            *value = update_source(&text).unwrap_or(SettingValue::Computed);
        }
        found.extend(
            values
                .into_iter()
                .map(|(setting, value)| everywhere(setting, &path, value)),
        );
    }
    found.sort_by(|this, that| this.path.cmp(&that.path));
    found
}

/// The address in the only `getUpdateSource("…", …)` of a script.
fn update_source(text: &str) -> Option<SettingValue> {
    static CALL: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\bgetUpdateSource\(\s*['\x22`]([^'\x22`$]*)['\x22`]").ok());
    let mut calls = CALL.as_ref()?.captures_iter(text);
    let (first, second) = (calls.next()?, calls.next());
    second.is_none().then(|| SettingValue::of(&first[1]))
}

/// `channel` of the plugin of hot-updater in Expo's JSON.
fn channel_of_plugin(source: &Source, directory: &str) -> Option<FoundSetting> {
    let names = Framework::Expo.configs(source, directory).into_iter().flatten();
    names.filter(|name| name.ends_with(".json")).find_map(|name| {
        let path = join(directory, name);
        let config: Value = serde_json::from_str(&source.text(&path)?).ok()?;
        let plugins = config.get("expo").unwrap_or(&config).get("plugins")?.as_array()?;
        let is_it = |plugin: &&Value| plugin.get(0).is_some_and(|name| name == "@hot-updater/react-native");
        let channel = plugins.iter().find(is_it)?.get(1)?.get("channel")?;
        Some(everywhere(Setting::Channel, &path, json_value(channel)))
    })
}

fn everywhere(setting: Setting, path: &str, value: SettingValue) -> FoundSetting {
    FoundSetting {
        setting,
        platform: None,
        path: path.to_owned(),
        value,
    }
}
