//! `doctor` runs what `fingerprint` and `update` run, so that it finds what would make them fail.

use serde_json::{Value, json};

use crate::stage::Stage;

/// The findings of one check: status, message and fix.
async fn findings(stage: &Stage, check: &str) -> Vec<[String; 3]> {
    let output = stage.command(&["doctor", "--json"]).output().await;
    let output = output.expect("the command starts").stdout;
    let told: Value = serde_json::from_slice(&output).expect("JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let findings = told["findings"].as_array().expect("findings").iter();
    let of_check = findings.filter(|finding| finding["check"] == check);
    of_check
        .map(|finding| ["status", "message", "fix"].map(|field| text(&finding[field])))
        .collect()
}

fn nativescript(stage: &Stage) {
    let core = json!({"name": "@nativescript/core", "version": "9.0.0"});
    stage
        .file(
            "package.json",
            r#"{"version": "1.0.0", "dependencies": {"@nativescript/core": "9"}}"#,
        )
        .file("package-lock.json", "{}")
        .file(
            "nativescript.config.ts",
            "export default { id: 'com.example.app', appPath: 'app' }",
        )
        .file("node_modules/@nativescript/core/package.json", core.to_string())
        .file("App_Resources/Android/src/main/AndroidManifest.xml", "<manifest/>")
        .file("App_Resources/iOS/Info.plist", "<plist/>");
}

#[tokio::test]
async fn nativescript_without_its_runtime_is_a_problem() {
    let stage = Stage::new();
    nativescript(&stage);
    let found = findings(&stage, "fingerprint").await;
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        found[1],
        [
            "problem",
            "no fingerprint on android: @nativescript/android is not installed",
            "run `ns platform add android` first"
        ]
    );
    let runtime = json!({"name": "@nativescript/android", "version": "9.0.0"});
    stage.file("node_modules/@nativescript/android/package.json", runtime.to_string());
    let found = findings(&stage, "fingerprint").await;
    let statuses: Vec<_> = found.iter().map(|[status, ..]| status.as_str()).collect();
    assert_eq!(statuses, ["warning", "ok"], "nobody may build for iOS: {found:?}");
}

#[tokio::test]
async fn a_platform_that_lacks_something_leaves_the_others() {
    let stage = Stage::new();
    nativescript(&stage);
    let runtime = json!({"name": "@nativescript/android", "version": "9.0.0"});
    stage.file("node_modules/@nativescript/android/package.json", runtime.to_string());
    for command in [&["fingerprint"][..], &["fingerprint", "embed"]] {
        let text = stage.run(command).await;
        let warning = "warning: ios: @nativescript/ios is not installed; run `ns platform add ios` first\n";
        assert!(text.contains("\nandroid ") && text.contains(warning), "{text}");
        assert!(text.ends_with("--- exit 0\n"), "{text}");
    }
    let text = stage.run(&["fingerprint", "embed", "ios"]).await;
    assert!(text.ends_with("--- exit 1\n"), "{text}");
}

#[tokio::test]
async fn flutter_plugins_that_were_never_fetched_are_a_problem() {
    let stage = Stage::new();
    let manifest = "name: app\nversion: 1.0.0+1\ndependencies:\n  flutter:\n    sdk: flutter\n";
    stage
        .file("pubspec.yaml", manifest)
        .file(
            "pubspec.lock",
            "packages:\n  camera:\n    source: hosted\n    version: \"0.11.0\"\n",
        )
        .file("android/app/build.gradle", "applicationId \"com.example.app\"\n");
    let found = findings(&stage, "fingerprint").await;
    let never = |what: &str| {
        [[
            "problem".to_owned(),
            format!("no fingerprint on android: {what} is not installed"),
            "run `flutter pub get` first".to_owned(),
        ]]
    };
    assert_eq!(found, never("what pubspec.yaml names"));
    stage.file(".flutter-plugins-dependencies", r#"{"plugins": {"android": []}}"#);
    let found = findings(&stage, "fingerprint").await;
    assert_eq!(found[0][0], "ok", "{found:?}");
    stage.file("pubspec.yaml", format!("{manifest}  geolocator: ^13.0.0\n"));
    assert_eq!(findings(&stage, "fingerprint").await, never("geolocator"));
}

#[tokio::test]
async fn expo_without_an_id_is_a_problem() {
    let stage = Stage::new();
    stage
        .file(
            "package.json",
            r#"{"dependencies": {"expo": "54", "react-native": "0.81"}}"#,
        )
        .file("package-lock.json", "{}")
        .file("app.json", r#"{"expo": {"name": "App", "slug": "app"}}"#)
        .file("node_modules/expo/package.json", "{}")
        .file("node_modules/react-native/package.json", "{}");
    let found = findings(&stage, "app").await;
    assert_eq!(
        found[0][..2],
        ["problem", "no bundle identifier in launchway.toml or a native project"]
    );
    assert!(found[1][1].starts_with("no version of the app on "), "{found:?}");
    let android = r#"{"expo": {"version": "1.0.0", "android": {"package": "com.example.app"}}}"#;
    stage.file("app.json", android);
    let found = findings(&stage, "app").await;
    let statuses: Vec<_> = found.iter().map(|[status, ..]| status.as_str()).collect();
    assert_eq!(statuses, ["ok", "warning"], "there may be no app for iOS: {found:?}");
    stage.file("launchway.toml", "[app]\nbundle_id = 'com.example.app'\n");
    let found = findings(&stage, "app").await;
    let statuses: Vec<_> = found.iter().map(|[status, ..]| status.as_str()).collect();
    assert_eq!(statuses, ["ok"], "{found:?}");
}
