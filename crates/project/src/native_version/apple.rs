//! iOS and visionOS: `Info.plist`, and the Xcode project that it points to.

use launchway_domain::platform::Platform;

use crate::native_version::blocks::Reading;
use crate::native_version::scan::{Form, assigned, property_list_value};
use crate::native_version::{
    LocatedValue, NativeProject, Variant, good_build_number, good_bundle_id, good_version, xcode_id,
};
use crate::packages::join;
use crate::source::Source;

/// Possible directories of the Xcode project, besides `App` below them, which Capacitor uses.
const IOS: [&str; 3] = ["ios", "iosApp", ""];
const VISIONOS: [&str; 2] = ["visionos", ""];

/// Reads the Xcode project, and the property list of NativeScript's app resources.
pub fn read(project: &Source, platform: Platform, variant: &Variant) -> NativeProject {
    let (directories, plists): (&[&str], _) = match platform {
        Platform::Visionos => (&VISIONOS, ["App_Resources/visionOS/Info.plist"]),
        Platform::Ios | Platform::Android => (&IOS, ["App_Resources/iOS/Info.plist"]),
    };
    let mut plists: Vec<String> = plists.iter().map(|place| (*place).to_owned()).collect();
    let mut xcode = Vec::new();
    for directory in directories {
        for place in [join(directory, "App"), (*directory).to_owned()] {
            for name in project
                .names(&place)
                .iter()
                .filter_map(|name| name.strip_suffix(".xcodeproj"))
            {
                if name != "Pods" {
                    xcode.push(join(&place, &format!("{name}.xcodeproj/project.pbxproj")));
                    plists.push(join(&place, &format!("{name}/Info.plist")));
                }
            }
        }
    }
    let plists: Vec<&str> = plists.iter().map(String::as_str).collect();
    let in_plist = |name: &str, good: fn(String) -> Option<String>| {
        project.first(&plists, |text| property_list_value(text, name).and_then(good))
    };
    let in_xcode = |name: &str, good: fn(String) -> Option<String>| shared_value(project, &xcode, name, good);
    NativeProject {
        bundle_id: bundle_id(project, &xcode, platform, variant)
            .or_else(|| in_plist("CFBundleIdentifier", good_bundle_id)),
        version: in_plist("CFBundleShortVersionString", good_version)
            .or_else(|| in_xcode("MARKETING_VERSION", good_version)),
        build_number: in_plist("CFBundleVersion", good_build_number)
            .or_else(|| in_xcode("CURRENT_PROJECT_VERSION", good_build_number)),
    }
}

/// The identifier of the app in the first project.
fn bundle_id(project: &Source, places: &[String], platform: Platform, variant: &Variant) -> Option<LocatedValue> {
    for place in places {
        match xcode_id::bundle_id(project, place, variant, platform) {
            Reading::Plain(value) => {
                let place = place.clone();
                return good_bundle_id(value).map(|value| LocatedValue { value, place });
            }
            Reading::Unclear => return None,
            Reading::Absent => {}
        }
    }
    shared_value(project, places, "PRODUCT_BUNDLE_IDENTIFIER", good_bundle_id)
}

/// The value that all targets share. Extensions and tests do not count; their identifiers extend that of the app.
fn shared_value(
    project: &Source,
    places: &[String],
    name: &str,
    good: fn(String) -> Option<String>,
) -> Option<LocatedValue> {
    places.iter().find_map(|place| {
        let text = project.text(place)?;
        let mut values: Vec<_> = assigned(&text, name, Form::Bare).into_iter().filter_map(good).collect();
        values.sort_unstable();
        values.dedup();
        let shortest = values.iter().min_by_key(|value| value.len())?;
        let adds_to_it = |value: &String| value == shortest || value.starts_with(&format!("{shortest}."));
        let is_id = name == "PRODUCT_BUNDLE_IDENTIFIER";
        let clear = values.len() == 1 || (is_id && values.iter().all(adds_to_it));
        clear.then(|| LocatedValue {
            value: shortest.clone(),
            place: place.clone(),
        })
    })
}
