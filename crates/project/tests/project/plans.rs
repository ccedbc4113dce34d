//! The complete resolved plans.

use std::fmt::Write;
use std::process::Command;

use insta::assert_snapshot;
use launchway_domain::build::plan::Plan;
use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::platform::Platform;
use launchway_project::resolve::{AppLocation, BuildRequest, app_location, resolve};

use crate::fixtures::*;

/// Every sensible build of a project. The long shared scripts are only named; another test has their text.
fn shown(files: Files) -> String {
    let directory = project(files);
    let mut text = String::new();
    let rows = [
        (Platform::Android, BuildType::Release, Distribution::Store),
        (Platform::Android, BuildType::Release, Distribution::Internal),
        (Platform::Android, BuildType::Debug, Distribution::Development),
        (Platform::Ios, BuildType::Release, Distribution::Store),
        (Platform::Ios, BuildType::Release, Distribution::Internal),
        (Platform::Ios, BuildType::Debug, Distribution::Simulator),
        (Platform::Visionos, BuildType::Release, Distribution::Store),
    ];
    for (platform, build_type, distribution) in rows {
        writeln!(text, "=== {platform} {build_type} {distribution}").unwrap();
        match resolve(directory.path(), &request(platform, build_type, distribution)) {
            Ok(resolved) => {
                writeln!(text, "from {}", resolved.origin).unwrap();
                text.push_str(&plan(&resolved.plan));
            }
            Err(error) => writeln!(text, "{error}").unwrap(),
        }
    }
    text
}

fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    for label in &plan.labels {
        writeln!(text, "needs {label}").unwrap();
    }
    for (name, value) in &plan.env {
        writeln!(text, "env {name}={value}").unwrap();
    }
    for step in &plan.steps {
        writeln!(text, "--- {}", step.name).unwrap();
        match step.name.as_str() {
            "prepare signing" | "prepare build" | "check signature" => {}
            _ => writeln!(text, "{}", step.run).unwrap(),
        }
    }
    for artifact in &plan.artifacts {
        writeln!(text, "gives {} {}", artifact.kind, artifact.path).unwrap();
    }
    for cache in &plan.cache {
        writeln!(text, "keeps {} {}", cache.key, cache.paths.join(" ")).unwrap();
    }
    text
}

#[test]
fn of_nativescript() {
    assert_snapshot!(shown(NATIVESCRIPT));
}

#[test]
fn of_capacitor() {
    assert_snapshot!(shown(CAPACITOR));
}

#[test]
fn of_expo() {
    assert_snapshot!(shown(EXPO));
}

#[test]
fn of_react_native() {
    assert_snapshot!(shown(REACT_NATIVE));
}

#[test]
fn of_flutter() {
    assert_snapshot!(shown(FLUTTER));
}

#[test]
fn of_gradle() {
    assert_snapshot!(shown(GRADLE));
}

#[test]
fn of_xcode() {
    assert_snapshot!(shown(XCODE));
}

#[test]
fn a_project_with_a_trust_file_embeds_its_root() {
    for (files, extra) in [(CAPACITOR, ""), (EXPO, " --generated")] {
        let directory = project(files);
        let embed = || {
            let request = request(Platform::Android, BuildType::Release, Distribution::Store);
            let steps = resolve(directory.path(), &request).unwrap().plan.steps;
            steps
                .into_iter()
                .find(|step| step.name == "embed fingerprint")
                .unwrap()
                .run
        };
        assert_eq!(embed(), format!("launchway fingerprint embed android{extra}"));
        add(directory.path(), &[("launchway.trust.json", "{}")]);
        assert_eq!(embed(), format!("launchway embed android{extra}"));
    }
}

#[test]
fn the_scripts_that_all_share() {
    let mut text = String::new();
    for (files, platform, distribution) in [
        (CAPACITOR, Platform::Android, Distribution::Store),
        (CAPACITOR, Platform::Ios, Distribution::Internal),
    ] {
        let request = request(platform, BuildType::Release, distribution);
        let resolved = resolve(project(files).path(), &request).unwrap();
        for step in resolved.plan.steps {
            if ["prepare signing", "check signature"].contains(&step.name.as_str()) {
                writeln!(text, "--- {platform} {distribution}: {}\n{}", step.name, step.run).unwrap();
            }
        }
    }
    assert_snapshot!(text);
}

#[test]
fn a_profile_changes_a_preset() {
    let directory = project(&[]);
    for (name, content) in CAPACITOR {
        add(directory.path(), &[(&format!("apps/my app/{name}"), content)]);
    }
    let file = "[build.production]\ndirectory = 'apps/my app'\nlabels = ['java=21', 'os=linux']\n\
                env = { NODE_OPTIONS = '--max-old-space-size=4096' }\ntimeout_seconds = 1200\nconfiguration = 'live'\n\
                distribution = 'internal'\n\
                before_install = [{ name = 'first', run = 'node -v' }]\n\
                before_build = [{ name = 'check', run = 'npm test', timeout_seconds = 60 }]\n\
                after_build = [{ name = 'last', run = 'echo done' }]\n\
                [build.production.android]\nflavor = 'free'\nmodule = 'apps:phone'\n\
                artifacts = [{ path = 'android/out/*.apk' }]\ncache = [{ key = 'k', paths = ['android/.gradle', '~/.x'] }]\n";
    add(directory.path(), &[("launchway.toml", file)]);
    let request = BuildRequest {
        platform: Platform::Android,
        profile: None,
        build_type: None,
        distribution: None,
    };
    let resolved = resolve(directory.path(), &request).unwrap();
    assert_eq!(resolved.configuration.as_deref(), Some("live"));
    assert_eq!(resolved.profile.as_deref(), Some("production"));
    assert_eq!(
        (resolved.build_type, resolved.distribution),
        (BuildType::Release, Distribution::Internal)
    );
    assert_eq!(resolved.plan.timeout_seconds, Some(1200));
    assert_snapshot!(plan(&resolved.plan));
}

#[test]
fn a_profile_with_steps_is_the_whole_plan() {
    let file = "[build.sample]\ndirectory = 'app'\nlabels = ['java=17']\n\
                steps = [{ name = 'build', run = './build.sh' }]\nartifacts = [{ path = 'out/app.apk' }]\n";
    let resolved = for_store(&[("launchway.toml", file)], Platform::Android).unwrap();
    assert_eq!(resolved.origin, "launchway.toml");
    assert_snapshot!(plan(&resolved.plan), @r"
    needs java=17
    --- build
    cd -- app
    ./build.sh
    gives apk app/out/app.apk
    ");
}

#[test]
fn a_profile_says_where_the_app_is() {
    let place = |file: &str, told: Option<&str>| {
        let project = launchway_project::file::parse(file).unwrap();
        app_location(&project.build, told, Platform::Android).map_err(|error| error.to_string())
    };
    let in_directory = |directory: &str| {
        Ok(AppLocation {
            directory: directory.to_owned(),
            framework: None,
        })
    };
    assert_eq!(place("", None), in_directory(""));
    let base = "[build.base]\ndirectory = 'apps/phone'\n";
    let same = format!("{base}[build.one]\nextends = 'base'\n[build.two]\nextends = 'base'\n");
    assert_eq!(place(&same, None), in_directory("apps/phone"));
    let several = format!("{same}[build.two.android]\ndirectory = 'apps/tv'\n");
    assert_eq!(place(&several, Some("two")), in_directory("apps/tv"));
    let refused = "launchway.toml has several build profiles: base, one, two. Choose one of them.";
    assert_eq!(place(&several, None), Err(refused.to_owned()));
    assert_eq!(place(&format!("{several}[build.production]\n"), None), in_directory(""));
    assert!(place(base, Some("three")).is_err());
}

#[test]
fn names_of_a_project_are_only_text() {
    let directory = project(&[]);
    let nasty = "a';touch pwned;'$(touch pwned)`touch pwned`";
    let file = format!(
        "[build.production]\ndirectory = \"-x/{nasty}\"\nscheme = \"{nasty}\"\nflavor = \"{nasty}\"\nmodule = \"{nasty}\"\n"
    );
    add(directory.path(), &[("launchway.toml", &file)]);
    let root = format!("-x/{nasty}");
    for files in ALL {
        for (name, content) in files {
            add(directory.path(), &[(&format!("{root}/{name}"), content)]);
        }
    }
    add(directory.path(), &[(&format!("{root}/{nasty}.xcodeproj/x"), "")]);
    let mut tried = 0;
    for framework in [
        "capacitor",
        "react-native",
        "expo",
        "flutter",
        "gradle",
        "xcode",
        "nativescript",
    ] {
        for platform in Platform::ALL {
            let text = format!("{file}framework = '{framework}'\n");
            add(directory.path(), &[("launchway.toml", &text)]);
            let request = request(platform, BuildType::Release, Distribution::Internal);
            let Ok(resolved) = resolve(directory.path(), &request) else {
                continue;
            };
            for step in resolved.plan.steps {
                // There is nothing to run but the shell itself and whatever a name could inject.
                let (temporary, pwned) = (directory.path().join("tmp"), directory.path().join("pwned"));
                let output = Command::new("/bin/bash")
                    .args(["-c", &step.run])
                    .current_dir(directory.path())
                    .env_clear()
                    .envs([("TMPDIR", &temporary), ("HOME", &temporary), ("PWNED", &pwned)])
                    .envs([("PATH", "/nowhere"), ("BASH_FUNC_touch%%", "() { echo > \"$PWNED\"; }")])
                    .output()
                    .unwrap();
                tried += 1;
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(
                    !pwned.exists() && !said.contains("syntax error"),
                    "{}: {said}",
                    step.name
                );
            }
        }
    }
    assert!(tried > 30, "{tried}");
}

#[test]
fn an_app_in_kotlin_for_both() {
    let files: Files = &[
        ("settings.gradle.kts", ""),
        ("gradlew", ""),
        (
            "composeApp/build.gradle.kts",
            "plugins { alias(libs.plugins.androidApplication) }",
        ),
        (
            "shared/build.gradle.kts",
            "plugins { alias(libs.plugins.androidLibrary) }",
        ),
        ("iosApp/iosApp.xcodeproj/project.pbxproj", ""),
    ];
    let android = for_store(files, Platform::Android).unwrap();
    assert_eq!(android.origin, "gradle");
    assert!(plan(&android.plan).contains(" :composeApp:bundleRelease\n"));
    let ios = for_store(files, Platform::Ios).unwrap();
    assert_eq!(ios.origin, "xcode");
    assert!(plan(&ios.plan).contains("-project iosApp/iosApp.xcodeproj -scheme iosApp "));
}

/// The commands in the documentation are those of the plans.
#[test]
fn the_docs_tell_the_commands() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/plans.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let (_, presets) = docs.split_once("\n## Presets\n").unwrap();
    let (presets, _) = presets.split_once("\n## ").unwrap();
    let mut plans: String = ALL.into_iter().map(shown).collect();
    let lone = &[("package.json", r#"{"dependencies": {"@nativescript/core": "8"}}"#)];
    plans.push_str(&shown(lone));
    for (lockfile, content) in [
        ("package-lock.json", ""),
        ("yarn.lock", "__metadata:"),
        ("bun.lock", ""),
    ] {
        let directory = project(&[(lockfile, content), CAPACITOR[0], CAPACITOR[1]]);
        for platform in [Platform::Android, Platform::Ios] {
            let request = request(platform, BuildType::Release, Distribution::Store);
            plans.push_str(&plan(&resolve(directory.path(), &request).unwrap().plan));
        }
        let directory = project(&[("package-lock.json", ""), EXPO[1]]);
        for platform in [Platform::Android, Platform::Ios] {
            let request = request(platform, BuildType::Release, Distribution::Store);
            plans.push_str(&plan(&resolve(directory.path(), &request).unwrap().plan));
        }
    }
    let directory = project(CAPACITOR);
    add(directory.path(), &[("launchway.trust.json", "{}")]);
    let request = request(Platform::Android, BuildType::Release, Distribution::Store);
    plans.push_str(&plan(&resolve(directory.path(), &request).unwrap().plan));
    let tools = [
        "npm ",
        "npx ",
        "yarn ",
        "pnpm ",
        "bun ",
        "bundle ",
        "flutter ",
        "launchway ",
        "pod ",
        "xcodebuild ",
        ":app",
    ];
    let mut count = 0;
    for command in presets.split('`').skip(1).step_by(2) {
        if tools.iter().any(|tool| command.starts_with(tool)) && !["pnpm exec", "bundle exec"].contains(&command) {
            assert!(plans.contains(command), "no plan has `{command}`");
            count += 1;
        }
    }
    assert!(count > 25, "{count} commands were found");
}
