//! Which app a command is about: from a flag, the project's settings or, where neither says, the native project.

use std::str::FromStr;

use launchway_domain::build::BuildType;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_project::file::StatedId;
use launchway_project::native_version::{self, Found, NativeProject, Variant};
use launchway_project::resolve::{AppPlace, ResolveError, app_place, app_profile, variant};

use crate::context::Context;
use crate::failure::Failure;

/// Where the app of the project here is: of the profile that is told, or that a build would take. Fails when the profiles mean
/// several.
pub fn place(platform: Platform, profile: Option<&str>, context: &Context) -> Result<AppPlace, Failure> {
    let profiles = &context.settings.project.build;
    app_place(profiles, profile, platform).map_err(|error| wrong_profile(&error))
}

fn wrong_profile(error: &ResolveError) -> Failure {
    // Failures of the command line have no full stop.
    Failure::usage(error.to_string().trim_end_matches('.')).hint("name a profile with --profile")
}

/// The app of the project here on one platform, as a profile builds it.
pub struct App {
    platform: Platform,
    /// What `launchway.toml` calls it.
    stated: Option<StatedId>,
    /// What its native project says.
    pub native: NativeProject,
}

impl App {
    /// Reads what a profile builds: the one that is told, or that a build would take.
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

    /// Reads what is beside `launchway.toml`, whatever its profiles say.
    pub fn without_profile(platform: Platform, context: &Context) -> Self {
        Self {
            platform,
            stated: context.settings.project.bundle_id(None, platform),
            native: native_version::read(&context.settings.root, platform, &Variant::default()),
        }
    }

    /// The bundle identifier. Fails when nothing names one.
    pub fn bundle_id(&self, told: Option<&BundleId>, context: &Context) -> Result<String, Failure> {
        match (told, &self.stated, &self.native.bundle_id) {
            (Some(told), ..) => Ok(told.to_string()),
            (None, Some(stated), _) => match BundleId::from_str(&stated.value) {
                Ok(id) => Ok(id.to_string()),
                Err(problem) => {
                    let table = stated.tables.join(".");
                    Err(Failure::usage(format!(
                        "bundle_id in launchway.toml, [{table}]: {problem}"
                    )))
                }
            },
            (None, None, Some(found)) => Ok(taken("App", found, context)),
            (None, None, None) => {
                let hint = format!(
                    "give --bundle-id ID, or write bundle_id below [app] in launchway.toml, or below [app.{}] if other \
                     platforms have another",
                    self.platform
                );
                Err(Failure::usage("no app is named, and no native project here names one").hint(hint))
            }
        }
    }
}

/// Takes a value from the native project and says so.
pub fn taken(what: &str, found: &Found, context: &Context) -> String {
    context
        .printer
        .note(&format!("{what} {} is from {}", found.value, found.place));
    found.value.clone()
}
