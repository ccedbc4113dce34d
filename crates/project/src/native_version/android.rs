//! Android: the app's Gradle file, or the manifest in NativeScript's app resources.

use crate::native_version::scan::{Form, assigned};
use crate::native_version::{NativeProject, good_build_number, good_bundle_id, good_version};
use crate::source::Source;

const GRADLE: [&str; 3] = [
    "android/app/build.gradle",
    "android/app/build.gradle.kts",
    "App_Resources/Android/app.gradle",
];
const MANIFEST: &str = "App_Resources/Android/src/main/AndroidManifest.xml";

pub fn read(project: &Source) -> NativeProject {
    let gradle = |name, form, good: fn(String) -> Option<String>| {
        project.first(&GRADLE, |text| assigned(text, name, form).into_iter().find_map(good))
    };
    let manifest = |name, good: fn(String) -> Option<String>| {
        project.first(&[MANIFEST], |text| {
            assigned(text, name, Form::Quoted).into_iter().find_map(good)
        })
    };
    NativeProject {
        bundle_id: gradle("applicationId", Form::Quoted, good_bundle_id),
        version: gradle("versionName", Form::Quoted, good_version)
            .or_else(|| manifest("android:versionName", good_version)),
        build_number: gradle("versionCode", Form::Bare, good_build_number)
            .or_else(|| manifest("android:versionCode", good_build_number)),
    }
}
