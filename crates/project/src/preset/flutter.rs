//! Flutter, whose command line runs Gradle and Xcode itself.

use launchway_domain::platform::Platform;

use crate::framework::Framework;
use crate::preset::{App, Preset, PresetError, android, apple};
use crate::shell::quote;

/// Adds the version and build number to `"$@"`.
const VERSION: &str = "\
if [ -n \"${LAUNCHWAY_VERSION:-}\" ]; then set -- \"$@\" --build-name=\"$LAUNCHWAY_VERSION\"; fi
if [ -n \"${LAUNCHWAY_BUILD_NUMBER:-}\" ]; then set -- \"$@\" --build-number=\"$LAUNCHWAY_BUILD_NUMBER\"; fi
";

pub fn preset(app: &App<'_>) -> Result<Preset, PresetError> {
    let mut preset = Preset::default();
    preset.install.push(app.step("install packages", "", "flutter pub get"));
    if app.has_file("pubspec.lock") {
        preset.keep("packages", &app.place("pubspec.lock"), &["~/.pub-cache"]);
    }
    preset.build.push(app.embed());
    let flavor = match &app.profile.flavor {
        Some(flavor) => format!(" --flavor {}", quote(flavor)),
        None => String::new(),
    };
    match app.platform {
        Platform::Android => for_android(app, &mut preset, &flavor),
        Platform::Ios => for_ios(app, &mut preset, &flavor),
        Platform::Visionos => return Err(app.unsupported(Framework::Flutter)),
    }
    Ok(preset)
}

fn for_android(app: &App<'_>, preset: &mut Preset, flavor: &str) {
    let (what, outputs, kind) = match android::is_bundle(app) {
        true => ("appbundle", "build/app/outputs/bundle/**/*.aab", "aab"),
        false => ("apk", "build/app/outputs/flutter-apk/*.apk", "apk"),
    };
    preset.build.push(android::prepare(app));
    let script = format!(
        "{}{}set --\n{VERSION}flutter build {what} --{}{flavor} \"$@\"",
        android::FIND_SDK,
        android::FOR_ANY_GRADLE,
        app.build_type
    );
    preset.build.push(app.step("build", "", &script));
    if app.is_release() {
        preset.build.push(android::check_signature(app, "build/app/outputs"));
    }
    preset.artifacts.push(app.artifact(outputs, kind));
    if app.has_file("pubspec.lock") {
        preset.keep(
            "gradle",
            &app.place("pubspec.lock"),
            &["~/.gradle/caches", "~/.gradle/wrapper"],
        );
    }
}

fn for_ios(app: &App<'_>, preset: &mut Preset, flavor: &str) {
    apple::needs_mac(preset);
    preset.build.push(apple::prepare(app));
    if apple::is_for_simulator(app) {
        // Simulators run only debug builds of Flutter.
        let script = format!(
            "{}{VERSION}flutter build ios --simulator --debug{flavor} \"$@\"",
            apple::USE_SIGNING
        );
        preset.build.push(app.step("build", "", &script));
        preset.build.push(apple::pack(app, "build/ios/iphonesimulator/*.app"));
        preset
            .artifacts
            .push(app.artifact(&format!("{}/*.zip", apple::OUTPUT), "app"));
        return;
    }
    let script = format!(
        "{}{}set --\n{VERSION}flutter build ipa --{}{flavor} --export-options-plist=\"$work/ExportOptions.plist\" \"$@\"",
        apple::USE_SIGNING,
        apple::REMOVE_KEYCHAIN,
        app.build_type
    );
    preset.build.push(app.step("build", "", &script));
    preset.artifacts.push(app.artifact("build/ios/ipa/*.ipa", "ipa"));
}
