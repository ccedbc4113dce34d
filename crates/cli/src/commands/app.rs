//! Which app a command is about: from a flag, the project's settings or, where neither says, the native project.

use std::str::FromStr;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_project::native_version::{self, Found, NativeProject};
use launchway_project::resolve::{AppPlace, app_place};

use crate::context::Context;
use crate::failure::Failure;

/// Where the app of the project here is: of the profile that is told, or that a build would take. Fails when the profiles mean
/// several.
pub fn place(platform: Platform, profile: Option<&str>, context: &Context) -> Result<AppPlace, Failure> {
    let profiles = &context.settings.project.build;
    app_place(profiles, profile, platform).map_err(|error| {
        // Failures of the command line have no full stop.
        Failure::usage(error.to_string().trim_end_matches('.')).hint("name a profile with --profile")
    })
}

/// What the native project of that app says.
pub fn native(platform: Platform, profile: Option<&str>, context: &Context) -> Result<NativeProject, Failure> {
    let place = place(platform, profile, context)?;
    let root = context.settings.root.join(place.directory);
    Ok(native_version::read(&root, platform))
}

/// The bundle identifier. Fails when nothing names one.
pub fn bundle_id(told: Option<&BundleId>, native: &NativeProject, context: &Context) -> Result<String, Failure> {
    let in_project = context.settings.project.app.bundle_id.as_deref();
    match (told, in_project, &native.bundle_id) {
        (Some(told), _, _) => Ok(told.to_string()),
        (None, Some(text), _) => match BundleId::from_str(text) {
            Ok(told) => Ok(told.to_string()),
            Err(problem) => Err(Failure::usage(format!("bundle_id in launchway.toml: {problem}"))),
        },
        (None, None, Some(found)) => Ok(taken("App", found, context)),
        (None, None, None) => Err(Failure::usage("no app is named, and no native project here names one")
            .hint("give --bundle-id ID, or write bundle_id below [app] in launchway.toml")),
    }
}

/// Takes a value from the native project and says so.
pub fn taken(what: &str, found: &Found, context: &Context) -> String {
    context
        .printer
        .note(&format!("{what} {} is from {}", found.value, found.place));
    found.value.clone()
}
