//! Android: the app's Gradle file, or the manifest in NativeScript's app resources.

use crate::native_version::blocks::Reading;
use crate::native_version::gradle_id::application_id;
use crate::native_version::scan::{Form, assigned};
use crate::native_version::{LocatedValue, NativeProject, Variant, good_build_number, good_bundle_id, good_version};
use crate::packages::join;
use crate::source::Source;

/// Possible directories of the Gradle project.
const ROOTS: [&str; 2] = ["android", ""];
const APP_RESOURCES: &str = "App_Resources/Android/app.gradle";
const MANIFEST: &str = "App_Resources/Android/src/main/AndroidManifest.xml";

pub fn read(project: &Source, variant: &Variant) -> NativeProject {
    let module = variant
        .module
        .as_deref()
        .unwrap_or("app")
        .trim_matches(':')
        .replace(':', "/");
    let script = |root: &str, name: &str| join(&join(root, &module), name);
    let scripts = ROOTS.map(|root| [script(root, "build.gradle"), script(root, "build.gradle.kts")]);
    let scripts: Vec<&str> = scripts
        .iter()
        .flatten()
        .map(String::as_str)
        .chain([APP_RESOURCES])
        .collect();
    let gradle = |name, form, good: fn(String) -> Option<String>| {
        project.first(&scripts, |text| assigned(text, name, form).into_iter().find_map(good))
    };
    let manifest = |name, good: fn(String) -> Option<String>| {
        project.first(&[MANIFEST], |text| {
            assigned(text, name, Form::Quoted).into_iter().find_map(good)
        })
    };
    NativeProject {
        bundle_id: bundle_id(project, &scripts, variant),
        version: gradle("versionName", Form::Quoted, good_version)
            .or_else(|| manifest("android:versionName", good_version)),
        build_number: gradle("versionCode", Form::Bare, good_build_number)
            .or_else(|| manifest("android:versionCode", good_build_number)),
    }
}

/// The identifier of the first file that sets one. An identifier that only Gradle can compute hides later files.
fn bundle_id(project: &Source, scripts: &[&str], variant: &Variant) -> Option<LocatedValue> {
    for place in scripts {
        match application_id(&project.text(place).unwrap_or_default(), variant) {
            Reading::Plain(value) => {
                let place = (*place).to_owned();
                return good_bundle_id(value).map(|value| LocatedValue { value, place });
            }
            Reading::Unclear => return None,
            Reading::Absent => {}
        }
    }
    None
}
