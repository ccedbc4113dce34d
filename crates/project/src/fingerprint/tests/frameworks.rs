//! The content of each framework's documents.

use super::*;

const ANDROID: Platform = Platform::Android;
const IOS: Platform = Platform::Ios;

fn platforms(project: &Project) -> Result<Vec<Platform>, CollectError> {
    let mut found = Vec::new();
    for platform in Platform::ALL {
        if has_project(&project.root(), platform)? {
            found.push(platform);
        }
    }
    Ok(found)
}

#[test]
fn capacitor_has_plugins_of_the_platform_and_the_runtime() {
    let project = capacitor();
    assert_eq!(
        project.plugins(ANDROID),
        [
            "@capacitor/android 8.0.0",
            "@capacitor/camera 8.2.0",
            "@capacitor/core 8.0.0",
            "cordova-plugin-x 1.1.0"
        ]
    );
    assert_eq!(
        project.plugins(IOS),
        [
            "@capacitor/camera 8.2.0",
            "@capacitor/core 8.0.0",
            "@capacitor/ios 8.0.0",
            "only-ios 1.0.0"
        ]
    );
    assert_eq!(project.document(IOS).framework().as_str(), "capacitor");
    assert_eq!(
        project.problem(Platform::Visionos),
        "Capacitor apps do not run on visionos"
    );
}

#[test]
fn nativescript_looks_into_what_packages_ask_for() {
    let project = nativescript();
    assert_eq!(
        project.plugins(ANDROID),
        [
            "@nativescript/android 9.0.2",
            "@nativescript/core 9.0.1",
            "camera 5.1.0"
        ]
    );
    assert_eq!(
        project.plugins(IOS),
        ["@nativescript/core 9.0.1", "@nativescript/ios 9.0.3", "camera 5.1.0"]
    );
    assert_eq!(
        project.problem(Platform::Visionos),
        "@nativescript/visionos is not installed; run `ns platform add visionos` first"
    );
    let no_files = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(project.document(ANDROID).native(), no_files, "NativeSource is for ios");
    assert_ne!(project.document(IOS).native(), no_files);
}

#[test]
fn react_native_links_what_its_tool_links() {
    let project = react_native();
    assert_eq!(
        project.plugins(ANDROID),
        ["android-only 1.3.0", "both 1.2.0", "off 1.4.0", "react-native 0.85.1"]
    );
    assert_eq!(project.plugins(IOS), ["both 1.2.0", "react-native 0.85.1"]);
}

#[test]
fn expo_needs_no_native_projects() {
    let project = expo();
    for platform in [ANDROID, IOS] {
        assert_eq!(
            project.plugins(platform),
            ["expo 54.0.1", "expo-asset 12.0.1", "react-native 0.81.2"]
        );
    }
    assert_eq!(platforms(&project), Ok(vec![IOS, ANDROID]));
}

#[test]
fn what_expo_generated_counts_only_if_the_project_keeps_it() {
    let project = expo();
    let before = project.document(ANDROID);
    project.write("android/settings.gradle", "include ':app'");
    let place = AppLocation::default();
    let rules = without_native_project(&Fingerprint::default(), ANDROID);
    let (framework, Documents { first: document, .. }) =
        app_documents(&project.root(), &place, ANDROID, &rules).unwrap();
    assert_eq!((framework, &document), (Framework::Expo, &before));
    assert_ne!(project.document(ANDROID), before);
}

#[test]
fn an_app_may_stand_in_a_directory_and_be_named() {
    let project = Project::new(&[
        ("apps/phone/app.json", "{}"),
        ("apps/phone/android/settings.gradle", ""),
        ("apps/phone/android/app/build.gradle", GRADLE),
        ("other", ""),
    ]);
    let place = AppLocation {
        directory: "apps/phone".to_owned(),
        framework: Some(Framework::Gradle),
    };
    let rules = Fingerprint::default();
    let (framework, Documents { first: document, .. }) =
        app_documents(&project.root(), &place, ANDROID, &rules).unwrap();
    assert_eq!(
        (framework, document.framework().as_str()),
        (Framework::Gradle, "native")
    );
    let nowhere = app_documents(&project.root(), &AppLocation::default(), ANDROID, &rules);
    assert!(matches!(nowhere, Err(CollectError::NoApp(_))), "{nowhere:?}");
}

#[test]
fn flutter_reads_what_its_tool_resolved() {
    let project = flutter();
    let plugins = project.plugins(ANDROID);
    assert_eq!(plugins.len(), 3, "{plugins:?}");
    assert_eq!(
        (plugins[0].as_str(), plugins[1].as_str()),
        ("camera_android 0.11.0", "flutter 3.40.0")
    );
    assert!(plugins[2].starts_with("own 1.0.0+src."), "{plugins:?}");
    assert_eq!(project.plugins(IOS), ["flutter 3.40.0"]);
}

#[test]
fn plain_native_projects_have_no_plugins() {
    let project = Project::new(&[("settings.gradle", "include ':app'"), ("app/build.gradle", GRADLE)]);
    let document = project.document(ANDROID);
    assert_eq!((document.framework().as_str(), document.plugins().len()), ("native", 0));
    assert_eq!(platforms(&project), Ok(vec![ANDROID]));
    let bump = |project: &Project| project.replace("app/build.gradle", "versionCode 1", "versionCode 2");
    assert_eq!(project.changes(ANDROID, bump), [""; 0]);
    let minimum = |project: &Project| project.replace("app/build.gradle", "minSdk 24", "minSdk 26");
    assert_eq!(project.changes(ANDROID, minimum), ["Native source changed"]);
}

#[test]
fn what_only_another_platform_needs_may_be_missing() {
    let project = capacitor();
    let before = project.document(ANDROID);
    project.write("node_modules/@capacitor/ios/package.json", r#"{"version": "7.0.0"}"#);
    let lock = r#"{"packages": {"node_modules/@capacitor/ios": {"version": "8.0.0"}}}"#;
    project.write("package-lock.json", lock);
    assert_eq!(project.document(ANDROID), before);
    fs::remove_dir_all(project.root().join("node_modules/@capacitor/ios")).unwrap();
    assert_eq!(project.document(ANDROID), before);
    assert_eq!(
        project.problem(IOS),
        "@capacitor/ios is not installed; run `npm ci` first"
    );
}

#[test]
fn a_member_of_a_dart_workspace_has_its_lockfile_above() {
    let project = flutter();
    let before = project.document(ANDROID);
    let top = project.root().join("..");
    fs::rename(project.root().join("pubspec.lock"), top.join("pubspec.lock")).unwrap();
    assert_eq!(
        project.problem(ANDROID),
        "pubspec.lock is not installed; run `flutter pub get` first"
    );
    project.replace("pubspec.yaml", "name: app\n", "name: app\nresolution: workspace\n");
    assert_eq!(project.document(ANDROID), before);
}

#[test]
fn what_is_missing_is_named_with_what_brings_it() {
    let rows: [(Project, Platform, Edit, &str); 16] = [
        (
            capacitor(),
            ANDROID,
            |project| fs::remove_dir_all(project.root().join("node_modules")).unwrap(),
            "node_modules is not installed; run `npm install` first",
        ),
        (
            capacitor(),
            ANDROID,
            |project| {
                project.write("pnpm-lock.yaml", "lockfileVersion: 9\n");
                fs::remove_dir_all(project.root().join("node_modules/lodash")).unwrap();
            },
            "lodash is not installed; run `pnpm install --frozen-lockfile` first",
        ),
        (
            capacitor(),
            IOS,
            |project| fs::remove_dir_all(project.root().join("ios")).unwrap(),
            "ios does not exist; run `npx cap add ios` first",
        ),
        (
            capacitor(),
            IOS,
            |project| project.write("package.json", "{"),
            "package.json is broken: EOF while parsing an object at line 1 column 1",
        ),
        (
            capacitor(),
            IOS,
            |project| project.write("node_modules/@capacitor/camera/package.json", "[]"),
            "node_modules/@capacitor/camera/package.json is broken: it is not a JSON object",
        ),
        (
            capacitor(),
            IOS,
            |project| project.write("package-lock.json", "{\"packages\": "),
            "package-lock.json is broken: EOF while parsing a value at line 1 column 13",
        ),
        (
            capacitor(),
            IOS,
            |project| project.write("yarn.lock", "a\n<<<<<<< HEAD\n"),
            "yarn.lock is broken: unresolved merge conflict at line 2",
        ),
        (
            capacitor(),
            IOS,
            |project| {
                let lock = r#"{"packages": {"node_modules/@capacitor/camera": {"version": "8.3.0"}}}"#;
                project.write("package-lock.json", lock);
            },
            "@capacitor/camera 8.2.0 is installed, but package-lock.json says 8.3.0; run `npm ci` first",
        ),
        (
            capacitor(),
            IOS,
            |project| project.write("pnpm-workspace.yaml", "patchedDependencies:\n  a: patches/a.patch\n"),
            "patches/a.patch is broken: the project refers to this patch, which does not exist",
        ),
        (
            capacitor(),
            IOS,
            |project| project.write("pnpm-workspace.yaml", "patchedDependencies:\n  a: ../a.patch\n"),
            "../a.patch is broken: this patch is outside the project",
        ),
        (
            flutter(),
            ANDROID,
            |project| fs::remove_file(project.root().join(".flutter-plugins-dependencies")).unwrap(),
            "what pubspec.yaml names is not installed; run `flutter pub get` first",
        ),
        (
            flutter(),
            ANDROID,
            |project| project.write("pubspec.lock", "packages:\n  <<<<<<< HEAD\n"),
            "pubspec.lock is broken: unexpected line: <<<<<<< HEAD",
        ),
        (
            flutter(),
            ANDROID,
            |project| {
                let flutter = "    sdk: flutter\n";
                project.replace("pubspec.yaml", flutter, &format!("{flutter}  geolocator: ^13.0.0\n"));
            },
            "geolocator is not installed; run `flutter pub get` first",
        ),
        (
            flutter(),
            ANDROID,
            |project| {
                let fetched = r#"{"packages": [{"name": "camera_android"}, {"name": "app"}]}"#;
                project.write(".dart_tool/package_config.json", fetched);
            },
            "own is not installed; run `flutter pub get` first",
        ),
        (
            capacitor(),
            ANDROID,
            |project| {
                project.replace("package.json", "\"@capacitor/android\": \"^8.0.0\", ", "");
                project.write("yarn.lock", "");
                fs::remove_dir_all(project.root().join("node_modules/@capacitor/android")).unwrap();
            },
            "@capacitor/android is not installed; run `yarn add @capacitor/android` first",
        ),
        (
            Project::new(&[]),
            ANDROID,
            |_| {},
            "no app for android found here: no configuration of NativeScript, Capacitor, Expo, React Native \
             or Flutter, and no native project",
        ),
    ];
    for (project, platform, change, expected) in rows {
        change(&project);
        assert_eq!(project.problem(platform), expected);
    }
}
