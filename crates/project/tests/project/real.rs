//! Real projects, as their frameworks generate them: each command of a plan exists, and those that need neither Gradle
//! nor Xcode run. Needs npm and its registry.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use launchway_domain::build::plan::Plan;
use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::platform::Platform;
use launchway_project::resolve::resolve;
use tempfile::TempDir;

use crate::fixtures::*;

/// Slow, and needed only once.
const INSTALL: &str = "install packages";
/// A runner has the program for it.
const EMBED: &str = "embed fingerprint";
/// Steps that need a Mac, or the output of the Android build.
const FOR_MAC: [&str; 3] = [INSTALL, "prepare signing", "install pods"];

/// A project in a temporary directory.
struct Real {
    directory: TempDir,
    root: PathBuf,
}

impl Real {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = project(&[("tmp/x", "")]);
        let root = directory.path().join("source");
        fs::create_dir(&root).unwrap();
        add(&root, files);
        Self { directory, root }
    }

    /// Runs a script and returns its output.
    fn run(&self, script: &str) -> String {
        let mut command = Command::new("bash");
        command.args(["-eo", "pipefail", "-c", script]).current_dir(&self.root);
        command
            .env("TMPDIR", self.directory.path().join("tmp"))
            .env("CI", "true");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{script}\n{said}");
        said
    }

    fn plan(&self, platform: Platform) -> Plan {
        let request = request(platform, BuildType::Release, Distribution::Store);
        resolve(&self.root, &request).unwrap().plan
    }

    /// Runs the steps before the one with this name, and returns its script.
    fn run_until(&self, plan: &Plan, name: &str, left_out: &[&str]) -> String {
        for step in &plan.steps {
            if step.name == name {
                return step.run.clone();
            }
            if !left_out.contains(&step.name.as_str()) && step.name != EMBED {
                self.run(&step.run);
            }
        }
        panic!("there is no step {name}");
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn has(&self, name: &str) -> bool {
        self.root.join(name).exists()
    }

    /// The Gradle step can start: wrapper, module and task exist.
    fn check_gradle(&self, script: &str, plugin: impl FnOnce(&Self) -> String) {
        let lines: Vec<&str> = script.lines().collect();
        assert_eq!(lines[0], "cd -- android");
        let mode = fs::metadata(self.root.join("android/gradlew"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o111, 0o111);
        assert!(self.has("android/gradle/wrapper/gradle-wrapper.jar"));
        let call = lines.last().unwrap();
        assert!(
            call.starts_with("./gradlew ") && call.ends_with(" :app:bundleRelease"),
            "{call}"
        );
        assert!(self.text("android/settings.gradle").contains("include ':app'"));
        let module = self.text("android/app/build.gradle");
        assert!(module.contains("com.android.application"), "{module}");
        // The init script needs a feature of Gradle 7.
        let plugin = plugin(self);
        let major: u32 = plugin.split('.').next().unwrap().parse().unwrap();
        assert!(major >= 7, "{plugin}");
    }

    /// The project and the scheme of the archive step exist. `pod install` generates the workspace.
    fn check_xcode(&self, script: &str, folder: &str, name: &str) {
        assert!(script.contains(&format!(" -scheme {name} ")), "{script}");
        let project = format!("{folder}/{name}.xcodeproj");
        let text = self.text(&format!("{project}/project.pbxproj"));
        assert!(
            text.contains(&format!("name = {name};")),
            "a target of this name makes a scheme of it"
        );
        let workspace = format!("-workspace {folder}/{name}.xcworkspace");
        assert!(
            script.contains(&workspace) && self.has(&format!("{folder}/Podfile")),
            "{script}"
        );
    }
}

/// The version after a name, up to the quote.
fn version_after(text: &str, name: &str) -> String {
    let (_, rest) = text
        .split_once(name)
        .unwrap_or_else(|| panic!("{name} is not in {text}"));
    rest.split(['"', '\'']).next().unwrap().to_owned()
}

/// React Native's Gradle plugin includes that of Android.
fn plugin_of_react_native(real: &Real) -> String {
    let catalog = real.text("node_modules/@react-native/gradle-plugin/gradle/libs.versions.toml");
    version_after(&catalog, "agp = \"")
}

#[test]
#[ignore = "long run"]
fn capacitor() {
    let real = Real::new(&[
        (
            "package.json",
            r#"{"name": "sample", "version": "1.0.0", "private": true, "scripts": {"build": "node build.mjs"},
                "dependencies": {"@capacitor/core": "^7.0.0", "@capacitor/android": "^7.0.0", "@capacitor/ios": "^7.0.0"},
                "devDependencies": {"@capacitor/cli": "^7.0.0"}}"#,
        ),
        (
            "capacitor.config.json",
            r#"{"appId": "com.example.app", "appName": "Sample", "webDir": "dist"}"#,
        ),
        (
            "build.mjs",
            "import { cpSync } from 'node:fs'; cpSync('index.html', 'dist/index.html');",
        ),
        ("index.html", "<!doctype html><title>Sample</title>"),
    ]);
    real.run("npm install --package-lock-only --no-audit --no-fund");
    // The native project does not exist yet: a step generates it.
    let plan = real.plan(Platform::Android);
    let gradle = real.run_until(&plan, "gradle", &[]);
    real.check_gradle(&gradle, |real| {
        version_after(&real.text("android/build.gradle"), "com.android.tools.build:gradle:")
    });
    assert!(
        real.has("android/app/src/main/assets/public/index.html"),
        "the web app is in the native one"
    );
    let again = real.plan(Platform::Android);
    assert!(!again.steps.iter().any(|step| step.run.contains("cap add")));
    real.run_until(&again, "gradle", &[INSTALL]);
    // A step generates the native project; on the second run it exists.
    real.run_until(&real.plan(Platform::Ios), "archive", &FOR_MAC);
    let archive = real.run_until(&real.plan(Platform::Ios), "archive", &FOR_MAC);
    real.check_xcode(&archive, "ios/App", "App");
    println!("summary: a Capacitor project is built up to Gradle and Xcode");
}

#[test]
#[ignore = "long run"]
fn react_native() {
    let real = Real::new(&[]);
    real.run(
        "npx --yes @react-native-community/cli@20.0.2 init Sample --version 0.82.1 --directory made --skip-install \
         --skip-git-init --install-pods false && cp -R made/. . && rm -rf made && npm install --package-lock-only",
    );
    let gradle = real.run_until(&real.plan(Platform::Android), "gradle", &[]);
    real.check_gradle(&gradle, plugin_of_react_native);
    let pods = real.run_until(&real.plan(Platform::Ios), "install pods", &FOR_MAC[..2]);
    assert!(pods.ends_with("bundle exec pod install"), "{pods}");
    let archive = real.run_until(&real.plan(Platform::Ios), "archive", &FOR_MAC);
    real.check_xcode(&archive, "ios", "Sample");
    println!("summary: a React Native project is built up to Gradle, pods and Xcode");
}

#[test]
#[ignore = "long run"]
fn expo() {
    let real = Real::new(&[
        (
            "package.json",
            r#"{"name": "sample", "version": "1.0.0", "private": true, "main": "index.js",
                "dependencies": {"expo": "~54.0.0", "react": "19.1.0", "react-native": "0.81.5"}}"#,
        ),
        (
            "app.json",
            r#"{"expo": {"name": "My Sample", "slug": "sample", "version": "1.0.0",
                "android": {"package": "com.example.app"}, "ios": {"bundleIdentifier": "com.example.app"}}}"#,
        ),
        (
            "index.js",
            "import { registerRootComponent } from 'expo'; registerRootComponent(() => null);",
        ),
    ]);
    real.run("npm install --package-lock-only --no-audit --no-fund");
    let gradle = real.run_until(&real.plan(Platform::Android), "gradle", &[]);
    real.check_gradle(&gradle, plugin_of_react_native);
    let archive = real.run_until(&real.plan(Platform::Ios), "archive", &FOR_MAC);
    assert!(archive.contains("-maxdepth 1 -name '*.xcodeproj'"), "{archive}");
    assert!(real.has("ios/MySample.xcodeproj") && real.has("ios/Podfile"));
    // A source may already contain the output of an earlier step.
    let archive = real.run_until(&real.plan(Platform::Ios), "archive", &FOR_MAC);
    real.check_xcode(&archive, "ios", "MySample");
    let gradle = real.run_until(&real.plan(Platform::Android), "gradle", &[INSTALL]);
    real.check_gradle(&gradle, plugin_of_react_native);
    println!("summary: an Expo project is built up to Gradle, pods and Xcode");
}

#[test]
#[ignore = "long run"]
fn nativescript() {
    let real = Real::new(&[
        (
            "package.json",
            r#"{"name": "sample", "version": "1.0.0", "private": true, "main": "app/app.ts",
                "dependencies": {"@nativescript/core": "~8.9.0"},
                "devDependencies": {"nativescript": "8.9.3", "@nativescript/webpack": "~5.0.0", "typescript": "~5.8.0"}}"#,
        ),
        (
            "nativescript.config.ts",
            "export default { id: 'com.example.app', appPath: 'app', appResourcesPath: 'App_Resources' };",
        ),
        (
            "app/app.ts",
            "import { Application } from '@nativescript/core'; Application.run({ create: () => null });",
        ),
    ]);
    real.run("npm install --package-lock-only --no-audit --no-fund");
    // The build itself needs an Android SDK, and the keystore step a keystore.
    let script = real.run_until(&real.plan(Platform::Android), "build", &["find keystore"]);
    check_options(&real, script.lines().last().unwrap());
    assert!(Path::new(&real.directory.path().join("tmp/launchway/init.gradle")).exists());
    let script = real.run_until(&real.plan(Platform::Ios), "build", &FOR_MAC);
    assert!(script.contains("--provision "), "{script}");
    check_options(&real, "npx ns build ios --for-device --release --provision x");
    println!("summary: the commands of a NativeScript plan are those of its command line");
}

/// The help of a command lists all its options.
fn check_options(real: &Real, command: &str) {
    let words: Vec<&str> = command.split(' ').collect();
    let help = real.run(&format!("{} --help", words[..4].join(" ")));
    let options: Vec<_> = words.iter().filter(|word| word.starts_with("--")).collect();
    assert!(!options.is_empty());
    for option in options {
        // On Linux, the help for iOS only says that it needs a Mac; the package contains the full text.
        let whole = format!(
            "node_modules/nativescript/docs/man_pages/project/testing/build-{}.md",
            words[3]
        );
        assert!(help.contains(words[3]), "{help}");
        assert!(real.text(&whole).contains(*option), "{option}");
    }
}
