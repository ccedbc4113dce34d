//! Where the settings of the SDK are written, and that they leave the fingerprint as it is.

use super::embed::{Embedded, embed_settings, embedded_settings};
use super::*;
use crate::sdk::settings::SdkSettings;

fn settings(server: &str) -> SdkSettings {
    SdkSettings {
        server_url: server.to_owned(),
        bundle_id: Some("com.example.app".to_owned()),
        configuration: Some("production".to_owned()),
        check_on: None,
        apply: None,
        ready_mode: None,
        ready_timeout_ms: None,
        wifi_only: Some(true),
        keep_slots: None,
        entry_file: None,
    }
}

#[test]
fn each_framework_has_its_place_for_the_settings() {
    let rows: [(Make, Platform, &str); 6] = [
        (
            capacitor,
            Platform::Android,
            "android/app/src/main/assets/launchway.json",
        ),
        (capacitor, Platform::Ios, "ios/App/App/Info.plist"),
        (
            nativescript,
            Platform::Android,
            "App_Resources/Android/src/main/assets/launchway.json",
        ),
        (nativescript, Platform::Ios, "App_Resources/iOS/Info.plist"),
        (
            react_native,
            Platform::Android,
            "android/app/src/main/assets/launchway.json",
        ),
        (react_native, Platform::Ios, "ios/App/Info.plist"),
    ];
    let (first, second) = (settings("https://a.example/api"), settings("https://b.example/api"));
    for (make, platform, path) in rows {
        let project = make();
        let framework = framework(&project.root(), platform).unwrap();
        let write = |settings: &SdkSettings| embed_settings(&project.root(), framework, platform, settings).unwrap();
        let read = || embedded_settings(&project.root(), framework, platform).unwrap();
        let outcome = |changed| {
            vec![Embedded {
                path: path.to_owned(),
                changed,
            }]
        };
        let before = project.document(platform);
        assert!(read().is_empty(), "{path}");
        assert_eq!(write(&first), outcome(true));
        assert_eq!(write(&first), outcome(false), "{path}");
        assert_eq!(write(&second), outcome(true));
        let found = read();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].0.as_str(), found[0].1.trim_end()),
            (path, second.to_json().trim_end())
        );
        assert_eq!(project.document(platform), before, "{path} is outside the fingerprint");
    }
}

#[test]
fn the_settings_leave_the_root_and_the_fingerprint_alone() {
    let project = capacitor();
    let (root, ios) = (project.root(), Platform::Ios);
    let hash = project.document(ios).hash();
    let list = || fs::read_to_string(root.join("ios/App/App/Info.plist")).unwrap();
    embed::embed(&root, Framework::Capacitor, ios, &hash).unwrap();
    embed::embed_trust(&root, Framework::Capacitor, ios, &trusting::app_trust(1)).unwrap();
    let before = list();
    embed_settings(&root, Framework::Capacitor, ios, &settings("https://a.example/api")).unwrap();
    let with = list();
    let rest: String = with
        .split_inclusive('\n')
        .filter(|line| !line.contains("LaunchwaySettings") && !line.contains("serverUrl"))
        .collect();
    assert_eq!(rest, before);
    assert_eq!(project.document(ios).hash(), hash);
}
