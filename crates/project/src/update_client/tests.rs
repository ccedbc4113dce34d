//! Projects with each client: what is found, and what to change, as snapshots.

use std::fmt::Write as _;
use std::fs;

use insta::assert_snapshot;

use super::settings::{SettingValue, settings};
use super::steps::{NewHome, steps};
use super::*;
use crate::framework::Framework;
use crate::sdk::additions::AppFolder;
use crate::source::Source;

/// Files by their paths.
type Files<'a> = &'a [(&'a str, &'a str)];

fn project(files: Files) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("it lies in the directory")).expect("space");
        fs::write(path, text).expect("space");
    }
    directory
}

fn home() -> NewHome {
    NewHome {
        server: "https://launchway.example.com".to_owned(),
        android: "com.example.app".to_owned(),
        ios: "com.example.app".to_owned(),
    }
}

/// The clients of a project, their settings and what to change.
fn described(framework: Framework, files: Files) -> String {
    let directory = project(files);
    let source = Source::new(directory.path());
    let app = AppFolder {
        root: directory.path(),
        directory: "",
        framework,
    };
    let packages = Packages::read(&source, "").expect("package.json");
    let mut text = String::new();
    for (client, package) in clients_in(&packages) {
        let found = settings(client, app);
        let _ = writeln!(text, "{} ({package})", client.title());
        for found in &found {
            let platform = found.platform.map_or("all", |platform| platform.as_str());
            let value = match &found.value {
                SettingValue::Text(value) => value,
                SettingValue::Computed => "(computed)",
            };
            let _ = writeln!(text, "  {:?} on {platform}: {value} [{}]", found.setting, found.path);
        }
        for step in steps(client, app, &found, &home()) {
            let _ = writeln!(text, "  -> {}", step.what);
            for line in step.lines {
                let _ = writeln!(text, "     {line}");
            }
        }
    }
    text
}

const STRINGS: &str = "android/app/src/main/res/values/strings.xml";

#[test]
fn codepush_is_set_up_in_native_files() {
    let manifest = (
        "package.json",
        r#"{"dependencies": {"react-native": "0.80.0", "react-native-code-push": "9.0.1"}}"#,
    );
    let text = described(
        Framework::ReactNative,
        &[
            manifest,
            (
                STRINGS,
                "<resources>\n<string name=\"app_name\">App</string>\n\
                 <string moduleConfig=\"true\" name=\"CodePushDeploymentKey\">abcDEF123456</string>\n</resources>",
            ),
            (
                "ios/App/Info.plist",
                "<plist><dict>\n<key>CodePushDeploymentKey</key>\n<string>$(CODEPUSH_KEY)</string>\n</dict></plist>",
            ),
            (
                "ios/Pods/Info.plist",
                "<key>CodePushServerURL</key><string>https://other</string>",
            ),
        ],
    );
    assert_snapshot!("codepush_in_strings", text);
    let text = described(
        Framework::ReactNative,
        &[
            manifest,
            (
                "android/app/build.gradle",
                "android {\n  buildTypes {\n    release {\n      resValue \"string\", \"CodePushDeploymentKey\", '\"abcDEF123456\"'\n\
                 resValue('string', 'CodePushServerUrl', \"\\\"https://launchway.example.com/codepush/com.example.app/\\\"\")\n    }\n\
                 debug { resValue \"string\", \"CodePushDeploymentKey\", KEY }\n  }\n}",
            ),
        ],
    );
    assert_snapshot!("codepush_in_gradle", text);
}

#[test]
fn expo_is_set_up_in_its_configuration() {
    let manifest = (
        "package.json",
        r#"{"dependencies": {"expo": "57.0.0", "expo-updates": "57.0.24"}}"#,
    );
    let text = described(
        Framework::Expo,
        &[
            manifest,
            (
                "app.json",
                r#"{"expo": {"runtimeVersion": {"policy": "appVersion"}, "updates": {"url": "https://u.expo.dev/1234",
                    "codeSigningCertificate": "./certs/c.pem", "codeSigningMetadata": {"keyid": "main", "alg": "rsa-v1_5-sha256"}}}}"#,
            ),
        ],
    );
    assert_snapshot!("expo_in_json", text);
    let text = described(
        Framework::Expo,
        &[
            manifest,
            (
                "app.config.ts",
                "export default ({ config }) => ({\n  ...config,\n  runtimeVersion: '1.0.0',\n  updates: {\n    url: 'https://launchway.example.com/expo/com.example.app',\n\
                 requestHeaders: { 'expo-channel-name': process.env.CHANNEL },\n  },\n})",
            ),
            (
                "android/app/src/main/AndroidManifest.xml",
                "<meta-data android:name=\"expo.modules.updates.EXPO_UPDATE_URL\" android:value=\"https://u.expo.dev/1234\"/>\n\
                 <meta-data android:name=\"expo.modules.updates.EXPO_RUNTIME_VERSION\" android:value=\"@string/expo_runtime_version\"/>\n\
                 <meta-data android:name=\"expo.modules.updates.UPDATES_CONFIGURATION_REQUEST_HEADERS_KEY\" android:value=\"{&quot;expo-channel-name&quot;:&quot;main&quot;}\"/>",
            ),
            (STRINGS, "<string name=\"expo_runtime_version\">1.0.0</string>"),
            (
                "ios/App/Supporting/Expo.plist",
                "<key>EXUpdatesURL</key><string>https://launchway.example.com/expo/com.example.app</string>",
            ),
        ],
    );
    assert_snapshot!("expo_in_script_and_native_projects", text);
}

#[test]
fn capgo_is_set_up_in_capacitors_configuration() {
    let manifest = (
        "package.json",
        r#"{"dependencies": {"@capacitor/core": "8.0.0", "@capgo/capacitor-updater": "8.51.23"}}"#,
    );
    let text = described(
        Framework::Capacitor,
        &[
            manifest,
            (
                "capacitor.config.ts",
                "const config = {\n  appId: 'com.example.app',\n  plugins: {\n    CapacitorUpdater: {\n      autoUpdate: true,\n\
                 appId: 'other.id',\n      publicKey: '-----BEGIN RSA PUBLIC KEY-----',\n      allowModifyUrl: true,\n    },\n  },\n}",
            ),
        ],
    );
    assert_snapshot!("capgo_in_script", text);
    let text = described(
        Framework::Capacitor,
        &[
            manifest,
            (
                "capacitor.config.json",
                r#"{"appId": "com.example.app", "plugins": {"CapacitorUpdater": {"defaultChannel": "production",
                    "updateUrl": "https://launchway.example.com/capgo/updates", "statsUrl": "https://launchway.example.com/capgo/stats",
                    "channelUrl": "https://launchway.example.com/capgo/channel_self"}}}"#,
            ),
        ],
    );
    assert_snapshot!("capgo_of_this_server", text);
}

#[test]
fn hot_updater_is_set_up_in_the_code_of_the_app() {
    let manifest = (
        "package.json",
        r#"{"dependencies": {"react-native": "0.80.0", "@hot-updater/react-native": "0.36.3"}}"#,
    );
    let text = described(
        Framework::ReactNative,
        &[
            manifest,
            (
                "App.tsx",
                "import { HotUpdater } from '@hot-updater/react-native';\nexport default HotUpdater.wrap({\n  baseURL: 'https://x.supabase.co/functions/v1/update-server',\n})(App);",
            ),
            (
                "ios/App/Info.plist",
                "<key>HOT_UPDATER_CHANNEL</key><string>production</string>",
            ),
            (
                STRINGS,
                "<string name=\"hot_updater_public_key\">-----BEGIN PUBLIC KEY-----</string>",
            ),
        ],
    );
    assert_snapshot!("hot_updater_in_code", text);
    let text = described(
        Framework::ReactNative,
        &[manifest, ("other.ts", "wrap({ baseURL: 'https://other' })")],
    );
    assert_snapshot!("hot_updater_elsewhere", text);
}

#[test]
fn older_versions_of_hot_updater_name_their_source() {
    let manifest = (
        "package.json",
        r#"{"dependencies": {"@hot-updater/react-native": "0.20.0"}}"#,
    );
    let import = "import { HotUpdater, getUpdateSource } from '@hot-updater/react-native';\n";
    let rows = [
        ("wrap({ source: 'https://a.example' })", "https://a.example"),
        (
            "wrap({\n  source: getUpdateSource(\n    'https://a.example', {\n      updateStrategy: 'appVersion',\n    }),\n})",
            "https://a.example",
        ),
        ("wrap({ source: getUpdateSource(`${URL}/a`, {}) })", "(computed)"),
        ("wrap({ baseURL: ENV.url })", "(computed)"),
    ];
    for (call, expected) in rows {
        let code = format!("{import}export default HotUpdater.{call}(App);");
        let text = described(Framework::ReactNative, &[manifest, ("App.tsx", &code)]);
        assert!(
            text.contains(&format!("Address on all: {expected} [App.tsx]")),
            "{call}: {text}"
        );
    }
}

#[test]
fn an_empty_address_of_statistics_switches_them_off() {
    let manifest = ("package.json", r#"{"dependencies": {"@capgo/capacitor-updater": "8"}}"#);
    let config = r#"{"plugins": {"CapacitorUpdater": {"updateUrl": "", "statsUrl": ""}}}"#;
    let text = described(Framework::Capacitor, &[manifest, ("capacitor.config.json", config)]);
    assert!(
        text.contains("StatsAddress on all:  [") && !text.contains("  Address on all"),
        "{text}"
    );
}

#[test]
fn hostile_projects_are_read_to_an_end() {
    let deep = "{\"expo\":".repeat(10_000);
    let long = format!("{{\"expo\": {{\"updates\": {{\"url\": \"{}\"}}}}}}", "a".repeat(20_000));
    let manifest = (
        "package.json",
        r#"{"dependencies": {"expo-updates": "1", "@capgo/capacitor-updater": "1",
        "react-native-code-push": "1", "@hot-updater/react-native": "1"}}"#,
    );
    for text in [
        deep.as_str(),
        long.as_str(),
        "[]",
        "{\"expo\": []}",
        "\u{0}",
        "'`{{{{\\",
        "{\"updates\": 1}",
    ] {
        let files = [
            manifest,
            ("app.json", text),
            ("app.config.js", text),
            ("capacitor.config.ts", text),
            (STRINGS, text),
            ("android/app/build.gradle", text),
            ("ios/A/Info.plist", text),
            ("App.js", text),
        ];
        for framework in [Framework::Expo, Framework::Capacitor, Framework::ReactNative] {
            let told = described(framework, &files);
            assert!(told.len() < 20_000, "{told}");
        }
    }
}
