//! Sources that resolve to no plan, and the messages about them.

use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::platform::Platform;
use launchway_project::resolve::{BuildRequest, resolve};

use crate::fixtures::*;

/// A source, a platform, and how the message begins.
type Row = (Files, Platform, &'static str);

/// The message about a release for the store.
fn problem(files: &[(&str, &str)], platform: Platform) -> String {
    for_store(files, platform).unwrap_err().to_string()
}

#[test]
fn says_what_is_wrong_and_what_to_do() {
    let rows: &[Row] = &[
        (
            &[],
            Platform::Android,
            "No framework found. Looked for nativescript.config.ts, capacitor.config.*, expo and react-native in \
             package.json, pubspec.yaml, settings.gradle and *.xcodeproj. Set directory in [build.<profile>] of \
             launchway.toml to the app's directory, or define steps.",
        ),
        (
            &[("package.json", "{not json"), ("pubspec.yaml", "name: server")],
            Platform::Android,
            "package.json is broken: key must be a string at line 1 column 2.",
        ),
        (
            &[("package.json", ""), ("capacitor.config.json", "{}")],
            Platform::Ios,
            "package.json is broken: EOF while parsing a value at line 1 column 0.",
        ),
        (
            // No command that builds it needs packages.
            &[("package.json", ""), ("settings.gradle", "")],
            Platform::Android,
            "gradlew is missing.",
        ),
        (
            &[("launchway.toml", "[build.production]\ndirectory = 'app'")],
            Platform::Android,
            "The directory app is not in the source. Correct directory in [build.<profile>] of launchway.toml.",
        ),
        (
            &[
                ("launchway.toml", "[build.production]\ndirectory = 'app'"),
                ("app/x", ""),
            ],
            Platform::Android,
            "No framework found in app. Looked for",
        ),
        (
            &[("launchway.toml", "[build.production\n")],
            Platform::Android,
            "launchway.toml: line 1: ",
        ),
        (
            &[("launchway.toml", "[build.a]\n[build.b]\n")],
            Platform::Android,
            "launchway.toml has several build profiles: a, b. Choose one of them.",
        ),
        (
            &[("launchway.toml", "[build.a]\nsteps = []")],
            Platform::Android,
            "launchway.toml: plan.steps must have 1 to 100 entries",
        ),
        (
            &[(
                "launchway.toml",
                "[build.a]\nlabels = ['macos']\nsteps = [{ name = 'a', run = 'b' }]",
            )],
            Platform::Android,
            "launchway.toml: plan.labels[0] must be name=value, such as os=macos",
        ),
        (
            &[("settings.gradle", "")],
            Platform::Android,
            "gradlew is missing. Run `gradle wrapper` in its directory, and commit the files that it creates",
        ),
        (
            &[("settings.gradle", "")],
            Platform::Ios,
            "There is no preset for Gradle projects on ios. Define steps in [build.<profile>.ios] of",
        ),
        (
            CAPACITOR,
            Platform::Visionos,
            "There is no preset for Capacitor projects on visionos. Define steps in [build.<profile>.visionos] of \
             launchway.toml.",
        ),
        (
            &[("package.json", "{}"), ("capacitor.config.json", "{}")],
            Platform::Android,
            "@capacitor/cli is missing. Add it to the devDependencies of package.json",
        ),
        (
            &[("package.json", r#"{"dependencies": {"react-native": "1"}}"#)],
            Platform::Ios,
            "ios/*.xcodeproj is missing. Commit the Xcode project, or define steps in launchway.toml",
        ),
        (
            &[("A.xcodeproj/x", ""), ("B.xcodeproj/x", "")],
            Platform::Ios,
            "There are several Xcode projects: A, B. Define steps in launchway.toml",
        ),
        (
            &[
                ("A.xcodeproj/xcshareddata/xcschemes/One.xcscheme", ""),
                ("A.xcodeproj/xcshareddata/xcschemes/Two.xcscheme", ""),
            ],
            Platform::Ios,
            "There are several schemes: One, Two. Set scheme in [build.<profile>] of launchway.toml \
             to one of them.",
        ),
    ];
    for (files, platform, expected) in rows {
        let problem = problem(files, *platform);
        assert!(problem.starts_with(expected), "{problem}");
    }
}

#[test]
fn a_profile_that_is_not_there() {
    let request = |profile: &str| BuildRequest {
        profile: Some(profile.to_owned()),
        ..request(Platform::Android, BuildType::Release, Distribution::Store)
    };
    let directory = project(GRADLE);
    let problem = resolve(directory.path(), &request("production"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        problem,
        "The build requests the profile `production`, but the source has no launchway.toml. Add the file, or omit the \
         profile."
    );
    add(directory.path(), &[("launchway.toml", "[build.preview]\n")]);
    let problem = resolve(directory.path(), &request("preveiw")).unwrap_err().to_string();
    assert_eq!(
        problem,
        "launchway.toml: there is no [build.preveiw]; did you mean [build.preview]?"
    );
}

#[test]
fn a_hostile_source_is_not_followed_out() {
    use std::os::unix::fs::symlink;

    let outside = project(GRADLE);
    add(outside.path(), &[("launchway.toml", "[build.production]\n")]);
    let source = tempfile::tempdir().unwrap();
    symlink(
        outside.path().join("launchway.toml"),
        source.path().join("launchway.toml"),
    )
    .unwrap();
    let request = request(Platform::Android, BuildType::Release, Distribution::Store);
    let problem = resolve(source.path(), &request).unwrap_err().to_string();
    assert_eq!(problem, "cannot read launchway.toml: it is not a file of the project.");
    std::fs::remove_file(source.path().join("launchway.toml")).unwrap();
    for name in ["settings.gradle.kts", "gradlew"] {
        symlink(outside.path().join(name), source.path().join(name)).unwrap();
    }
    let problem = resolve(source.path(), &request).unwrap_err().to_string();
    assert!(problem.starts_with("No framework found"), "{problem}");
    let large = "#".repeat(5 << 20);
    add(source.path(), &[("launchway.toml", &large)]);
    let problem = resolve(source.path(), &request).unwrap_err().to_string();
    assert_eq!(problem, "launchway.toml is larger than 4 MiB.");
}
