//! A project of Capacitor with camera and preferences, as its own tool makes it.

use std::fs;
use std::path::Path;

use launchway_domain::platform::Platform;

use crate::npm::{Project, changes};

/// The project beside this file, with its packages and native projects.
fn project() -> Project {
    let project = Project::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fingerprint/capacitor");
    for file in [
        "package.json",
        "package-lock.json",
        "capacitor.config.json",
        "www/index.html",
    ] {
        project.write(file, fs::read(source.join(file)).unwrap());
    }
    project.run("npm", &["ci", "--loglevel=error"]);
    for platform in ["android", "ios"] {
        project.run("npx", &["cap", "add", platform]);
    }
    project
}

#[test]
fn it_stays_and_changes_with_the_native_side() {
    let mut project = project();
    let before = project.documents();
    let [android, ios] = &before;
    let plugins: Vec<_> = android
        .plugins()
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    assert_eq!(
        plugins,
        [
            "@capacitor/android 7.6.8",
            "@capacitor/camera 7.0.4",
            "@capacitor/core 7.6.8",
            "@capacitor/preferences 7.0.4"
        ]
    );
    assert!(ios.plugins().contains_key("@capacitor/ios"));

    // What must not count.
    project.moved();
    assert_eq!(project.documents(), before, "another folder");
    project.run("npx", &["cap", "sync", "android"]);
    assert_eq!(project.documents(), before, "what its tool copies");
    project.disturb(&["android", "ios"]);
    assert_eq!(
        project.documents(),
        before,
        "line ends, modes, times, versions, leftovers"
    );
    for (platform, document) in [(Platform::Android, android), (Platform::Ios, ios)] {
        assert!(project.embed(platform, &document.hash())[0].changed);
        assert!(!project.embed(platform, &document.hash())[0].changed);
    }
    assert_eq!(project.documents(), before, "the fingerprint itself");
    project.write("www/index.html", "<!doctype html><title>New</title>");
    project.write("src/main.ts", "console.log(1)");
    assert_eq!(project.documents(), before, "what an update brings");

    // What must, alone in the reason.
    let now = || project.document(Platform::Android);
    project.write(
        "patches/@capacitor+camera+7.0.4.patch",
        "--- a/android/A.java\n+++ b/android/A.java\n",
    );
    let patched = changes(android, &now());
    assert_eq!(patched.len(), 1, "{patched:?}");
    assert!(patched[0].starts_with("Native plugin version changed: @capacitor/camera 7.0.4 -> 7.0.4+patch."));
    fs::remove_dir_all(project.root().join("patches")).unwrap();
    let native = project
        .root()
        .join("android/app/src/main/java/com/example/capacitor/MainActivity.java");
    let text = fs::read(&native).unwrap();
    fs::write(&native, [&text[..], b"// more\n"].concat()).unwrap();
    assert_eq!(changes(android, &now()), ["Native source changed"]);
    fs::write(&native, &text).unwrap();
    let icon = "android/app/src/main/res/mipmap-hdpi/ic_launcher.png";
    let picture = fs::read(project.root().join(icon)).unwrap();
    project.write(icon, b"\x89PNG\0another");
    assert_eq!(changes(android, &now()), ["App resources changed"]);
    project.write(icon, picture);
    assert_eq!(now(), *android);

    project.install(&["@capacitor/camera@7.0.5"]);
    project.run("npx", &["cap", "sync", "android"]);
    let upgraded = "Native plugin version changed: @capacitor/camera 7.0.4 -> 7.0.5";
    assert_eq!(changes(android, &now()), [upgraded]);
    project.install(&["@capacitor/android@7.6.9"]);
    project.run("npx", &["cap", "sync", "android"]);
    let runtime = "Native plugin version changed: @capacitor/android 7.6.8 -> 7.6.9";
    assert_eq!(changes(android, &now()), [runtime, upgraded]);
}

#[test]
#[ignore = "long run"]
fn npm_again_and_pnpm_come_to_the_same() {
    let project = project();
    let before = project.documents();
    project.run("npm", &["ci", "--loglevel=error"]);
    assert_eq!(project.documents(), before, "npm ci again");
    fs::remove_dir_all(project.root().join("node_modules")).unwrap();
    project.run("npx", &["--yes", "pnpm@9", "import"]);
    fs::remove_file(project.root().join("package-lock.json")).unwrap();
    project.run("npx", &["--yes", "pnpm@9", "install", "--frozen-lockfile"]);
    assert!(project.root().join("node_modules/.pnpm").is_dir());
    assert_eq!(project.documents(), before, "pnpm");
    project.run("npx", &["cap", "sync", "android"]);
    assert_eq!(
        project.documents(),
        before,
        "pnpm, with the paths that Capacitor writes for it"
    );
    println!("summary: Capacitor by npm, npm again and pnpm: one fingerprint");
}
