//! NativeScript, whose command line generates the native projects and builds them.

use launchway_domain::platform::Platform;

use crate::preset::{App, Preset, PresetError, android, apple, ns};

const NEEDS_KEYSTORE: &str = "\
if [ -z \"${LAUNCHWAY_ANDROID_KEYSTORE:-}\" ]; then
    echo 'NativeScript needs a signing key for releases. Add an Android keystore to the credentials.' >&2
    exit 1
fi
";

/// The command line requires passwords as arguments, which others could read; the init script has the real ones.
const KEYSTORE: &str = " --key-store-path \"$LAUNCHWAY_ANDROID_KEYSTORE\" \
    --key-store-password in-the-environment --key-store-alias \"$LAUNCHWAY_ANDROID_KEYSTORE_KEY_ALIAS\" \
    --key-store-alias-password in-the-environment";

pub fn preset(app: &App<'_>) -> Result<Preset, PresetError> {
    let Some(packages) = app.packages else {
        return Err(PresetError::Missing(
            app.place("package.json"),
            "Commit it with its lockfile",
        ));
    };
    let mut preset = Preset::default();
    preset.install_packages(packages);
    let ns = ns(packages);
    if ns == "ns" {
        let script = "if ! command -v ns > /dev/null; then\n    \
            echo 'The command ns is not installed. Add nativescript to the devDependencies, or install it on the runner.' >&2\n    \
            exit 1\nfi";
        preset.install.push(app.step("find NativeScript", "", script));
    }
    preset.build.push(app.embed());
    let release = if app.is_release() { " --release" } else { "" };
    match app.platform {
        Platform::Android => for_android(app, &mut preset, &ns, release),
        Platform::Ios => for_ios(app, &mut preset, &ns, release),
        Platform::Visionos => {
            // `ns build` does not support it.
            apple::needs_mac(&mut preset);
            let prepare = app.step("prepare native project", "", &format!("{ns} prepare visionos{release}"));
            preset.build.push(prepare);
            let scheme = app.profile.scheme.as_deref().map(crate::shell::quote);
            apple::xcodebuild(app, &mut preset, &apple::Target::MadeIn("platforms/visionos", scheme));
        }
    }
    Ok(preset)
}

fn for_android(app: &App<'_>, preset: &mut Preset, ns: &str, release: &str) {
    let (bundle, folder, kind) = match android::is_bundle(app) {
        true => (" --aab", "bundle", "aab"),
        false => ("", "apk", "apk"),
    };
    let key = if app.is_release() { KEYSTORE } else { "" };
    if app.is_release() {
        // Fail immediately rather than after minutes of work.
        preset.install.insert(0, app.step("find keystore", "", NEEDS_KEYSTORE));
    }
    preset.build.push(android::prepare(app));
    let script = format!(
        "{}{}{ns} build android{release}{bundle}{key}",
        android::FIND_SDK,
        android::FOR_ANY_GRADLE
    );
    preset.build.push(app.step("build", "", &script));
    let outputs = "platforms/android/app/build/outputs";
    if app.is_release() {
        preset.build.push(android::check_signature(app, outputs));
    }
    preset
        .artifacts
        .push(app.artifact(&format!("{outputs}/{folder}/**/*.{kind}"), kind));
    if let Some(lockfile) = app.packages.and_then(|packages| packages.lockfile.as_ref()) {
        preset.keep("gradle", lockfile, &["~/.gradle/caches", "~/.gradle/wrapper"]);
    }
}

fn for_ios(app: &App<'_>, preset: &mut Preset, ns: &str, release: &str) {
    apple::needs_mac(preset);
    preset.build.push(apple::prepare(app));
    let output = "platforms/ios/build";
    if apple::is_for_simulator(app) {
        let script = format!("{}{ns} build ios{release}", apple::USE_SIGNING);
        preset.build.push(app.step("build", "", &script));
        preset
            .build
            .push(apple::pack(app, &format!("{output}/*-iphonesimulator/*.app")));
        preset
            .artifacts
            .push(app.artifact(&format!("{}/*.zip", apple::OUTPUT), "app"));
        return;
    }
    let script = format!(
        "{}{}set --\nif [ -e \"$work/main-profile\" ]; then set -- --provision \"$(cat \"$work/main-profile\")\"; fi\n\
         {ns} build ios --for-device{release} \"$@\"",
        apple::USE_SIGNING,
        apple::REMOVE_KEYCHAIN
    );
    preset.build.push(app.step("build", "", &script));
    preset
        .artifacts
        .push(app.artifact(&format!("{output}/*-iphoneos/*.ipa"), "ipa"));
}
