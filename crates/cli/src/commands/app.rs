//! The app of a command: from a flag, the project's settings or else the native project.

use std::str::FromStr;

use launchway_domain::build::BuildType;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_project::file::BundleIdEntry;
use launchway_project::native_version::{self, LocatedValue, NativeProject, Variant};
use launchway_project::resolve::{AppLocation, ResolveError, app_location, app_profile, variant};
use launchway_project::workspace::ProjectSource;

use crate::context::Context;
use crate::failure::Failure;

/// The directory of the project's app: of the named profile, or of the one that a build would use. Fails when the
/// profiles mean several apps.
pub fn place(platform: Platform, profile: Option<&str>, context: &Context) -> Result<AppLocation, Failure> {
    let profiles = &context.settings.project.build;
    app_location(profiles, profile, platform).map_err(|error| wrong_profile(&error))
}

/// The source that builds of the project's app need: its directory, or the workspace that the app belongs to. Profiles
/// that mean several apps leave the directory of the project.
pub fn source(platform: Platform, profile: Option<&str>, context: &Context) -> ProjectSource {
    let location = app_location(&context.settings.project.build, profile, platform).unwrap_or_default();
    ProjectSource::find(&context.settings.root, &location.directory)
}

fn wrong_profile(error: &ResolveError) -> Failure {
    // Failures of the command line have no full stop.
    Failure::usage(error.to_string().trim_end_matches('.')).hint("choose a profile with --profile")
}

/// The project's app on one platform, as a profile builds it.
pub struct App {
    platform: Platform,
    /// The bundle identifier in `launchway.toml`.
    stated: Option<BundleIdEntry>,
    /// The values of the native project.
    pub native: NativeProject,
}

impl App {
    /// Reads the app of the named profile, or of the one that a build would use.
    pub fn read(
        platform: Platform,
        profile: Option<&str>,
        build_type: Option<BuildType>,
        context: &Context,
    ) -> Result<Self, Failure> {
        let project = &context.settings.project;
        let place = place(platform, profile, context)?;
        let root = context.settings.root.join(place.directory);
        let (name, profile) = app_profile(&project.build, profile, platform).map_err(|error| wrong_profile(&error))?;
        Ok(Self {
            platform,
            stated: project.bundle_id(name.as_deref(), platform),
            native: native_version::read(&root, platform, &variant(&profile, build_type)),
        })
    }

    /// Reads the app beside `launchway.toml`, independently of its profiles.
    pub fn without_profile(platform: Platform, context: &Context) -> Self {
        Self {
            platform,
            stated: context.settings.project.bundle_id(None, platform),
            native: native_version::read(&context.settings.root, platform, &Variant::default()),
        }
    }

    /// The bundle identifier. Fails when neither source has one.
    pub fn bundle_id(&self, requested: Option<&BundleId>, context: &Context) -> Result<String, Failure> {
        match (requested, &self.stated, &self.native.bundle_id) {
            (Some(requested), ..) => Ok(requested.to_string()),
            (None, Some(stated), _) => match BundleId::from_str(&stated.value) {
                Ok(id) => Ok(id.to_string()),
                Err(problem) => {
                    let table = stated.tables.join(".");
                    Err(Failure::usage(format!(
                        "bundle_id in launchway.toml, [{table}]: {problem}"
                    )))
                }
            },
            (None, None, Some(found)) => Ok(report_native_value("App", found, context)),
            (None, None, None) => {
                let hint = format!(
                    "give --bundle-id ID, or set bundle_id under [app] in launchway.toml, or under [app.{}] if it differs between platforms",
                    self.platform
                );
                Err(Failure::usage("no app specified, and no native project found here").hint(hint))
            }
        }
    }
}

/// Reports a value that the command uses from the native project.
pub fn report_native_value(what: &str, found: &LocatedValue, context: &Context) -> String {
    context
        .printer
        .note(&format!("{what} {} comes from {}", found.value, found.place));
    found.value.clone()
}
