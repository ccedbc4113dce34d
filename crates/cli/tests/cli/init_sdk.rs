//! `init` adds the SDK to an app: what it lacks is shown, asked for and written, once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::stage::Stage;
#[cfg(unix)]
use crate::terminal::Screen;

const MAIN: &str = "import { start } from './app';\n\nstart();\n";

/// A Capacitor app that a bundler builds.
fn capacitor(stage: &Stage) {
    stage
        .file(
            "package.json",
            "{\n  \"name\": \"app\",\n  \"dependencies\": {\n    \"@capacitor/core\": \"8.0.0\"\n  }\n}\n",
        )
        .file("pnpm-lock.yaml", "lockfileVersion: '9.0'\n")
        .file(
            "capacitor.config.json",
            json!({"appId": "com.example.app", "webDir": "dist"}).to_string(),
        )
        .file("index.html", "<script type=\"module\" src=\"/src/main.ts\"></script>")
        .file("src/main.ts", MAIN);
}

fn read(stage: &Stage, path: &str) -> String {
    std::fs::read_to_string(stage.project().join(path)).expect(path)
}

/// All files of a directory, by their paths.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it is there") {
            let path = entry.expect("readable").path();
            match path.is_dir() {
                true if path.ends_with("node_modules") => {}
                true => folders.push(path),
                false => drop(found.insert(path.clone(), std::fs::read(path).expect("readable"))),
            }
        }
    }
    found
}

#[tokio::test]
async fn a_new_project_gets_settings_package_and_call() {
    let stage = Stage::new();
    capacitor(&stage);
    let text = stage
        .run(&["init", "--yes", "--url", "https://launchway.example.com"])
        .await;
    let lines = [
        "package.json, line 4:\n  -     \"@capacitor/core\": \"8.0.0\"\n  +     \"@capacitor/core\": \"8.0.0\",\n  \
         +     \"@launchway/capacitor\": \"^0.1.0\"\n",
        "src/main.ts, line 2:\n  + import { Launchway } from '@launchway/capacitor';\n",
        "SDK             added to package.json, src/main.ts\n",
        "Next: `pnpm install` installs the package\nNext: `pnpm exec cap sync` adds it to the native projects\n",
    ];
    for line in lines {
        assert!(text.contains(line), "{text}");
    }
    let manifest = read(&stage, "package.json");
    assert!(
        manifest.ends_with("    \"@capacitor/core\": \"8.0.0\",\n    \"@launchway/capacitor\": \"^0.1.0\"\n  }\n}\n"),
        "{manifest}"
    );
    let expected = "import { start } from './app';\nimport { Launchway } from '@launchway/capacitor';\n\n\
                    Launchway.sync().catch(console.warn);\n\nstart();\n";
    assert_eq!(read(&stage, "src/main.ts"), expected);
    assert_eq!(read(&stage, "pnpm-lock.yaml"), "lockfileVersion: '9.0'\n");

    let before = files(&stage.project());
    let text = stage.run(&["init"]).await;
    assert_eq!(
        text,
        "$ launchway init\n--- standard output\nNothing to change: launchway.toml exists, and the app contains the SDK\n--- exit 0\n"
    );
    assert!(files(&stage.project()) == before, "the second run changes nothing");
}

#[tokio::test]
async fn settings_that_are_there_stay_and_the_rest_is_added() {
    let stage = Stage::new();
    capacitor(&stage);
    let settings = "[server]\nurl = 'https://launchway.example.com'\n";
    stage.file("launchway.toml", settings);
    let before = files(&stage.project());
    let text = stage.run(&["init"]).await;
    let refused = "error: no terminal to prompt on\nhint: give --yes\n--- exit 2\n";
    assert!(
        text.contains("src/main.ts, line 2:\n") && text.ends_with(refused),
        "{text}"
    );
    let text = stage.run(&["init", "--yes", "--no-sdk"]).await;
    assert!(
        text.contains("error: launchway.toml already exists; nothing was changed\n"),
        "{text}"
    );
    assert!(files(&stage.project()) == before, "nothing was changed");
    let told = stage.json(&["init", "--yes", "--json"]).await;
    let changed = json!({"changed": ["package.json", "src/main.ts"], "unchanged": [], "steps": []});
    assert_eq!(
        told,
        json!({"path": "launchway.toml", "sdk": changed, "updateClients": []})
    );
    assert_eq!(read(&stage, "launchway.toml"), settings);
    let told = stage.json(&["init", "--json"]).await;
    assert_eq!(told["sdk"], json!({"changed": [], "unchanged": [], "steps": []}));
}

#[tokio::test]
async fn without_a_terminal_a_new_project_gets_only_settings() {
    let stage = Stage::new();
    capacitor(&stage);
    let before = files(&stage.project());
    let text = stage.run(&["init"]).await;
    assert!(
        text.contains("The SDK was not added; `launchway init --yes` adds it\n"),
        "{text}"
    );
    assert!(
        text.contains("SDK             not added to package.json, src/main.ts\n"),
        "{text}"
    );
    let mut after = files(&stage.project());
    after
        .remove(&stage.project().join("launchway.toml"))
        .expect("it was written");
    assert!(after == before, "no other file was changed");
    let other = Stage::new();
    capacitor(&other);
    let told = other.json(&["init", "--yes", "--no-sdk", "--json"]).await;
    assert_eq!(told["sdk"], json!(null));
    assert_eq!(read(&other, "src/main.ts"), MAIN);
}

#[cfg(unix)]
#[tokio::test]
async fn a_terminal_shows_the_changes_and_asks() {
    for (answer, is_added) in [("n\n", false), ("y\n", true)] {
        let stage = Stage::new();
        capacitor(&stage);
        stage.file("launchway.toml", "");
        let mut screen = Screen::of(&stage, &["init"], 120);
        let shown = screen.until("Add the SDK to these files? [y/N]: ").await;
        assert!(
            shown.contains("+ import { Launchway } from '@launchway/capacitor';"),
            "{shown}"
        );
        assert_eq!(
            read(&stage, "src/main.ts"),
            MAIN,
            "nothing is written before the answer"
        );
        screen.types(answer);
        let (rest, code) = screen.rest().await;
        assert_eq!(code, Some(if is_added { 0 } else { 1 }), "{rest}");
        assert_eq!(read(&stage, "src/main.ts") != MAIN, is_added, "{rest}");
    }
}

#[tokio::test]
async fn what_cannot_be_changed_safely_is_printed() {
    let stage = Stage::new();
    stage
        .file(
            "package.json",
            json!({"dependencies": {"react-native": "0.85.0"}}).to_string(),
        )
        .file("index.js", "import './App';\n")
        .file("launchway.toml", "")
        .file(
            "android/app/src/main/java/a/MainApplication.kt",
            "class MainApplication {}\n",
        );
    let text = stage.run(&["init", "--yes"]).await;
    let step = "warning: load the bundle of the SDK in android/app/src/main/java/a/MainApplication.kt, as an argument of \
                getDefaultReactHost, or as getJSBundleFile of the ReactNativeHost:\n    jsBundleFilePath = ";
    assert!(text.contains(step), "{text}");
    assert!(
        text.contains("SDK  added to package.json, index.js; 1 step is left to you\n"),
        "{text}"
    );
    assert_eq!(
        read(&stage, "android/app/src/main/java/a/MainApplication.kt"),
        "class MainApplication {}\n"
    );
    let text = stage.run(&["init", "--yes"]).await;
    assert!(text.contains("SDK  1 step is left to you\n"), "{text}");
}

#[tokio::test]
async fn a_broken_manifest_is_named_and_left_alone() {
    let stage = Stage::new();
    stage
        .file("package.json", "{")
        .file("capacitor.config.json", "{}")
        .file("launchway.toml", "");
    let text = stage.run(&["init", "--yes"]).await;
    assert!(
        text.contains("warning: cannot add the SDK: package.json is broken: "),
        "{text}"
    );
    assert_eq!(read(&stage, "package.json"), "{");
}

/// The example apps contain the SDK as `init` adds it.
#[tokio::test]
async fn the_examples_lack_nothing() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(examples).expect("it is there") {
        let example = entry.expect("readable").path();
        let settings = std::fs::read_to_string(example.join("launchway.toml")).unwrap_or_default();
        if !settings.contains("[sdk]") {
            continue;
        }
        let stage = Stage::new();
        for (path, bytes) in files(&example) {
            let name = path.strip_prefix(&example).expect("it lies there");
            stage.file(name.to_str().expect("UTF-8"), bytes);
        }
        let before = files(&stage.project());
        let text = stage.run(&["init", "--yes"]).await;
        assert!(text.contains("Nothing to change: "), "{}: {text}", example.display());
        assert!(files(&stage.project()) == before, "{}", example.display());
        names.push(example.file_name().expect("a name").to_owned());
    }
    names.sort();
    let expected = [
        "capacitor-app",
        "native-android-app",
        "native-ios-app",
        "nativescript-app",
        "react-native-app",
    ];
    assert_eq!(names, expected);
}
