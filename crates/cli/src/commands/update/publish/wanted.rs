//! Assembles the publish request: from the flags, the project's settings or else the native project.

use std::str::FromStr;

use launchway_api::updates::{CreateUpdate, TextOrNumber};
use launchway_domain::build_number::{BuildNumber, CurrentBuild};
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;
use launchway_project::native_version::{LocatedValue, NativeProject};

use crate::args::publish::PublishArgs;
use crate::commands::app::{App, report_native_value};
use crate::commands::text_or_file;
use crate::context::Context;
use crate::failure::Failure;

/// The version of the native project.
pub struct Native(NativeProject);

impl Native {
    /// Whether an app of this project is as new as the update or newer, so that it is not offered the update
    /// (`docs/reference/updates.md#when-an-update-is-newer`). False when unknown.
    fn has_at_least(&self, version: &str, build_number: &str) -> bool {
        let installed = self
            .0
            .version
            .as_ref()
            .and_then(|found| Version::parse(&found.value).ok());
        let (Some(installed), Ok(version)) = (installed, Version::parse(version)) else {
            return false;
        };
        if installed != version {
            return installed > version;
        }
        let current = self
            .0
            .build_number
            .as_ref()
            .and_then(|found| CurrentBuild::parse(&found.value).ok());
        let (Some(current), Ok(build)) = (current, BuildNumber::parse(build_number)) else {
            return false;
        };
        !build.is_newer_than(&current)
    }

    /// Warns if an app of this project is not offered the update.
    pub fn warn_if_newer(&self, version: &str, build_number: &str, context: &Context) {
        if self.has_at_least(version, build_number) {
            let installed = self.described();
            context.printer.warn(&format!(
                "apps built from this project ({installed}) will not get it: give a higher --version or --build-number"
            ));
        }
    }

    /// Version and build number as text.
    fn described(&self) -> String {
        let value = |found: &Option<LocatedValue>| found.as_ref().map(|found| found.value.clone()).unwrap_or_default();
        match &self.0.build_number {
            Some(build) => format!("{} build {}", value(&self.0.version), build.value),
            None => value(&self.0.version),
        }
    }
}

/// Assembles the request without the upload. Fails when a required value is missing; nothing is sent before.
pub fn from(platform: Platform, arguments: &PublishArgs, context: &Context) -> Result<(CreateUpdate, Native), Failure> {
    let app = App::read(platform, arguments.profile.as_deref(), None, context)?;
    let configuration = configuration(arguments, context)?;
    let create = CreateUpdate {
        bundle_id: app.bundle_id(arguments.bundle_id.as_ref(), context)?,
        platform: platform.into(),
        version: version(arguments, context, &app.native)?,
        build_number: arguments.build_number.clone().map(TextOrNumber::Text),
        configuration,
        release_notes: arguments.release_notes.clone().map(text_or_file).transpose()?,
        rollout: arguments.rollout.map(i64::from),
        mandatory: arguments.mandatory.then_some(true),
        force: arguments.force.then_some(true),
        ..CreateUpdate::default()
    };
    Ok((create, Native(app.native)))
}

/// The configuration is required: an update without one goes to testers and users alike.
fn configuration(arguments: &PublishArgs, context: &Context) -> Result<Option<String>, Failure> {
    let in_project = context.settings.update().configuration.as_deref();
    match (&arguments.configuration, arguments.all_configurations, in_project) {
        (Some(told), _, _) => Ok(Some(told.to_string())),
        (None, true, _) => Ok(None),
        (None, false, Some(text)) => match Configuration::from_str(text) {
            Ok(told) => Ok(Some(told.to_string())),
            Err(problem) => Err(Failure::usage(format!("configuration in launchway.toml: {problem}"))),
        },
        (None, false, None) => Err(
            Failure::usage("no configuration specified, so it is not clear who gets the update").hint(
                "--configuration NAME offers it to apps that ask for that name, such as production;\n      --all-configurations offers it to every app, testers and users alike",
            ),
        ),
    }
}

fn version(arguments: &PublishArgs, context: &Context, native: &NativeProject) -> Result<String, Failure> {
    match (&arguments.version, &native.version) {
        (Some(told), _) => Ok(told.clone()),
        (None, Some(found)) => Ok(report_native_value("Version", found, context)),
        (None, None) => {
            Err(Failure::usage("no version specified, and no native project found here").hint("give --version VERSION"))
        }
    }
}
