//! Synthetic projects of each framework: the content of their documents, and which changes affect them.

mod changes;
mod embedding;
mod frameworks;
mod hostile;
mod settings;
mod trusting;
mod walking;

use std::fs;
use std::path::Path;

use launchway_domain::fingerprint::{Change, FingerprintDocument, diff};
use tempfile::TempDir;

use super::*;

/// Creates a project.
type Make = fn() -> Project;
/// Changes a project.
type Edit = fn(&Project);

/// A project in a temporary directory.
pub struct Project {
    folder: TempDir,
    rules: Fingerprint,
}

impl Project {
    /// A project with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let project = Self {
            folder: tempfile::tempdir().expect("a temporary directory"),
            rules: Fingerprint::default(),
        };
        // One level down, so that there is something outside the project.
        fs::create_dir(project.folder.path().join("project")).expect("space");
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    /// Writes a file and creates its parent directories.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("it lies in the project")).expect("space");
        fs::write(path, content).expect("space");
    }

    /// Replaces a text in a file, which must contain it.
    pub fn replace(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.root().join(path)).expect("the file is there");
        assert!(text.contains(from), "{path} has {from}: {text}");
        self.write(path, text.replace(from, to));
    }

    /// Installs a package: its `package.json` and other files.
    pub fn install(&self, name: &str, version: &str, more: &str, files: &[(&str, &str)]) {
        let place = format!("node_modules/{name}");
        let manifest = format!(r#"{{"name": "{name}", "version": "{version}"{more}}}"#);
        self.write(&format!("{place}/package.json"), manifest);
        for (path, text) in files {
            self.write(&format!("{place}/{path}"), text);
        }
    }

    pub fn rules(mut self, include: &[&str], exclude: &[&str]) -> Self {
        let owned = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        self.rules = Fingerprint {
            include: owned(include),
            exclude: owned(exclude),
        };
        self
    }

    /// The document, or the error.
    pub fn try_collect(&self, platform: Platform) -> Result<FingerprintDocument, CollectError> {
        let framework = framework(&self.root(), platform)?;
        collect(&self.root(), framework, platform, &self.rules)
    }

    pub fn document(&self, platform: Platform) -> FingerprintDocument {
        self.try_collect(platform)
            .unwrap_or_else(|error| panic!("{platform}: {error}"))
    }

    /// The error message.
    pub fn problem(&self, platform: Platform) -> String {
        self.try_collect(platform).expect_err("something is wrong").to_string()
    }

    /// Names and versions of the plugins.
    pub fn plugins(&self, platform: Platform) -> Vec<String> {
        let document = self.document(platform);
        let plugins = document.plugins().iter();
        plugins.map(|(name, version)| format!("{name} {version}")).collect()
    }

    /// The effect of a change on the document, in sentences.
    pub fn changes(&self, platform: Platform, change: impl FnOnce(&Self)) -> Vec<String> {
        let before = self.document(platform);
        change(self);
        let after = self.document(platform);
        assert_eq!(before.hash() == after.hash(), diff(&before, &after).is_empty());
        diff(&before, &after).iter().map(Change::to_string).collect()
    }
}

const GRADLE: &str =
    "android {\n  defaultConfig {\n    versionCode 1\n    versionName \"1.0\"\n    minSdk 24\n  }\n}\n";
const MANIFEST: &str = "<manifest android:versionCode=\"1\">\n  <application/>\n</manifest>\n";
const PLIST: &str = "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n<dict>\n\t<key>CFBundleVersion</key>\n\t\
                     <string>1</string>\n\t<key>CFBundleShortVersionString</key>\n\t<string>1.0</string>\n</dict>\n</plist>\n";
const XCODE: &str = "MARKETING_VERSION = 1.0;\nCURRENT_PROJECT_VERSION = 1;\nSWIFT_VERSION = 5.0;\n";

/// The native projects that Capacitor, React Native, Expo and Flutter have in common.
fn native_projects(project: &Project, ios: &str) {
    project.write("android/settings.gradle", "include ':app'\n");
    project.write("android/app/build.gradle", GRADLE);
    project.write("android/app/src/main/AndroidManifest.xml", MANIFEST);
    project.write(
        "android/app/src/main/java/com/example/build/Main.java",
        "class Main {}\n",
    );
    project.write("android/app/src/main/res/values/strings.xml", "<resources/>\n");
    project.write("android/app/src/main/res/icon.png", b"\x89PNG\r\n\0icon");
    project.write(&format!("{ios}.xcodeproj/project.pbxproj"), XCODE);
    project.write(&format!("{ios}/Info.plist"), PLIST);
    project.write(&format!("{ios}/AppDelegate.swift"), "class AppDelegate {}\n");
    project.write(&format!("{ios}/Assets.xcassets/Contents.json"), "{}\n");
}

/// Capacitor with two plugins.
pub fn capacitor() -> Project {
    let manifest = r#"{"name": "app", "dependencies": {"@capacitor/core": "^8.0.0", "@capacitor/camera": "^8.0.0",
        "@capacitor/android": "^8.0.0", "@capacitor/ios": "^8.0.0", "cordova-plugin-x": "1", "lodash": "4"},
        "devDependencies": {"@capacitor/cli": "^8.0.0", "only-ios": "1"}}"#;
    let project = Project::new(&[("package.json", manifest), ("capacitor.config.json", "{}")]);
    native_projects(&project, "ios/App/App");
    for name in ["core", "android", "ios", "cli"] {
        project.install(&format!("@capacitor/{name}"), "8.0.0", "", &[]);
    }
    let both = r#", "capacitor": {"ios": {"src": "ios"}, "android": {"src": "android"}}"#;
    project.install("@capacitor/camera", "8.2.0", both, &[]);
    project.install("only-ios", "1.0.0", r#", "capacitor": {"ios": {"src": "ios"}}"#, &[]);
    project.install(
        "cordova-plugin-x",
        "1.1.0",
        r#", "cordova": {"platforms": ["android"]}"#,
        &[],
    );
    project.install("lodash", "4.0.0", "", &[]);
    project
}

/// NativeScript with a plugin that is a dependency of another package.
pub fn nativescript() -> Project {
    let manifest = r#"{"name": "app", "dependencies": {"@nativescript/core": "~9.0.0", "helper": "1"},
        "devDependencies": {"@nativescript/android": "9", "@nativescript/ios": "9"}}"#;
    let config = "export default {\n  id: 'a.b',\n  appPath: 'app',\n  ios: {\n    NativeSource: [{ name: 'S', path: \
                  './src/native/**/*.swift' }],\n  },\n}\n";
    let project = Project::new(&[("package.json", manifest), ("nativescript.config.ts", config)]);
    project.write("App_Resources/Android/app.gradle", GRADLE);
    project.write("App_Resources/Android/src/main/AndroidManifest.xml", MANIFEST);
    project.write("App_Resources/iOS/Info.plist", PLIST);
    project.write("src/native/a/Sum.swift", "func sum() {}\n");
    project.write("src/native/notes.txt", "no code\n");
    let native = [("platforms/android/a.aar", "a"), ("platforms/ios/a.framework", "a")];
    project.install("@nativescript/core", "9.0.1", "", &native);
    project.install("@nativescript/android", "9.0.2", "", &[]);
    project.install("@nativescript/ios", "9.0.3", "", &[]);
    project.install("helper", "1.0.0", r#", "dependencies": {"camera": "5"}"#, &[]);
    project.install("helper/node_modules/camera", "5.1.0", "", &native);
    project
}

/// React Native with a plugin for both platforms, one for Android, and one without native code.
pub fn react_native() -> Project {
    let manifest = r#"{"name": "app", "dependencies": {"react-native": "0.85.0", "both": "1", "android-only": "1", "off": "1"},
        "devDependencies": {"jest": "1"}}"#;
    let project = Project::new(&[("package.json", manifest), ("app.json", r#"{"name": "App"}"#)]);
    native_projects(&project, "ios/App");
    project.install("react-native", "0.85.1", "", &[("React.podspec", "")]);
    project.install(
        "both",
        "1.2.0",
        "",
        &[("both.podspec", ""), ("android/build.gradle", "")],
    );
    project.install("android-only", "1.3.0", "", &[("android/build.gradle.kts", "")]);
    let off = "module.exports = { dependency: { platforms: { ios: null } } }";
    let files = [
        ("off.podspec", ""),
        ("android/build.gradle", ""),
        ("react-native.config.js", off),
    ];
    project.install("off", "1.4.0", "", &files);
    project.install("jest", "1.0.0", "", &[]);
    project
}

/// Expo, whose native projects are generated by the build.
pub fn expo() -> Project {
    let manifest = r#"{"name": "app", "dependencies": {"expo": "54", "react-native": "0.81.0"}}"#;
    let config = r#"{"expo": {"name": "App", "version": "1.0.0", "icon": "./assets/icon.png", "plugins": ["./plugins/with"],
        "ios": {"buildNumber": "1"}, "android": {"versionCode": 1, "permissions": []}}}"#;
    let project = Project::new(&[("package.json", manifest), ("app.json", config)]);
    project.write("assets/icon.png", b"\x89PNG\0");
    project.write("plugins/with.js", "module.exports = 1\n");
    let asset = r#", "dependencies": {"expo-asset": "12"}, "peerDependencies": {"expo-optional": "1"},
        "peerDependenciesMeta": {"expo-optional": {"optional": true}}"#;
    let module = |platforms: &str| format!(r#"{{"platforms": [{platforms}]}}"#);
    project.install("expo", "54.0.1", asset, &[("expo-module.config.json", "{}")]);
    let both = module(r#""apple", "android", "web""#);
    project.install("expo-asset", "12.0.1", "", &[("expo-module.config.json", &both)]);
    project.install("expo-optional", "1.0.0", "", &[("expo-module.config.json", &both)]);
    project.install("react-native", "0.81.2", "", &[]);
    project
}

/// Flutter with a plugin from the registry, one from a directory, and one that is Dart only.
pub fn flutter() -> Project {
    let resolved = r#"{"info": "made", "plugins": {"android": [
        {"name": "camera_android", "path": "/cache/camera/", "native_build": true, "dependencies": []},
        {"name": "own", "path": "packages/own", "native_build": true, "dependencies": []},
        {"name": "dart_only", "path": "/cache/d/", "native_build": false, "dependencies": []},
        {"name": "testing", "path": "/cache/t/", "native_build": true, "dev_dependency": true}], "ios": []},
        "date_created": "2026-01-01", "version": "3.40.0"}"#;
    let lock = "packages:\n  camera_android:\n    source: hosted\n    version: \"0.11.0\"\n  own:\n    description:\n      \
                path: packages/own\n    source: path\n    version: \"1.0.0\"\nsdks:\n  dart: \">=3\"\n";
    let project = Project::new(&[
        (
            "pubspec.yaml",
            "name: app\nversion: 1.0.0+1\ndependencies:\n  flutter:\n    sdk: flutter\n",
        ),
        (".flutter-plugins-dependencies", resolved),
        ("pubspec.lock", lock),
        ("packages/own/android/Own.kt", "class Own\n"),
        ("packages/own/lib/own.dart", "class Own {}\n"),
    ]);
    native_projects(&project, "ios/Runner");
    project
}
