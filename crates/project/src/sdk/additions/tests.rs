//! What each kind of project lacks, and that it lacks nothing once it was added.

use std::fs;

use super::*;

const KOTLIN: &str =
    "class MainApplication {\n  val host = object : DefaultReactNativeHost(this) {\n    val a = 1\n  }\n}\n";
const SWIFT: &str =
    "import UIKit\nimport React\n\nlet url = Bundle.main.url(forResource: \"main\", withExtension: \"jsbundle\")\n";
const MAIN: &str = "import './style.css';\n\nstart();\n";

/// Files by their paths.
type Files<'a> = &'a [(&'a str, &'a str)];

/// A project with a `package.json` with this dependency, and other files.
fn project(dependency: &str, files: Files) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let manifest =
        format!("{{\n  \"main\": \"app/app.ts\",\n  \"dependencies\": {{\n    \"{dependency}\": \"1\"\n  }}\n}}\n");
    for (name, text) in [("package.json", manifest.as_str())].iter().chain(files) {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn additions(root: &Path, framework: Framework) -> Additions {
    let app = AppFolder {
        root,
        directory: "",
        framework,
    };
    Additions::find(app, "0.1.0").unwrap()
}

#[test]
fn each_framework_gets_package_call_and_native_lines_once() {
    let (kotlin, swift) = (
        "android/app/src/main/java/a/MainApplication.kt",
        "ios/App/AppDelegate.swift",
    );
    let rows: [(Framework, &str, Files, &[&str]); 4] = [
        (
            Framework::Capacitor,
            "@capacitor/core",
            &[("src/main.ts", MAIN)],
            &["package.json", "src/main.ts"],
        ),
        (
            Framework::NativeScript,
            "@nativescript/core",
            &[
                ("app/app.ts", MAIN),
                ("nativescript.config.ts", "export default {\n  id: 'a.b',\n};\n"),
            ],
            &["package.json", "app/app.ts", "nativescript.config.ts"],
        ),
        (
            Framework::ReactNative,
            "react-native",
            &[
                ("index.js", MAIN),
                (kotlin, KOTLIN),
                (swift, SWIFT),
                ("ios/Pods/AppDelegate.swift", SWIFT),
            ],
            &["package.json", "index.js", kotlin, swift],
        ),
        (
            Framework::Expo,
            "expo",
            &[("App.js", MAIN), ("app.json", "{\"expo\": {}}\n")],
            &["package.json", "App.js", "app.json"],
        ),
    ];
    for (framework, dependency, files, expected) in rows {
        let directory = project(dependency, files);
        let root = directory.path();
        let found = additions(root, framework);
        let paths: Vec<&str> = found.changes.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(
            (paths.as_slice(), found.steps.as_slice()),
            (expected, &[][..]),
            "{framework:?}"
        );
        for change in &found.changes {
            assert_eq!(fs::read_to_string(root.join(&change.path)).unwrap(), change.before);
            assert!(change.after.len() > change.before.len());
            fs::write(root.join(&change.path), &change.after).unwrap();
        }
        assert_eq!(
            additions(root, framework),
            Additions::default(),
            "{framework:?}: nothing is added twice"
        );
    }
}

#[test]
fn what_cannot_be_changed_is_a_step_for_people() {
    let directory = project(
        "@capacitor/core",
        &[("www/index.html", "<script src=\"app.js\"></script>")],
    );
    let found = additions(directory.path(), Framework::Capacitor);
    assert_eq!(found.changes.len(), 1);
    assert_eq!(
        found.steps[0].what,
        "import and call the SDK in the script that starts the app"
    );
    assert_eq!(
        found.steps[0].lines[0],
        "import { Launchway } from '@launchway/capacitor';"
    );

    let odd = "class MainApplication { }\n";
    let kotlin = "android/app/src/main/kotlin/MainApplication.kt";
    let directory = project(
        "react-native",
        &[("index.js", "const a = require('a');\n"), (kotlin, odd)],
    );
    let found = additions(directory.path(), Framework::ReactNative);
    let steps: Vec<&str> = found.steps.iter().map(|step| step.what.as_str()).collect();
    let expected = [
        "import and call the SDK in index.js",
        "load the bundle of the SDK in android/app/src/main/kotlin/MainApplication.kt, as an argument of getDefaultReactHost, or \
         as getJSBundleFile of the ReactNativeHost",
    ];
    assert_eq!(steps, expected);
}

#[test]
fn native_apps_get_steps_until_their_code_calls_the_sdk() {
    for framework in [Framework::Gradle, Framework::Xcode] {
        let directory = tempfile::tempdir().unwrap();
        let found = additions(directory.path(), framework);
        assert_eq!((found.changes.len(), found.steps.len()), (0, 1), "{framework:?}");
        for name in ["Main.kt", "Main.swift"] {
            fs::write(directory.path().join(name), "launchway.sync(callback)\n").unwrap();
        }
        assert!(additions(directory.path(), framework).is_empty(), "{framework:?}");
    }
    let directory = tempfile::tempdir().unwrap();
    assert!(!has_sdk(Framework::Flutter) && additions(directory.path(), Framework::Flutter).is_empty());
}

#[test]
fn an_app_below_the_root_is_found_by_its_directory() {
    let directory = project("typescript", &[]);
    let below = directory.path().join("apps/phone");
    fs::create_dir_all(below.join("src")).unwrap();
    fs::write(
        below.join("package.json"),
        "{\"dependencies\": {\"@capacitor/core\": \"8\"}}",
    )
    .unwrap();
    fs::write(below.join("src/main.ts"), MAIN).unwrap();
    let app = AppFolder {
        root: directory.path(),
        directory: "apps/phone",
        framework: Framework::Capacitor,
    };
    let found = Additions::find(app, "0.1.0").unwrap();
    let paths: Vec<&str> = found.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["apps/phone/package.json", "apps/phone/src/main.ts"]);
}
