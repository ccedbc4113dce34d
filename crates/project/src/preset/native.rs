//! Projects without a framework: plain Gradle and plain Xcode.

use launchway_domain::platform::Platform;

use crate::framework::{self, Framework};
use crate::preset::{App, Preset, PresetError, android, apple};

pub fn gradle(app: &App<'_>) -> Result<Preset, PresetError> {
    if app.platform != Platform::Android {
        return Err(app.unsupported(Framework::Gradle));
    }
    let root = framework::gradle_root(app.source, app.directory).unwrap_or_default();
    let mut preset = Preset::default();
    preset.build.push(app.embed());
    android::gradle(app, &mut preset, root, false)?;
    Ok(preset)
}

pub fn xcode(app: &App<'_>) -> Result<Preset, PresetError> {
    if app.platform == Platform::Android {
        return Err(app.unsupported(Framework::Xcode));
    }
    let root = framework::xcode_root(app.source, app.directory).unwrap_or_default();
    let target = apple::find(app, root)?;
    let mut preset = Preset::default();
    apple::needs_mac(&mut preset);
    preset.build.push(app.embed());
    if app.has_file(&crate::packages::join(root, "Podfile")) {
        apple::pods(app, &mut preset, root);
    }
    apple::xcodebuild(app, &mut preset, &target);
    Ok(preset)
}
