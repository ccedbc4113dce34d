//! The common parts of all Apple builds: pods, signing, `xcodebuild`, and the archive for simulators.

use launchway_domain::build::Distribution;
use launchway_domain::build::plan::Step;
use launchway_domain::platform::Platform;

use crate::packages::join;
use crate::preset::{App, Preset, PresetError};
use crate::shell::quote;

const PREPARE: &str = include_str!("prepare_apple.sh");
const SIGN: &str = include_str!("sign_apple.sh");

/// The app that a build produces, relative to the directory of the app.
pub const OUTPUT: &str = "build/launchway";
/// Reads the settings and the key. Afterwards `"$@"` has options for `xcodebuild`.
pub const USE_SIGNING: &str = ". \"${TMPDIR:-/tmp}/launchway/apple.sh\"\n";
/// Removes the keychain when the step ends.
pub const REMOVE_KEYCHAIN: &str = "trap remove_keychain EXIT\n";

/// Finds the project that an earlier step generated.
const FIND_PROJECT: &str = "\
found=$(find @ROOT@ -maxdepth 1 -name '*.xcworkspace' | sort | head -n 1)
option=-workspace
if [ -z \"$found\" ]; then
    found=$(find @ROOT@ -maxdepth 1 -name '*.xcodeproj' -not -name Pods.xcodeproj | sort | head -n 1)
    option=-project
fi
";

/// The target of `xcodebuild`.
pub enum Target {
    /// Options for a workspace or project, and the scheme; both quoted.
    Known {
        /// `-workspace …` or `-project …`.
        container: String,
        /// The scheme.
        scheme: String,
    },
    /// A project that an earlier step generates in this directory, and the scheme if one is named, quoted.
    MadeIn(&'static str, Option<String>),
}

/// Whether the build produces an app for a simulator.
pub fn is_for_simulator(app: &App<'_>) -> bool {
    app.distribution == Distribution::Simulator
}

/// Adds the label that requires a Mac.
pub fn needs_mac(preset: &mut Preset) {
    preset.labels.push("os=macos".to_owned());
}

/// Writes settings, and reads keys and profiles from the credentials.
pub fn prepare(app: &App<'_>) -> Step {
    let (method, distribution, identity) = match app.distribution {
        Distribution::Store => ("app-store-connect", "store", "Distribution"),
        Distribution::Internal => ("release-testing", "internal", "Distribution"),
        Distribution::Development | Distribution::Simulator => ("debugging", "development", "Develop"),
    };
    let sign = SIGN
        .replace("@METHOD@", method)
        .replace("@DISTRIBUTION@", distribution)
        .replace("@IDENTITY@", identity);
    match is_for_simulator(app) {
        true => app.step("prepare build", "", PREPARE),
        false => app.step("prepare signing", "", &format!("{PREPARE}{sign}")),
    }
}

/// Adds `pod install`, and keeps its downloads.
pub fn pods(app: &App<'_>, preset: &mut Preset, root: &str) {
    let bundler = app.text("Gemfile").is_some_and(|text| text.contains("cocoapods"));
    let script = match bundler {
        true => format!(
            "export BUNDLE_PATH=\"$HOME/.bundle/gems\"\nbundle install\ncd -- {}\nbundle exec pod install",
            quote(root)
        ),
        false => format!("cd -- {}\npod install", quote(root)),
    };
    preset.build.push(app.step("install pods", "", &script));
    let lockfile = join(root, "Podfile.lock");
    if app.has_file(&lockfile) {
        preset.keep("pods", &app.place(&lockfile), &["~/Library/Caches/CocoaPods"]);
    }
}

/// Finds the target in a directory of the app.
///
/// # Errors
/// There is none, or there are several.
pub fn find(app: &App<'_>, root: &str) -> Result<Target, PresetError> {
    let names = app.names(root);
    let stems = |ending: &str| -> Vec<String> {
        let stems = names.iter().filter_map(|name| name.strip_suffix(ending));
        stems.filter(|stem| *stem != "Pods").map(str::to_owned).collect()
    };
    let (workspaces, projects) = (stems(".xcworkspace"), stems(".xcodeproj"));
    let has_pods = app.has_file(&join(root, "Podfile"));
    let (stem, ending, option) = match (&workspaces[..], &projects[..]) {
        ([workspace], _) => (workspace, "xcworkspace", "-workspace"),
        // `pod install` generates it.
        ([], [project]) if has_pods => (project, "xcworkspace", "-workspace"),
        ([], [project]) => (project, "xcodeproj", "-project"),
        ([], []) => {
            return Err(PresetError::Missing(
                app.place(&join(root, "*.xcodeproj")),
                "Commit the Xcode project, or define steps in launchway.toml",
            ));
        }
        (found, _) => {
            return Err(PresetError::Several {
                what: "Xcode projects",
                found: if found.is_empty() {
                    projects.clone()
                } else {
                    found.to_vec()
                },
                fix: "Define steps in launchway.toml",
            });
        }
    };
    let container = format!("{option} {}", quote(&join(root, &format!("{stem}.{ending}"))));
    let scheme = quote(&scheme(app, root, stem, &projects)?);
    Ok(Target::Known { container, scheme })
}

/// The scheme: that of the profile, the one with the name of the project, or the only shared one.
fn scheme(app: &App<'_>, root: &str, stem: &str, projects: &[String]) -> Result<String, PresetError> {
    if let Some(scheme) = &app.profile.scheme {
        return Ok(scheme.clone());
    }
    let containers = projects.iter().map(|project| format!("{project}.xcodeproj"));
    let mut shared: Vec<String> = containers
        .chain([format!("{stem}.xcworkspace")])
        .flat_map(|container| app.names(&join(root, &format!("{container}/xcshareddata/xcschemes"))))
        .filter_map(|name| name.strip_suffix(".xcscheme").map(str::to_owned))
        .collect();
    shared.sort_unstable();
    shared.dedup();
    match &shared[..] {
        [only] => Ok(only.clone()),
        [] => Ok(stem.to_owned()),
        _ if shared.iter().any(|name| name == stem) => Ok(stem.to_owned()),
        _ => Err(PresetError::Several {
            what: "schemes",
            found: shared,
            fix: "Set scheme in [build.<profile>] of launchway.toml to one of them",
        }),
    }
}

/// Adds the steps that build with `xcodebuild`, and their artifacts.
pub fn xcodebuild(app: &App<'_>, preset: &mut Preset, target: &Target) {
    preset.build.push(prepare(app));
    let (find, container, scheme) = match target {
        Target::Known { container, scheme } => (String::new(), container.clone(), scheme.clone()),
        Target::MadeIn(root, scheme) => (
            FIND_PROJECT.replace("@ROOT@", root),
            "\"$option\" \"$found\"".to_owned(),
            scheme
                .clone()
                .unwrap_or_else(|| "\"$(basename \"${found%.*}\")\"".to_owned()),
        ),
    };
    let what = format!("{container} -scheme {scheme} -configuration {}", app.variant());
    let device = match app.platform {
        Platform::Visionos => "visionOS",
        Platform::Ios | Platform::Android => "iOS",
    };
    if is_for_simulator(app) {
        let build = format!(
            "{USE_SIGNING}{find}xcodebuild build {what} -destination 'generic/platform={device} Simulator' \
             -derivedDataPath \"$work/derived\" CODE_SIGNING_ALLOWED=NO"
        );
        preset.build.push(app.step("build", "", &build));
        preset.build.push(pack(
            app,
            "\"${TMPDIR:-/tmp}\"/launchway/derived/Build/Products/*/*.app",
        ));
        preset.artifacts.push(app.artifact(&format!("{OUTPUT}/*.zip"), "app"));
        return;
    }
    let archive = format!(
        "{USE_SIGNING}{find}xcodebuild archive {what} -destination 'generic/platform={device}' \
         -archivePath \"$work/app.xcarchive\" -derivedDataPath \"$work/derived\" \"$@\""
    );
    preset.build.push(app.step("archive", "", &archive));
    let export = format!(
        "{USE_SIGNING}{REMOVE_KEYCHAIN}xcodebuild -exportArchive -archivePath \"$work/app.xcarchive\" \
         -exportOptionsPlist \"$work/ExportOptions.plist\" -exportPath {OUTPUT} \"$@\""
    );
    preset.build.push(app.step("export", "", &export));
    preset.artifacts.push(app.artifact(&format!("{OUTPUT}/*.ipa"), "ipa"));
}

/// Archives the app directories that a shell pattern matches, because an artifact must be a file.
pub fn pack(app: &App<'_>, pattern: &str) -> Step {
    let script = format!(
        "mkdir -p {OUTPUT}\nfor app in {pattern}; do\n    \
         ditto -c -k --keepParent \"$app\" \"{OUTPUT}/$(basename \"$app\").zip\"\ndone"
    );
    app.step("pack", "", &script)
}
