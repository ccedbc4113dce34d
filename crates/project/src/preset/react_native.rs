//! React Native, and Expo, which may generate the native projects.

use launchway_domain::platform::Platform;

use crate::framework::Framework;
use crate::packages::Packages;
use crate::preset::{App, Preset, PresetError, android, apple};
use crate::shell::quote;

pub fn expo(app: &App<'_>) -> Result<Preset, PresetError> {
    let packages = packages(app)?;
    if app.platform == Platform::Visionos {
        return Err(app.unsupported(Framework::Expo));
    }
    let mut preset = Preset::default();
    preset.install_packages(packages);
    let platform = app.platform;
    if app.has_directory(platform.as_str()) {
        native(app, &mut preset)?;
        return Ok(preset);
    }
    let prebuild = format!("{} expo prebuild --platform {platform} --no-install", packages.exec());
    preset.build.push(app.step("prebuild", "", &prebuild));
    preset.build.push(app.embed_generated());
    match platform {
        Platform::Android => android::gradle(app, &mut preset, "android", true)?,
        Platform::Ios | Platform::Visionos => {
            apple::needs_mac(&mut preset);
            apple::pods(app, &mut preset, "ios");
            let scheme = app.profile.scheme.as_deref().map(quote);
            apple::xcodebuild(app, &mut preset, &apple::Target::MadeIn("ios", scheme));
        }
    }
    Ok(preset)
}

pub fn bare(app: &App<'_>) -> Result<Preset, PresetError> {
    let mut preset = Preset::default();
    preset.install_packages(packages(app)?);
    native(app, &mut preset)?;
    Ok(preset)
}

/// Builds the existing native project, which bundles the scripts itself.
fn native(app: &App<'_>, preset: &mut Preset) -> Result<(), PresetError> {
    let root = app.platform.as_str();
    preset.build.push(app.embed());
    if app.platform == Platform::Android {
        return android::gradle(app, preset, root, false);
    }
    apple::needs_mac(preset);
    let target = apple::find(app, root)?;
    if app.has_file(&format!("{root}/Podfile")) {
        apple::pods(app, preset, root);
    }
    apple::xcodebuild(app, preset, &target);
    Ok(())
}

fn packages<'a>(app: &App<'a>) -> Result<&'a Packages, PresetError> {
    let missing = || PresetError::Missing(app.place("package.json"), "Commit it with its lockfile");
    app.packages.ok_or_else(missing)
}
