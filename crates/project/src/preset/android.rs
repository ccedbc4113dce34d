//! What all Android builds have in common: Gradle, the init script that gives version and key, and the look at what came out.

use launchway_domain::build::Distribution;
use launchway_domain::build::plan::Step;

use crate::packages::join;
use crate::preset::{App, Preset, PresetError};
use crate::shell::quote;

const PREPARE: &str = include_str!("prepare_android.sh");
const INIT: &str = include_str!("launchway.init.gradle");
const NOTE_KEYSTORE: &str = include_str!("note_keystore.sh");
const CHECK_SIGNATURE: &str = include_str!("check_signature.sh");

/// How a module says that it makes an application: the plugin's id, or its usual names in a version catalog.
const PLUGIN: [&str; 3] = [
    "com.android.application",
    "plugins.android.application",
    "plugins.androidApplication",
];
/// Folders that are looked into for the module of the app.
const MOST_MODULES: usize = 200;

/// Finds the SDK; stands before everything that runs Gradle.
pub const FIND_SDK: &str = ". \"${TMPDIR:-/tmp}/launchway/android.sh\"\n";

/// Puts the init script where a Gradle finds it that is started by another tool, for as long as the step runs.
pub const FOR_ANY_GRADLE: &str = "\
init=\"${GRADLE_USER_HOME:-$HOME/.gradle}/init.d\"
mkdir -p \"$init\"
trap 'rm -f \"$init/launchway.gradle\"' EXIT
cp \"${TMPDIR:-/tmp}/launchway/init.gradle\" \"$init/launchway.gradle\"
";

/// Whether the build gives a bundle for the store rather than an APK.
pub fn is_bundle(app: &App<'_>) -> bool {
    app.distribution == Distribution::Store
}

/// Writes what the other steps use.
pub fn prepare(app: &App<'_>) -> Step {
    let note = if app.is_release() { NOTE_KEYSTORE } else { "" };
    app.step(
        "prepare signing",
        "",
        &format!("{}{note}", PREPARE.replace("@INIT@", INIT.trim_end())),
    )
}

/// Fails when what came out is meant for users and not signed.
pub fn check_signature(app: &App<'_>, outputs: &str) -> Step {
    app.step(
        "check signature",
        "",
        &CHECK_SIGNATURE.replace("@OUTPUTS@", &quote(outputs)),
    )
}

/// Adds the steps of a Gradle project that stands in `root` of the app. `may_come` says that an earlier step makes it.
///
/// # Errors
/// It has no wrapper.
pub fn gradle(app: &App<'_>, preset: &mut Preset, root: &str, may_come: bool) -> Result<(), PresetError> {
    let wrapper = join(root, "gradlew");
    if !may_come && !app.has_file(&wrapper) {
        return Err(PresetError::Missing(
            app.place(&wrapper),
            "Run 'gradle wrapper' in its directory, and commit the files that it makes.",
        ));
    }
    let module = module(app, root);
    let module = module.trim_matches(':');
    let (verb, folder, kind) = match is_bundle(app) {
        true => ("bundle", "bundle", "aab"),
        false => ("assemble", "apk", "apk"),
    };
    let flavor = app.profile.flavor.as_deref().unwrap_or_default();
    let mut letters = flavor.chars();
    let flavor: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect();
    let colon = if module.is_empty() { "" } else { ":" };
    let task = quote(&format!("{colon}{module}:{verb}{flavor}{}", app.variant()));
    preset.build.push(prepare(app));
    let script = format!(
        "{FIND_SDK}chmod +x gradlew\n./gradlew --no-daemon --console=plain --init-script \
         \"${{TMPDIR:-/tmp}}/launchway/init.gradle\" {task}"
    );
    preset.build.push(app.step("gradle", root, &script));
    let outputs = join(&join(root, &module.replace(':', "/")), "build/outputs");
    if app.is_release() {
        preset.build.push(check_signature(app, &outputs));
    }
    preset
        .artifacts
        .push(app.artifact(&format!("{outputs}/{folder}/**/*.{kind}"), kind));
    keep_downloads(app, preset, root, module);
    Ok(())
}

/// Keeps what Gradle downloads for as long as the file that most likely names the versions is the same.
fn keep_downloads(app: &App<'_>, preset: &mut Preset, root: &str, module: &str) {
    let lockfile = app.packages.and_then(|packages| packages.lockfile.clone());
    let script = |name: &str| join(&join(root, &module.replace(':', "/")), name);
    let places = [
        join(root, "gradle/libs.versions.toml"),
        script("build.gradle.kts"),
        script("build.gradle"),
    ];
    let found = places
        .iter()
        .find(|place| app.has_file(place))
        .map(|place| app.place(place));
    if let Some(file) = lockfile.or(found) {
        preset.keep("gradle", &file, &["~/.gradle/caches", "~/.gradle/wrapper"]);
    }
}

/// The module of the app: what the profile says, `app`, or the one that makes an application.
fn module(app: &App<'_>, root: &str) -> String {
    if let Some(module) = &app.profile.module {
        return module.clone();
    }
    let makes_application = |place: &str| {
        ["build.gradle", "build.gradle.kts"].iter().any(|name| {
            let text = app.text(&join(&join(root, place), name));
            text.is_some_and(|text| PLUGIN.iter().any(|plugin| text.contains(plugin)))
        })
    };
    let modules = app.names(root);
    let modules = modules.iter().take(MOST_MODULES);
    let mut others = modules.filter(|name| *name != "app" && makes_application(name));
    match (app.has_directory(&join(root, "app")), others.next()) {
        (true, _) => "app".to_owned(),
        (false, Some(name)) => name.clone(),
        (false, None) if makes_application("") => String::new(),
        (false, None) => "app".to_owned(),
    }
}
