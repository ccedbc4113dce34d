//! Each fault of an app with the SDK is found, with what to do.

use std::fs;
use std::path::Path;

use launchway_project::file;

use super::*;
use crate::commands::doctor::Status;

const CALL: &str = "import { Launchway } from '@launchway/capacitor';\nLaunchway.sync();\n";
const KOTLIN: &str = "android/app/src/main/java/a/MainApplication.kt";

/// A project with these files.
struct Fixture(tempfile::TempDir);

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let fixture = Self(tempfile::tempdir().expect("a temporary directory"));
        for (path, text) in files {
            fixture.file(path, text);
        }
        fixture
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("it lies in the project")).expect("space");
        fs::write(path, text).expect("space");
    }

    fn app(&self, framework: Framework) -> AppFolder<'_> {
        AppFolder {
            root: self.0.path(),
            directory: "",
            framework,
        }
    }

    fn source(&self) -> Source {
        Source::new(self.0.path())
    }

    fn in_code(&self, framework: Framework) -> Vec<(Status, String)> {
        shown(in_code(self.app(framework), &self.source()))
    }

    fn in_native_projects(&self, settings: &str) -> Vec<(Status, String)> {
        let project = file::parse(settings).expect("valid");
        let findings = in_native_projects(self.app(Framework::Capacitor), &self.source(), &project);
        shown(findings)
    }
}

fn shown(findings: Vec<Finding>) -> Vec<(Status, String)> {
    let findings = findings.into_iter();
    findings
        .inspect(|finding| assert!(finding.fix.is_some() || finding.status == Status::Ok))
        .map(|finding| (finding.status, finding.message))
        .collect()
}

fn problem(message: &str) -> Vec<(Status, String)> {
    vec![(Status::Problem, message.to_owned())]
}

fn warning(message: &str) -> Vec<(Status, String)> {
    vec![(Status::Warning, message.to_owned())]
}

#[test]
fn a_missing_call_is_a_problem() {
    let message = "no code of the app calls sync() of the SDK, so that it never looks for updates";
    let fixture = Fixture::new(&[("src/main.ts", "start();\n")]);
    assert_eq!(fixture.in_code(Framework::Capacitor), problem(message));
    fixture.file("src/main.ts", CALL);
    assert!(fixture.in_code(Framework::Capacitor).is_empty());
}

#[test]
fn a_missing_native_edit_is_a_problem() {
    let message = format!("{KOTLIN} does not ask the SDK for the bundle, so that updates never run");
    let fixture = Fixture::new(&[("index.js", CALL), (KOTLIN, "class MainApplication")]);
    assert_eq!(fixture.in_code(Framework::ReactNative), problem(&message));
    fixture.file(KOTLIN, "jsBundleFilePath = LaunchwayReactNative.jsBundleFile(this)");
    assert!(fixture.in_code(Framework::ReactNative).is_empty());
}

#[test]
fn an_app_delegate_of_capacitor_needs_no_edit() {
    let fixture = Fixture::new(&[
        ("src/main.ts", CALL),
        ("ios/App/App/AppDelegate.swift", "class AppDelegate"),
    ]);
    assert!(fixture.in_code(Framework::Capacitor).is_empty());
}

#[test]
fn a_plugin_that_expo_does_not_know_is_a_problem() {
    let message = "app.json does not list the plugin of the SDK, so that updates never run";
    let fixture = Fixture::new(&[("App.js", CALL), ("app.json", "{\"expo\": {\"name\": \"App\"}}")]);
    assert_eq!(fixture.in_code(Framework::Expo), problem(message));
    fixture.file("app.json", "{\"expo\": {\"plugins\": [\"@launchway/react-native\"]}}");
    assert!(fixture.in_code(Framework::Expo).is_empty());
}

#[test]
fn a_hook_that_nativescript_does_not_know_is_a_problem() {
    let message = "nativescript.config.ts lacks the hook of the SDK, so that updates never run on iOS";
    let fixture = Fixture::new(&[
        ("app/app.ts", CALL),
        ("nativescript.config.ts", "export default {\n};\n"),
    ]);
    assert_eq!(fixture.in_code(Framework::NativeScript), problem(message));
}

#[test]
fn snapshots_of_v8_are_a_problem() {
    let message = "package.json turns V8 snapshots on: updates do not replace the code in them";
    let manifest = "{\"scripts\": {\"release\": \"ns build android --env.snapshot\"}}";
    let config = format!("export default {{\n  {}\n}};\n", nativescript::HOOK);
    let fixture = Fixture::new(&[
        ("app/app.ts", CALL),
        ("package.json", manifest),
        ("nativescript.config.ts", &config),
    ]);
    assert_eq!(fixture.in_code(Framework::NativeScript), problem(message));
    assert!(fixture.in_code(Framework::ReactNative).is_empty(), "others have none");
    fixture.file("package.json", "{}");
    assert!(fixture.in_code(Framework::NativeScript).is_empty());
}

#[test]
fn an_address_left_in_capacitors_configuration_is_a_problem() {
    let message =
        "capacitor.config.json has server.url, so that the app loads http://10.0.0.2:8100 and never an update";
    let config = "{\"server\": {\"url\": \"http://10.0.0.2:8100\"}}";
    let fixture = Fixture::new(&[("src/main.ts", CALL), ("capacitor.config.json", config)]);
    assert_eq!(fixture.in_code(Framework::Capacitor), problem(message));
    fixture.file("capacitor.config.json", "{}");
    assert!(fixture.in_code(Framework::Capacitor).is_empty());
}

#[test]
fn a_preference_that_switches_the_sdk_off_is_a_problem() {
    let path = "android/app/src/main/res/xml/config.xml";
    let message = format!("{path} has the preference DisableDeploy, which switches the SDK off");
    let config = "<widget><preference name='DisableDeploy' value='true'/></widget>";
    let fixture = Fixture::new(&[("src/main.ts", CALL), (path, config)]);
    assert_eq!(fixture.in_code(Framework::Capacitor), problem(&message));
}

/// A Capacitor app for Android that contains the SDK.
fn android() -> Fixture {
    Fixture::new(&[
        (
            "package.json",
            "{\"dependencies\": {\"@launchway/capacitor\": \"0.1.0\"}}",
        ),
        ("capacitor.config.json", "{}"),
        ("android/settings.gradle", ""),
        ("android/app/src/main/AndroidManifest.xml", "<manifest/>"),
    ])
}

#[test]
fn embedded_settings_that_are_out_of_date_are_a_warning() {
    let settings = "[server]\nurl = 'https://a.example'\n[build.production]\nconfiguration = 'production'\n\
                    [build.staging]\nconfiguration = 'staging'\n";
    let path = "android/app/src/main/assets/launchway.json";
    let fixture = android();
    assert!(fixture.in_native_projects(settings).is_empty(), "a build embeds them");
    for configuration in ["production", "staging"] {
        let text = format!("{{\"serverUrl\":\"https://a.example/api\",\"configuration\":\"{configuration}\"}}\n");
        fixture.file(path, &text);
        assert!(fixture.in_native_projects(settings).is_empty(), "{configuration}");
    }
    fixture.file(
        path,
        "{\"serverUrl\":\"https://b.example/api\",\"configuration\":\"production\"}\n",
    );
    let message = format!("{path} has other settings of the SDK than launchway.toml");
    assert_eq!(fixture.in_native_projects(settings), warning(&message));
}

#[test]
fn an_app_without_the_root_of_its_project_is_a_warning() {
    let settings = "[server]\nurl = 'https://a.example'\n";
    let path = "android/app/src/main/assets/launchway.trust.json";
    let fixture = android();
    fixture.file("launchway.trust.json", "{}");
    let message = format!("no root of signed updates in {path}, so that the app would take unsigned updates");
    assert_eq!(fixture.in_native_projects(settings), warning(&message));
    fixture.file(path, "{}");
    assert!(fixture.in_native_projects(settings).is_empty());
}

#[test]
fn the_address_is_that_of_the_server_and_encrypted() {
    let rows = [
        ("https://a.example", None, None),
        (
            "http://a.example",
            None,
            Some((
                Status::Problem,
                "apps ask http://a.example/api, which is not encrypted: phones refuse that",
            )),
        ),
        (
            "http://127.0.0.1:8787",
            None,
            Some((
                Status::Warning,
                "apps ask http://127.0.0.1:8787/api, which only this machine reaches",
            )),
        ),
        (
            "https://a.example",
            Some("https://b.example"),
            Some((
                Status::Warning,
                "apps ask https://b.example/api ([sdk]), but updates are published on https://a.example/api ([server])",
            )),
        ),
        ("https://a.example", Some("https://a.example/api"), None),
    ];
    for (of_server, of_sdk, expected) in rows {
        let sdk = of_sdk.map_or(String::new(), |url| format!("[sdk]\nserver_url = '{url}'\n"));
        let project = file::parse(&format!("[server]\nurl = '{of_server}'\n{sdk}")).expect("valid");
        let url = server_url(&project).expect("an address");
        let base = BaseUrl::from_str(&url).expect("an address");
        let expected: Vec<_> = expected
            .map(|(status, text)| (status, text.to_owned()))
            .into_iter()
            .collect();
        assert_eq!(shown(address(&url, &base, &project)), expected);
    }
}

#[test]
fn a_package_that_is_newer_than_the_server_is_a_warning() {
    let fixture = android();
    let found = |server: &str| package_version(fixture.app(Framework::Capacitor), server);
    assert!(found("0.1.0").is_none(), "it is not installed");
    let manifest = "{\"name\": \"@launchway/capacitor\", \"version\": \"0.2.0\"}";
    fixture.file("node_modules/@launchway/capacitor/package.json", manifest);
    let message = "@launchway/capacitor 0.2.0 is newer than the server, which is 0.1.9";
    assert_eq!(shown(found("0.1.9").into_iter().collect()), warning(message));
    for server in ["0.2.0", "1.0.0", "odd"] {
        assert!(found(server).is_none(), "{server}");
    }
}

#[test]
fn an_app_is_known_by_its_identifiers() {
    let fixture = Fixture::new(&[("capacitor.config.json", "{\"appId\": \"com.example.app\"}")]);
    let app = fixture.app(Framework::Capacitor);
    let ids = |text: &str| bundle_ids(app, &file::parse(text).expect("valid"));
    assert_eq!(ids(""), ["com.example.app"]);
    assert_eq!(
        ids("[app.ios]\nbundle_id = 'com.example.App'\n"),
        ["com.example.app", "com.example.App"]
    );
    let nothing = AppFolder {
        root: Path::new("/nowhere"),
        ..app
    };
    assert!(bundle_ids(nothing, &Project::default()).is_empty());
}
