//! What the JavaScript frameworks write beside the native projects: Capacitor, NativeScript, Expo and `package.json`.

use launchway_domain::platform::Platform;
use serde_json::Value;

use crate::framework::Framework;
use crate::native_version::scan::{Form, assigned};
use crate::native_version::{NativeProject, good_build_number, good_bundle_id, good_version};
use crate::source::Source;

pub fn read(project: &Source, platform: Platform) -> NativeProject {
    let json = |place: &str, pointer: &str, good: fn(String) -> Option<String>| {
        project.first(&[place], |text| {
            let value: Value = serde_json::from_str(text).ok()?;
            match value.pointer(pointer)? {
                Value::String(text) => good(text.clone()),
                Value::Number(number) => good(number.to_string()),
                _ => None,
            }
        })
    };
    let script = |places: &[&str], name: &str| {
        project.first(places, |text| {
            assigned(text, name, Form::Quoted).into_iter().find_map(good_bundle_id)
        })
    };
    // The tools read only one of them, and what the others say is of no use.
    let capacitor = Framework::Capacitor.configs(project, "").into_iter().flatten().next();
    let (expo_id, expo_build) = match platform {
        Platform::Android => ("/expo/android/package", "/expo/android/versionCode"),
        Platform::Ios | Platform::Visionos => ("/expo/ios/bundleIdentifier", "/expo/ios/buildNumber"),
    };
    NativeProject {
        bundle_id: capacitor
            .and_then(|config| match config.ends_with(".json") {
                true => json(config, "/appId", good_bundle_id),
                false => script(&[config], "appId"),
            })
            .or_else(|| script(&["nativescript.config.ts", "nativescript.config.js"], "id"))
            .or_else(|| json("app.json", expo_id, good_bundle_id)),
        version: json("app.json", "/expo/version", good_version)
            .or_else(|| json("package.json", "/version", good_version)),
        build_number: json("app.json", expo_build, good_build_number),
    }
}
