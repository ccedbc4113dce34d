//! Which app a command is about: from a flag, the project's settings or, where neither says, the native project.

use std::str::FromStr;

use launchway_domain::bundle_id::BundleId;
use launchway_project::native_version::{Found, NativeProject};

use crate::context::Context;
use crate::failure::Failure;

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
