//! iOS and visionOS: `Info.plist`, and the Xcode project that it points to.

use crate::native_version::scan::{Form, assigned, in_property_list};
use crate::native_version::{Found, NativeProject, good_build_number, good_bundle_id, good_version};
use crate::source::Source;

/// Reads the Xcode project below one of `directories` (`ios/App`, as Capacitor has it, or `ios`), and `plists`.
pub fn read(project: &Source, directories: &[&str], plists: &[&str]) -> NativeProject {
    let mut plists: Vec<String> = plists.iter().map(|place| (*place).to_owned()).collect();
    let mut xcode = Vec::new();
    for directory in directories {
        for place in [format!("{directory}/App"), (*directory).to_owned()] {
            for name in project
                .names(&place)
                .iter()
                .filter_map(|name| name.strip_suffix(".xcodeproj"))
            {
                if name != "Pods" {
                    xcode.push(format!("{place}/{name}.xcodeproj/project.pbxproj"));
                    plists.push(format!("{place}/{name}/Info.plist"));
                }
            }
        }
    }
    let plists: Vec<&str> = plists.iter().map(String::as_str).collect();
    let in_plist = |name: &str, good: fn(String) -> Option<String>| {
        project.first(&plists, |text| in_property_list(text, name).and_then(good))
    };
    let in_xcode = |name: &str, good: fn(String) -> Option<String>| the_one(project, &xcode, name, good);
    NativeProject {
        bundle_id: in_xcode("PRODUCT_BUNDLE_IDENTIFIER", good_bundle_id)
            .or_else(|| in_plist("CFBundleIdentifier", good_bundle_id)),
        version: in_plist("CFBundleShortVersionString", good_version)
            .or_else(|| in_xcode("MARKETING_VERSION", good_version)),
        build_number: in_plist("CFBundleVersion", good_build_number)
            .or_else(|| in_xcode("CURRENT_PROJECT_VERSION", good_build_number)),
    }
}

/// The value that all targets share. Extensions and tests, whose identifiers only add to the app's, do not count.
fn the_one(project: &Source, places: &[String], name: &str, good: fn(String) -> Option<String>) -> Option<Found> {
    places.iter().find_map(|place| {
        let text = project.text(place)?;
        let mut values: Vec<_> = assigned(&text, name, Form::Bare).into_iter().filter_map(good).collect();
        values.sort_unstable();
        values.dedup();
        let shortest = values.iter().min_by_key(|value| value.len())?;
        let adds_to_it = |value: &String| value == shortest || value.starts_with(&format!("{shortest}."));
        let is_id = name == "PRODUCT_BUNDLE_IDENTIFIER";
        let clear = values.len() == 1 || (is_id && values.iter().all(adds_to_it));
        clear.then(|| Found {
            value: shortest.clone(),
            place: place.clone(),
        })
    })
}
