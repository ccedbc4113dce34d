//! One project of each framework, and projects without plain values.

mod ids;

use std::fs;

use super::*;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("it lies in the directory")).expect("space");
        fs::write(path, text).expect("space");
    }
    directory
}

/// Reads a project and formats each value with its place.
fn shown(files: &[(&str, &str)], platform: Platform) -> [String; 3] {
    let native = read(project(files).path(), platform, &Variant::default());
    [native.bundle_id, native.version, native.build_number]
        .map(|found| found.map_or("-".to_owned(), |found| format!("{} in {}", found.value, found.place)))
}

const GRADLE: &str = "android {\n  defaultConfig {\n    applicationId \"com.example.gradle\"\n    versionCode 7\n    \
                      versionName \"1.4.0\"\n  }\n}\n";
const XCODE: &str = "MARKETING_VERSION = 2.1;\nCURRENT_PROJECT_VERSION = 9;\n\
                     PRODUCT_BUNDLE_IDENTIFIER = com.example.app;\nPRODUCT_BUNDLE_IDENTIFIER = com.example.app.widget;\n";
const PLIST: &str = "<key>CFBundleShortVersionString</key>\n<string>$(MARKETING_VERSION)</string>\n\
                     <key>CFBundleVersion</key><string>12</string>";

#[test]
fn capacitor() {
    let files = [
        ("capacitor.config.json", r#"{"appId": "com.example.web"}"#),
        ("package.json", r#"{"version": "0.9.0"}"#),
        ("android/app/build.gradle", GRADLE),
        ("ios/App/App.xcodeproj/project.pbxproj", XCODE),
        ("ios/App/App/Info.plist", PLIST),
    ];
    let gradle = "android/app/build.gradle";
    let expected = [
        format!("com.example.gradle in {gradle}"),
        format!("1.4.0 in {gradle}"),
        format!("7 in {gradle}"),
    ];
    assert_eq!(shown(&files, Platform::Android), expected);
    let xcode = "ios/App/App.xcodeproj/project.pbxproj";
    let plist = "ios/App/App/Info.plist";
    let expected = [
        format!("com.example.app in {xcode}"),
        format!("2.1 in {xcode}"),
        format!("12 in {plist}"),
    ];
    assert_eq!(shown(&files, Platform::Ios), expected);
}

#[test]
fn of_several_configurations_only_the_one_that_is_used_counts() {
    let json = ("capacitor.config.json", r#"{"appId": "com.example.old"}"#);
    let rows = [
        (
            "const config = { appId: 'com.example.web' };",
            "com.example.web in capacitor.config.ts",
        ),
        ("const config = { appId: id() };", "-"),
    ];
    for (script, expected) in rows {
        let [id, ..] = shown(&[("capacitor.config.ts", script), json], Platform::Android);
        assert_eq!(id, expected);
    }
}

#[test]
fn a_web_app_alone() {
    let files = [
        ("capacitor.config.ts", "const config = { appId: 'com.example.web' };"),
        ("package.json", r#"{"version": "0.9.0"}"#),
    ];
    for platform in Platform::ALL {
        let [id, version, build] = shown(&files, platform);
        assert_eq!(id, "com.example.web in capacitor.config.ts");
        assert_eq!((version.as_str(), build.as_str()), ("0.9.0 in package.json", "-"));
    }
}

#[test]
fn nativescript() {
    let manifest = "App_Resources/Android/src/main/AndroidManifest.xml";
    let plist = "App_Resources/visionOS/Info.plist";
    let files = [
        (
            "nativescript.config.ts",
            "export default {\n  id: 'com.example.native',\n  appPath: 'app',\n}",
        ),
        (
            manifest,
            "<manifest android:versionCode=\"3\"\n android:versionName=\"1.1\">",
        ),
        (plist, "<key>CFBundleShortVersionString</key><string>1.2.3</string>"),
    ];
    let id = "com.example.native in nativescript.config.ts".to_owned();
    let expected = [id.clone(), format!("1.1 in {manifest}"), format!("3 in {manifest}")];
    assert_eq!(shown(&files, Platform::Android), expected);
    assert_eq!(
        shown(&files, Platform::Visionos),
        [id, format!("1.2.3 in {plist}"), "-".to_owned()]
    );
}

#[test]
fn react_native_and_expo() {
    let files = [
        (
            "android/app/build.gradle.kts",
            "applicationId = \"com.example.rn\"\nversionCode = 5\nversionName = \"3.0\"",
        ),
        ("ios/Sample.xcodeproj/project.pbxproj", XCODE),
        ("ios/Pods.xcodeproj/project.pbxproj", "MARKETING_VERSION = 9;"),
        ("ios/Sample/Info.plist", PLIST),
    ];
    assert_eq!(
        shown(&files, Platform::Android)[1],
        "3.0 in android/app/build.gradle.kts"
    );
    assert_eq!(
        shown(&files, Platform::Ios)[1],
        "2.1 in ios/Sample.xcodeproj/project.pbxproj"
    );
    let expo = r#"{"expo": {"version": "1.0.0", "android": {"package": "com.example.a", "versionCode": 4},
        "ios": {"bundleIdentifier": "com.example.i", "buildNumber": "6"}}}"#;
    let place = |value: &str| format!("{value} in app.json");
    assert_eq!(
        shown(&[("app.json", expo)], Platform::Android),
        ["com.example.a", "1.0.0", "4"].map(place)
    );
    assert_eq!(
        shown(&[("app.json", expo)], Platform::Ios),
        ["com.example.i", "1.0.0", "6"].map(place)
    );
}

#[test]
fn what_is_not_plain_is_not_guessed() {
    let files = [
        (
            "android/app/build.gradle",
            "applicationId project.id\nversionCode computed()\nversionName \"${v}\"",
        ),
        (
            "ios/App/App.xcodeproj/project.pbxproj",
            "MARKETING_VERSION = 1.0;\nMARKETING_VERSION = 2.0;",
        ),
        ("package.json", "{not json"),
        ("app.json", r#"{"name": "Sample"}"#),
    ];
    for platform in Platform::ALL {
        assert_eq!(shown(&files, platform), ["-", "-", "-"], "{platform}");
    }
    assert_eq!(shown(&[], Platform::Ios), ["-", "-", "-"]);
}
