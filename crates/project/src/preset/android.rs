//! The common parts of all Android builds: Gradle, the init script that sets version and key, and the check of the
//! output.

use launchway_domain::build::Distribution;
use launchway_domain::build::plan::Step;

use crate::packages::join;
use crate::preset::{App, Preset, PresetError};
use crate::shell::quote;

const PREPARE: &str = include_str!("prepare_android.sh");
const INIT: &str = include_str!("launchway.init.gradle");
const NOTE_KEYSTORE: &str = include_str!("note_keystore.sh");
const CHECK_SIGNATURE: &str = include_str!("check_signature.sh");

/// How a module declares an application: the id of the plugin, or its usual names in a version catalog.
const PLUGIN: [&str; 3] = [
    "com.android.application",
    "plugins.android.application",
    "plugins.androidApplication",
];
/// Directories that are searched for the module of the app.
const MOST_MODULES: usize = 200;

/// Finds the SDK. Precedes every command that runs Gradle.
pub const FIND_SDK: &str = ". \"${TMPDIR:-/tmp}/launchway/android.sh\"\n";

/// Installs the init script where a Gradle that another tool starts finds it, for the duration of the step.
pub const FOR_ANY_GRADLE: &str = "\
init=\"${GRADLE_USER_HOME:-$HOME/.gradle}/init.d\"
mkdir -p \"$init\"
trap 'rm -f \"$init/launchway.gradle\"' EXIT
cp \"${TMPDIR:-/tmp}/launchway/init.gradle\" \"$init/launchway.gradle\"
";

/// Whether the build produces a bundle for the store rather than an APK.
pub fn is_bundle(app: &App<'_>) -> bool {
    app.distribution == Distribution::Store
}

/// Writes files that the other steps use.
pub fn prepare(app: &App<'_>) -> Step {
    let note = if app.is_release() { NOTE_KEYSTORE } else { "" };
    app.step(
        "prepare signing",
        "",
        &format!("{}{note}", PREPARE.replace("@INIT@", INIT.trim_end())),
    )
}

/// Fails when the output is for users but is not signed.
pub fn check_signature(app: &App<'_>, outputs: &str) -> Step {
    app.step(
        "check signature",
        "",
        &CHECK_SIGNATURE.replace("@OUTPUTS@", &quote(outputs)),
    )
}

/// Adds the steps of a Gradle project in `root` of the app. With `may_come`, an earlier step may generate the project.
///
/// # Errors
/// The project has no Gradle wrapper.
pub fn gradle(app: &App<'_>, preset: &mut Preset, root: &str, may_come: bool) -> Result<(), PresetError> {
    let wrapper = join(root, "gradlew");
    if !may_come && !app.has_file(&wrapper) {
        return Err(PresetError::Missing(
            app.place(&wrapper),
            "Run `gradle wrapper` in its directory, and commit the files that it creates",
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

/// Keeps Gradle's downloads for as long as the file that most likely has the versions does not change.
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

/// The module of the app: that of the profile, `app`, or the one that declares an application.
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
