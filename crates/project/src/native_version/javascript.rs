//! Reads the files of JavaScript frameworks beside the native projects: Capacitor, NativeScript, Expo and
//! `package.json`.

use launchway_domain::platform::Platform;
use serde_json::Value;

use crate::framework::Framework;
use crate::native_version::blocks::{Reading, assignment, statements};
use crate::native_version::{LocatedValue, NativeProject, good_build_number, good_bundle_id, good_version};
use crate::source::Source;

pub fn read(project: &Source, platform: Platform) -> NativeProject {
    let expo_build = match platform {
        Platform::Android => "/expo/android/versionCode",
        Platform::Ios | Platform::Visionos => "/expo/ios/buildNumber",
    };
    NativeProject {
        bundle_id: capacitor_id(project)
            .or_else(|| nativescript_id(project, platform))
            .or_else(|| expo_id(project, platform)),
        version: json(project, "app.json", "/expo/version", good_version)
            .or_else(|| json(project, "package.json", "/version", good_version)),
        build_number: json(project, "app.json", expo_build, good_build_number),
    }
}

fn json(project: &Source, place: &str, pointer: &str, good: fn(String) -> Option<String>) -> Option<LocatedValue> {
    project.first(&[place], |text| {
        let value: Value = serde_json::from_str(text).ok()?;
        match value.pointer(pointer)? {
            Value::String(text) => good(text.clone()),
            Value::Number(number) => good(number.to_string()),
            _ => None,
        }
    })
}

/// The configuration file that the framework's tools read; they ignore the others.
fn config(project: &Source, framework: Framework) -> Option<&'static str> {
    framework.configs(project, "").into_iter().flatten().next()
}

/// The identifier, which is the same on all platforms.
fn capacitor_id(project: &Source) -> Option<LocatedValue> {
    let config = config(project, Framework::Capacitor)?;
    if config.ends_with(".json") {
        return json(project, config, "/appId", good_bundle_id);
    }
    in_script(project, config, |_| true, "appId").ok().flatten()
}

/// The identifier in the block of the platform, or else the common one.
fn nativescript_id(project: &Source, platform: Platform) -> Option<LocatedValue> {
    let config = config(project, Framework::NativeScript)?;
    let is_own = |blocks: &[String]| blocks.last().is_some_and(|block| block == platform.as_str());
    match in_script(project, config, is_own, "id") {
        Ok(Some(found)) => Some(found),
        Ok(None) => in_script(project, config, |blocks| blocks.len() == 1, "id")
            .ok()
            .flatten(),
        Err(ComputedValueError) => None,
    }
}

/// A script wins over the JSON, from which it is usually derived.
fn expo_id(project: &Source, platform: Platform) -> Option<LocatedValue> {
    let (block, key) = match platform {
        Platform::Android => ("android", "package"),
        Platform::Ios | Platform::Visionos => ("ios", "bundleIdentifier"),
    };
    let is_own = |blocks: &[String]| blocks.last().is_some_and(|name| name == block);
    for place in Framework::Expo.configs(project, "").into_iter().flatten() {
        if place.ends_with(".json") {
            let pointers = [format!("/expo/{block}/{key}"), format!("/{block}/{key}")];
            return pointers
                .iter()
                .find_map(|pointer| json(project, place, pointer, good_bundle_id));
        }
        match in_script(project, place, is_own, key) {
            Ok(Some(found)) => return Some(found),
            Ok(None) => {}
            Err(ComputedValueError) => return None,
        }
    }
    None
}

/// Only executing the script would show the value.
struct ComputedValueError;

/// The value that a script assigns to `key` in blocks of this kind, if all assignments agree.
fn in_script(
    project: &Source,
    place: &'static str,
    is_block: impl Fn(&[String]) -> bool,
    key: &str,
) -> Result<Option<LocatedValue>, ComputedValueError> {
    let mut found: Option<String> = None;
    let mut unclear = false;
    statements(&project.text(place).unwrap_or_default(), |blocks, statement| {
        if !is_block(blocks) {
            return;
        }
        match assignment(statement, key) {
            Reading::Absent => {}
            Reading::Unclear => unclear = true,
            Reading::Plain(text) => match &found {
                Some(other) => unclear |= *other != text,
                None => found = Some(text),
            },
        }
    });
    match unclear {
        true => Err(ComputedValueError),
        false => Ok(found.and_then(good_bundle_id).map(|value| LocatedValue {
            value,
            place: place.to_owned(),
        })),
    }
}
