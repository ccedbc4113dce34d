//! Capacitor, with or without Ionic: the web app is built and copied into the native project, which is then built.

use launchway_domain::platform::Platform;

use crate::framework::Framework;
use crate::preset::{App, Preset, PresetError, android, apple};

pub fn preset(app: &App<'_>) -> Result<Preset, PresetError> {
    if app.platform == Platform::Visionos {
        return Err(app.unsupported(Framework::Capacitor));
    }
    let Some(packages) = app.packages.filter(|packages| packages.can_run("@capacitor/cli")) else {
        return Err(PresetError::Missing(
            "@capacitor/cli".to_owned(),
            "Add it to the devDependencies of package.json",
        ));
    };
    let mut preset = Preset::default();
    preset.install_packages(packages);
    if packages.value("/scripts/build").is_some() {
        preset
            .build
            .push(app.step("build web app", "", &packages.script("build")));
    }
    let (platform, exec) = (app.platform, packages.exec());
    let is_made = !app.has_directory(platform.as_str());
    let add = if is_made {
        format!("{exec} cap add {platform}\n")
    } else {
        String::new()
    };
    let sync = format!("{add}{exec} cap sync {platform}");
    preset.build.push(app.step("sync native project", "", &sync));
    preset.build.push(app.embed());
    match platform {
        Platform::Android => android::gradle(app, &mut preset, "android", is_made)?,
        Platform::Ios | Platform::Visionos => {
            apple::needs_mac(&mut preset);
            let target = match is_made {
                true => apple::Target::MadeIn("ios/App", app.profile.scheme.as_deref().map(crate::shell::quote)),
                false => apple::find(app, "ios/App")?,
            };
            apple::xcodebuild(app, &mut preset, &target);
        }
    }
    Ok(preset)
}
