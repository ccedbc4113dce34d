//! Settings in native projects: string resources, Android's manifest, Gradle's `resValue` and property lists.

use launchway_domain::platform::Platform;

use super::UpdateClient;
use super::settings::{FoundSetting, Setting, SettingValue};
use super::xml::{meta_data, property, string_resource, without_comments};
use crate::native_version::blocks::statements;
use crate::packages::join;
use crate::source::Source;

const STRINGS: &str = "android/app/src/main/res/values/strings.xml";
const MANIFEST: &str = "android/app/src/main/AndroidManifest.xml";
const GRADLE: [&str; 2] = ["android/app/build.gradle", "android/app/build.gradle.kts"];
/// The name of a setting in a file.
type Names = &'static [(Setting, &'static str)];

const CODEPUSH_STRINGS: Names = &[
    (Setting::Address, "CodePushServerUrl"),
    (Setting::DeploymentKey, "CodePushDeploymentKey"),
    (Setting::PublicKey, "CodePushPublicKey"),
];
const CODEPUSH_PROPERTIES: Names = &[
    (Setting::Address, "CodePushServerURL"),
    (Setting::DeploymentKey, "CodePushDeploymentKey"),
    (Setting::PublicKey, "CodePushPublicKey"),
];
const EXPO_META_DATA: Names = &[
    (Setting::Address, "expo.modules.updates.EXPO_UPDATE_URL"),
    (Setting::RuntimeVersion, "expo.modules.updates.EXPO_RUNTIME_VERSION"),
    (
        Setting::ChangeableAddress,
        "expo.modules.updates.DISABLE_ANTI_BRICKING_MEASURES",
    ),
];
const EXPO_PROPERTIES: Names = &[
    (Setting::Address, "EXUpdatesURL"),
    (Setting::RuntimeVersion, "EXUpdatesRuntimeVersion"),
    (Setting::Channel, "expo-channel-name"),
];
const HOT_UPDATER_STRINGS: Names = &[
    (Setting::Channel, "hot_updater_channel"),
    (Setting::PublicKey, "hot_updater_public_key"),
];
const HOT_UPDATER_PROPERTIES: Names = &[
    (Setting::Channel, "HOT_UPDATER_CHANNEL"),
    (Setting::PublicKey, "HOT_UPDATER_PUBLIC_KEY"),
];

/// The settings in the native projects of the app in `directory`.
pub fn settings(client: UpdateClient, source: &Source, directory: &str) -> Vec<FoundSetting> {
    let (strings, properties): (Names, Names) = match client {
        UpdateClient::Codepush => (CODEPUSH_STRINGS, CODEPUSH_PROPERTIES),
        UpdateClient::Expo => (&[], EXPO_PROPERTIES),
        UpdateClient::HotUpdater => (HOT_UPDATER_STRINGS, HOT_UPDATER_PROPERTIES),
        // Its plugin reads the configuration of Capacitor.
        UpdateClient::Capgo => return Vec::new(),
    };
    let mut found = in_strings(source, directory, strings);
    if client == UpdateClient::Expo {
        found.extend(in_manifest(source, directory));
    }
    found.extend(in_properties(source, directory, properties));
    found
}

fn in_strings(source: &Source, directory: &str, names: Names) -> Vec<FoundSetting> {
    let path = join(directory, STRINGS);
    let text = without_comments(&source.text(&path).unwrap_or_default());
    let mut found: Vec<FoundSetting> = names
        .iter()
        .filter_map(|(setting, name)| Some(on_android(*setting, &path, string_resource(&text, name)?)))
        .collect();
    for path in GRADLE.iter().map(|name| join(directory, name)) {
        let text = source.text(&path).unwrap_or_default();
        found.extend(
            in_gradle(&text, names)
                .into_iter()
                .map(|(setting, value)| on_android(setting, &path, value)),
        );
    }
    found
}

/// `resValue "string", "Name", '"value"'`, of each build type and flavor.
fn in_gradle(text: &str, names: Names) -> Vec<(Setting, SettingValue)> {
    // A comma ends a statement, so the three arguments arrive one after the other.
    let mut last: [String; 2] = Default::default();
    let mut found = Vec::new();
    statements(text, |_, statement| {
        let name = last[1].trim_matches(['"', '\'']);
        let setting = names.iter().find(|(_, known)| *known == name);
        if let Some((setting, _)) = setting.filter(|_| last[0].starts_with("resValue")) {
            found.push((*setting, gradle_value(statement)));
        }
        last = [std::mem::take(&mut last[1]), statement.to_owned()];
    });
    found.dedup();
    found
}

fn gradle_value(text: &str) -> SettingValue {
    let text = text.trim_end_matches(')').trim();
    let is_quoted = text.len() >= 2 && text.starts_with(['"', '\'']) && text.ends_with(['"', '\'']);
    let inner = text.trim_matches(['"', '\'', '\\']);
    match is_quoted && !inner.contains(['$', '"', '\'', '\\']) {
        true => SettingValue::of(inner),
        false => SettingValue::Computed,
    }
}

fn in_manifest(source: &Source, directory: &str) -> Vec<FoundSetting> {
    let path = join(directory, MANIFEST);
    let text = without_comments(&source.text(&path).unwrap_or_default());
    let strings = without_comments(&source.text(&join(directory, STRINGS)).unwrap_or_default());
    let of = |(setting, name): &(Setting, &str)| {
        let value = match meta_data(&text, name)? {
            // `expo prebuild` writes the runtime version into a resource.
            SettingValue::Computed if *setting == Setting::RuntimeVersion => {
                string_resource(&strings, "expo_runtime_version").unwrap_or(SettingValue::Computed)
            }
            value => value,
        };
        Some(on_android(*setting, &path, value))
    };
    let mut found: Vec<_> = EXPO_META_DATA.iter().filter_map(of).collect();
    let headers = meta_data(&text, "expo.modules.updates.UPDATES_CONFIGURATION_REQUEST_HEADERS_KEY");
    found.extend(headers.map(|headers| on_android(Setting::Channel, &path, channel_of(&headers))));
    found
}

/// The channel in the JSON of the headers that requests have.
fn channel_of(headers: &SettingValue) -> SettingValue {
    let headers: Option<serde_json::Value> = headers.text().and_then(|text| serde_json::from_str(text).ok());
    let channel = headers
        .as_ref()
        .and_then(|headers| headers.get("expo-channel-name")?.as_str());
    SettingValue::of(channel.unwrap_or_default())
}

fn in_properties(source: &Source, directory: &str, names: Names) -> Vec<FoundSetting> {
    let ios = join(directory, "ios");
    let folders = source.names(&ios).into_iter().filter(|name| name != "Pods");
    let paths = folders.flat_map(|name| {
        [
            format!("{ios}/{name}/Info.plist"),
            format!("{ios}/{name}/Supporting/Expo.plist"),
        ]
    });
    let mut found: Vec<FoundSetting> = Vec::new();
    for path in paths {
        let text = without_comments(&source.text(&path).unwrap_or_default());
        found.extend(names.iter().filter_map(|(setting, name)| {
            Some(FoundSetting {
                setting: *setting,
                platform: Some(Platform::Ios),
                path: path.clone(),
                value: property(&text, name)?,
            })
        }));
    }
    found
}

fn on_android(setting: Setting, path: &str, value: SettingValue) -> FoundSetting {
    FoundSetting {
        setting,
        platform: Some(Platform::Android),
        path: path.to_owned(),
        value,
    }
}
