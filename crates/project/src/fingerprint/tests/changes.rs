//! Which changes affect a document, for that reason alone, and which do not.

use super::*;

const ANDROID: Platform = Platform::Android;
const IOS: Platform = Platform::Ios;

/// Writes a patch to where a tool keeps it.
type Patching<'a> = Box<dyn Fn(&Project) + 'a>;

/// Each framework's project, on both platforms.
fn projects() -> impl Iterator<Item = (Make, Platform)> {
    let makers: [Make; 5] = [capacitor, nativescript, react_native, expo, flutter];
    makers.into_iter().flat_map(|make| [(make, ANDROID), (make, IOS)])
}

/// All files of a project outside packages, to change all of them.
fn each_file(folder: &Path, change: &dyn Fn(&Path)) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("readable").path();
        match path.is_dir() {
            true if path.ends_with("node_modules") => {}
            true => each_file(&path, change),
            false => change(&path),
        }
    }
}

#[test]
fn nothing_of_a_machine_or_a_release_counts() {
    let rows: &[(&str, Edit)] = &[
        ("line ends", |project| {
            each_file(&project.root(), &|path| {
                if let Ok(text) = fs::read_to_string(path).map(|text| text.replace('\n', "\r\n")) {
                    fs::write(path, text).unwrap();
                }
            });
        }),
        ("times", |project| {
            each_file(&project.root(), &|path| {
                let file = fs::File::options().write(true).open(path).unwrap();
                file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1))
                    .unwrap();
            });
        }),
        #[cfg(unix)]
        ("modes", |project| {
            use std::os::unix::fs::PermissionsExt;
            each_file(&project.root(), &|path| {
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            });
        }),
        ("another folder", |project| {
            let copy = project.folder.path().join("copy");
            fs::rename(project.root(), &copy).unwrap();
            fs::create_dir(project.folder.path().join("deeper")).unwrap();
            fs::rename(&copy, project.folder.path().join("deeper/x")).unwrap();
            fs::rename(project.folder.path().join("deeper/x"), project.root()).unwrap();
        }),
        ("versions and build numbers", |project| {
            each_file(&project.root(), &|path| {
                let Ok(text) = fs::read_to_string(path) else { return };
                let text = text
                    .replace("versionCode 1", "versionCode 2")
                    .replace("versionName \"1.0\"", "versionName \"1.1\"")
                    .replace("android:versionCode=\"1\"", "android:versionCode=\"2\"")
                    .replace("<string>1", "<string>2")
                    .replace("MARKETING_VERSION = 1.0", "MARKETING_VERSION = 1.0.1")
                    .replace("CURRENT_PROJECT_VERSION = 1;", "CURRENT_PROJECT_VERSION = 12;")
                    .replace("\"version\": \"1.0.0\"", "\"version\": \"1.2.0\"")
                    .replace("\"versionCode\": 1", "\"versionCode\": 3")
                    .replace("\"buildNumber\": \"1\"", "\"buildNumber\": \"3\"")
                    .replace("version: 1.0.0+1", "version: 1.1.0+2");
                fs::write(path, text).unwrap();
            });
        }),
        ("what builds and tools leave", |project| {
            for folder in [
                "android",
                "ios",
                "ios/App",
                "App_Resources/Android",
                "App_Resources/iOS",
            ] {
                if !project.root().join(folder).is_dir() {
                    continue;
                }
                for file in [
                    ".DS_Store",
                    "Thumbs.db",
                    "build/out.apk",
                    "app/build/out.apk",
                    ".gradle/x",
                    ".cxx/x",
                    "Pods/Pod.m",
                    "DerivedData/x",
                    "App.xcodeproj/xcuserdata/me.plist",
                    "local.properties",
                    "upload.jks",
                    "node_modules/a/b.m",
                    "Main.java.swp",
                ] {
                    project.write(&format!("{folder}/{file}"), "made anew");
                }
            }
        }),
        ("the app's own scripts", |project| {
            project.write("src/app.ts", "console.log(2)\n");
            project.write("App.tsx", "export {}\n");
            project.write("lib/main.dart", "void main() {}\n");
            project.write("README.md", "# App\n");
            project.write("www/index.html", "<p>\n");
        }),
        ("a package without native code", |project| {
            project.install("lodash", "4.17.0", "", &[]);
            project.install("jest", "2.0.0", "", &[]);
        }),
        ("what embed writes", |project| {
            for platform in [ANDROID, IOS] {
                let framework = framework(&project.root(), platform).unwrap();
                let hash = launchway_domain::fingerprint::Fingerprint::parse("abc").unwrap();
                let embedded = embed::embed(&project.root(), framework, platform, &hash);
                assert!(embedded.is_ok() || framework == Framework::Expo, "{embedded:?}");
                let trusted = embed::embed_trust(&project.root(), framework, platform, &trusting::app_trust(1));
                assert!(trusted.is_ok() || framework == Framework::Expo, "{trusted:?}");
            }
        }),
    ];
    for (make, platform) in projects() {
        let project = make();
        for (what, change) in rows {
            assert_eq!(project.changes(platform, change), [""; 0], "{what} of {platform}");
        }
    }
}

#[test]
fn each_change_is_named_alone() {
    let rows: &[(Make, Platform, Edit, &str)] = &[
        (
            capacitor,
            ANDROID,
            |project| project.replace("node_modules/@capacitor/camera/package.json", "8.2.0", "8.3.0"),
            "Native plugin version changed: @capacitor/camera 8.2.0 -> 8.3.0",
        ),
        (
            capacitor,
            ANDROID,
            |project| project.replace("node_modules/@capacitor/android/package.json", "8.0.0", "8.1.0"),
            "Native plugin version changed: @capacitor/android 8.0.0 -> 8.1.0",
        ),
        (
            capacitor,
            ANDROID,
            |project| {
                project.write(
                    "android/app/src/main/res/values/strings.xml",
                    "<resources> </resources>",
                )
            },
            "App resources changed",
        ),
        (
            capacitor,
            IOS,
            |project| project.write("ios/App/App/Assets.xcassets/icon.png", "png"),
            "App resources changed",
        ),
        (
            capacitor,
            ANDROID,
            |project| {
                project.write(
                    "android/app/src/main/java/com/example/build/Main.java",
                    "class Main { }",
                )
            },
            "Native source changed",
        ),
        (
            capacitor,
            IOS,
            |project| project.replace("ios/App/App.xcodeproj/project.pbxproj", "5.0", "6.0"),
            "Native source changed",
        ),
        (
            nativescript,
            ANDROID,
            |project| project.replace("node_modules/helper/node_modules/camera/package.json", "5.1.0", "5.2.0"),
            "Native plugin version changed: camera 5.1.0 -> 5.2.0",
        ),
        (
            nativescript,
            IOS,
            |project| project.write("src/native/a/Sum.swift", "func sum() -> Int { 1 }\n"),
            "Native source changed",
        ),
        (
            nativescript,
            IOS,
            |project| project.write("App_Resources/iOS/Extra.plist", "<plist/>"),
            "App resources changed",
        ),
        (
            react_native,
            IOS,
            |project| project.replace("node_modules/react-native/package.json", "0.85.1", "0.85.2"),
            "Native plugin version changed: react-native 0.85.1 -> 0.85.2",
        ),
        (
            expo,
            IOS,
            |project| project.replace("node_modules/expo-asset/package.json", "12.0.1", "12.1.0"),
            "Native plugin version changed: expo-asset 12.0.1 -> 12.1.0",
        ),
        (
            expo,
            IOS,
            |project| project.write("assets/icon.png", b"\x89PNG\0\0"),
            "App resources changed",
        ),
        (
            expo,
            IOS,
            |project| project.write("plugins/with.js", "module.exports = 2\n"),
            "Native source changed",
        ),
        (
            expo,
            ANDROID,
            |project| project.replace("app.json", "\"permissions\": []", "\"permissions\": [\"CAMERA\"]"),
            "Native source changed",
        ),
        (
            flutter,
            IOS,
            |project| project.replace(".flutter-plugins-dependencies", "3.40.0", "3.41.0"),
            "Native plugin version changed: flutter 3.40.0 -> 3.41.0",
        ),
    ];
    for (make, platform, change, expected) in rows {
        assert_eq!(make().changes(*platform, change), [*expected], "{platform}");
    }
}

#[test]
fn what_only_the_other_platform_takes_does_not_count() {
    let permission: Edit =
        |project| project.replace("app.json", "\"permissions\": []", "\"permissions\": [\"CAMERA\"]");
    assert_eq!(expo().changes(IOS, permission), [""; 0]);
    let order: Edit = |project| {
        let text = fs::read_to_string(project.root().join("app.json")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        project.write("app.json", serde_json::to_string_pretty(&value).unwrap());
    };
    assert_eq!(expo().changes(ANDROID, order), [""; 0], "order and spaces");
    let java: Edit = |project| project.write("android/app/src/main/java/A.java", "class A {}");
    assert_eq!(capacitor().changes(IOS, java), [""; 0]);
}

/// An app may contain a certificate that it pins: an update for one certificate does not fit another.
#[test]
fn bundled_certificates_count_by_both_algorithms() {
    for (platform, path) in [
        (ANDROID, "android/app/src/main/res/raw/pinned.cer"),
        (ANDROID, "android/app/src/main/assets/pinned.cer"),
        (ANDROID, "android/app/pinned.cer"),
        (IOS, "ios/App/pinned.cer"),
        (IOS, "ios/App/Certificates/PINNED.CER"),
    ] {
        let project = react_native();
        let with = |content: &str| {
            project.write(path, content);
            let framework = framework(&project.root(), platform).unwrap();
            documents(&project.root(), framework, platform, &project.rules).unwrap()
        };
        let (one, other) = (with("one"), with("other"));
        assert_ne!(one.first, other.first, "{path}");
        assert_ne!(one.second, other.second, "{path}");
    }
}

#[test]
fn patches_of_native_code_are_in_the_version() {
    let patch = |file: &str| format!("--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-a\n+b\n");
    let native = patch("node_modules/@capacitor/camera/android/A.java");
    let rows: [(&str, Patching<'_>); 4] = [
        (
            "patch-package",
            Box::new(|project| project.write("patches/@capacitor+camera+8.2.0.patch", &native)),
        ),
        (
            "pnpm",
            Box::new(|project| {
                project.write("patches/camera.patch", &native);
                let list = r#""pnpm": {"patchedDependencies": {"@capacitor/camera@8.2.0": "patches/camera.patch"}}, "#;
                project.replace("package.json", r#"{"name""#, &format!("{{{list}\"name\""));
            }),
        ),
        (
            "pnpm-workspace.yaml",
            Box::new(|project| {
                project.write("patches/camera.patch", &native);
                let list = "patchedDependencies:\n  '@capacitor/camera@8.2.0': patches/camera.patch\n";
                project.write("pnpm-workspace.yaml", list);
            }),
        ),
        (
            "Yarn",
            Box::new(|project| {
                project.write(".yarn/patches/camera.patch", &native);
                let list = r##""resolutions": {"@capacitor/camera@^8.0.0": "patch:@capacitor/camera@npm%3A8.2.0#~/.yarn/patches/camera.patch"}, "##;
                project.replace("package.json", r#"{"name""#, &format!("{{{list}\"name\""));
            }),
        ),
    ];
    let mut sentences = Vec::new();
    for (what, change) in rows {
        let changes = capacitor().changes(ANDROID, |project| change(project));
        assert_eq!(changes.len(), 1, "{what}: {changes:?}");
        assert!(
            changes[0].contains("@capacitor/camera 8.2.0 -> 8.2.0+patch."),
            "{what}: {changes:?}"
        );
        sentences.extend(changes);
    }
    sentences.dedup();
    assert_eq!(sentences.len(), 1, "the same patch counts the same: {sentences:?}");
    let script = patch("node_modules/@capacitor/camera/dist/index.js");
    let changes = capacitor().changes(ANDROID, |project| {
        project.write("patches/@capacitor+camera+8.2.0.patch", script)
    });
    assert_eq!(changes, [""; 0], "an update brings scripts");
}

#[cfg(unix)]
#[test]
fn local_packages_count_by_what_is_native_in_them() {
    let project = capacitor();
    project.replace(
        "package.json",
        r#""lodash": "4""#,
        r#""lodash": "4", "own": "file:own""#,
    );
    project.write(
        "own/package.json",
        r#"{"name": "own", "version": "0.1.0", "capacitor": {"android": {}}}"#,
    );
    project.write("own/android/Own.java", "class Own {}");
    project.write("own/src/index.ts", "export {}");
    std::os::unix::fs::symlink("../own", project.root().join("node_modules/own")).unwrap();
    let plugins = project.plugins(ANDROID);
    let own = plugins
        .iter()
        .find(|plugin| plugin.starts_with("own "))
        .expect("it is a plugin");
    assert!(
        own.starts_with("own 0.1.0+src.") && own.len() == "own 0.1.0+src.".len() + 12,
        "{own}"
    );
    let script = |project: &Project| project.write("own/src/index.ts", "export const a = 1");
    assert_eq!(project.changes(ANDROID, script), [""; 0]);
    let native = |project: &Project| project.write("own/android/Own.java", "class Own { }");
    let changes = project.changes(ANDROID, native);
    assert!(
        changes.len() == 1 && changes[0].starts_with("Native plugin version changed: own 0.1.0+src."),
        "{changes:?}"
    );
}

#[cfg(unix)]
#[test]
fn the_layout_of_pnpm_comes_to_the_same() {
    let project = capacitor();
    let before = project.document(ANDROID);
    let modules = project.root().join("node_modules");
    for name in ["@capacitor/camera", "@capacitor/core", "lodash"] {
        let store = modules.join(format!(".pnpm/{}@1.0.0/node_modules/{name}", name.replace('/', "+")));
        fs::create_dir_all(store.parent().unwrap()).unwrap();
        fs::rename(modules.join(name), &store).unwrap();
        std::os::unix::fs::symlink(&store, modules.join(name)).unwrap();
    }
    assert_eq!(project.document(ANDROID), before);
}

#[test]
fn the_lockfile_of_a_workspace_counts_like_the_apps_own() {
    let project = capacitor();
    let before = project.document(ANDROID);
    let top = project.folder.path();
    fs::rename(project.root().join("node_modules"), top.join("node_modules")).unwrap();
    fs::write(top.join("package.json"), r#"{"workspaces": ["project"]}"#).unwrap();
    let lock = |version: &str| {
        let text = format!(r#"{{"packages": {{"node_modules/@capacitor/camera": {{"version": "{version}"}}}}}}"#);
        fs::write(top.join("package-lock.json"), text).unwrap();
    };
    lock("8.2.0");
    assert_eq!(project.document(ANDROID), before);
    lock("8.3.0");
    assert_eq!(
        project.problem(ANDROID),
        "@capacitor/camera 8.2.0 is installed, but package-lock.json says 8.3.0; run `npm ci` first"
    );
    fs::remove_file(top.join("package-lock.json")).unwrap();
    fs::write(top.join("package.json"), "{}").unwrap();
    fs::write(top.join("pnpm-workspace.yaml"), "packages:\n  - project\n").unwrap();
    fs::write(top.join("pnpm-lock.yaml"), "a\n<<<<<<< HEAD\n").unwrap();
    assert_eq!(
        project.problem(ANDROID),
        "pnpm-lock.yaml is broken: unresolved merge conflict at line 2"
    );
    fs::remove_file(top.join("pnpm-lock.yaml")).unwrap();
    fs::remove_dir_all(top.join("node_modules")).unwrap();
    assert_eq!(
        project.problem(ANDROID),
        "node_modules is not installed; run `pnpm install` first"
    );
}

#[test]
fn packages_of_a_workspace_are_found_above() {
    let project = capacitor();
    let before = project.document(ANDROID);
    let root = project.root();
    let top = project.folder.path();
    fs::rename(root.join("node_modules"), top.join("node_modules")).unwrap();
    fs::write(top.join("package.json"), r#"{"workspaces": ["project"]}"#).unwrap();
    assert_eq!(project.document(ANDROID), before);
    fs::create_dir(top.join("patches")).unwrap();
    fs::write(
        top.join("patches/@capacitor+camera+8.2.0.patch"),
        "+++ b/android/A.java\n",
    )
    .unwrap();
    assert_ne!(project.document(ANDROID), before, "the workspace patches");
}
