//! Resolves a source to its build plan: from `launchway.toml`, or from the preset of the detected framework.

use std::path::Path;

use launchway_domain::build::plan::{Plan, PlanError, Step as PlanStep};
use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::platform::Platform;

use crate::file::profile::{self, Profile, ProfileError, Profiles, Step};
use crate::file::{self, NAME};
use crate::framework::{self, Framework, LOOKED_FOR};
use crate::native_version::Variant;
use crate::packages::{self, Packages};
use crate::preset::{self, App, Preset, PresetError};
use crate::source::{FileError, Source};
use crate::workspace::ProjectSource;

/// The profile that is used when none is named.
const USUAL_PROFILE: &str = "production";

/// The build that is requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildRequest {
    /// The platform.
    pub platform: Platform,
    /// The profile of `launchway.toml`. When `None`: `production`, the only profile, or no profile if there are none.
    pub profile: Option<String>,
    /// The build type. When `None`, that of the profile, which defaults to release.
    pub build_type: Option<BuildType>,
    /// How the app reaches devices. When `None`, as in the profile, which defaults to the store.
    pub distribution: Option<Distribution>,
}

/// A resolved build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// `launchway.toml`, or the framework whose preset was used.
    pub origin: String,
    /// The profile that was used.
    pub profile: Option<String>,
    /// Debug or release.
    pub build_type: BuildType,
    /// How the app reaches devices.
    pub distribution: Distribution,
    /// The configuration of the profile.
    pub configuration: Option<String>,
}

/// Why there is no plan, with what to do in a sentence or two.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// A file cannot be read.
    #[error("{0}.")]
    File(#[from] FileError),
    /// `package.json` exists but is invalid.
    #[error("{0}.")]
    Packages(String),
    /// `launchway.toml` is invalid.
    #[error("{NAME}: {}", with_full_stop(.0))]
    Invalid(String),
    /// The profile does not exist, or is invalid.
    #[error("{NAME}: {}", with_full_stop(&.0.to_string()))]
    Profile(#[from] ProfileError),
    /// A profile is named, but there is no `launchway.toml`.
    #[error("The build requests the profile `{0}`, but the source has no {NAME}. Add the file, or omit the profile.")]
    NoFile(String),
    /// There are several profiles, none of them the default one.
    #[error("{NAME} has several build profiles: {}. Choose one of them.", .0.join(", "))]
    ProfileNeeded(Vec<String>),
    /// The directory of the app does not exist.
    #[error("The directory {0} is not in the source. Correct directory in [build.<profile>] of {NAME}.")]
    NoDirectory(String),
    /// No framework is recognized.
    #[error("No framework found{}. {LOOKED_FOR}. Set directory in [build.<profile>] of {NAME} to the app's \
             directory, or define steps.", place(.0))]
    NoFramework(String),
    /// The framework cannot build the app.
    #[error(transparent)]
    Preset(#[from] PresetError),
    /// The plan breaks a rule.
    #[error("{NAME}: {0}")]
    Plan(#[from] PlanError),
}

/// Ends a sentence with a full stop, unless it is a question.
fn with_full_stop(text: &str) -> String {
    let stop = if text.ends_with('?') { "" } else { "." };
    format!("{text}{stop}")
}

fn place(directory: &str) -> String {
    match directory {
        "" => String::new(),
        directory => format!(" in {directory}"),
    }
}

/// The directory of an app, and the framework that its profile names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppLocation {
    /// Its directory, from `launchway.toml`; empty for the directory of that file.
    pub directory: String,
    /// The framework that the profile names.
    pub framework: Option<Framework>,
}

/// The app of a profile: of the named one, or else of the one that a build would use. When there is no such profile,
/// all profiles must mean the same app.
///
/// # Errors
/// The profile does not exist, or none is named and the profiles mean several apps.
pub fn app_location(
    profiles: &Profiles,
    requested: Option<&str>,
    platform: Platform,
) -> Result<AppLocation, ResolveError> {
    agreed(profiles, requested, platform, |profile| AppLocation {
        directory: profile.directory.unwrap_or_default(),
        framework: profile.framework,
    })
}

/// The configuration of a profile, chosen like its app: all profiles must have the same one when none is named and a
/// build would use none of them.
///
/// # Errors
/// The profile does not exist, or none is named and the profiles have several configurations.
pub fn app_configuration(
    profiles: &Profiles,
    requested: Option<&str>,
    platform: Platform,
) -> Result<Option<String>, ResolveError> {
    agreed(profiles, requested, platform, |profile| profile.configuration)
}

/// What the named profile says, or else the one that a build would use, or else all of them.
fn agreed<T: Default + PartialEq>(
    profiles: &Profiles,
    requested: Option<&str>,
    platform: Platform,
    value: impl Fn(Profile) -> T,
) -> Result<T, ResolveError> {
    let of = |name: &str| -> Result<T, ResolveError> { Ok(value(profile::merge(profiles, name, platform)?)) };
    let several = match (requested, default_profile(profiles)) {
        (Some(name), _) => return of(name),
        (None, Ok(None)) => return Ok(T::default()),
        (None, Ok(Some(name))) => return of(&name),
        (None, Err(several)) => several,
    };
    let mut values = profiles.keys().map(|name| of(name));
    let first = values.next().unwrap_or_else(|| Ok(T::default()))?;
    for value in values {
        if value? != first {
            return Err(several);
        }
    }
    Ok(first)
}

/// The named profile, or else the one that a build would use, and its name; an empty profile when there is no such one.
///
/// # Errors
/// The profile does not exist.
pub fn app_profile(
    profiles: &Profiles,
    requested: Option<&str>,
    platform: Platform,
) -> Result<(Option<String>, Profile), ResolveError> {
    let name = match requested {
        Some(name) => Some(name.to_owned()),
        None => default_profile(profiles).unwrap_or_default(),
    };
    let profile = match &name {
        Some(name) => profile::merge(profiles, name, platform)?,
        None => Profile::default(),
    };
    Ok((name, profile))
}

/// The variant of the native project that a profile builds. `build_type` is that of the command.
pub fn variant(profile: &Profile, build_type: Option<BuildType>) -> Variant {
    Variant {
        build_type: build_type.or(profile.build_type).unwrap_or(BuildType::Release),
        flavor: profile.flavor.clone(),
        module: profile.module.clone(),
        scheme: profile.scheme.clone(),
    }
}

/// Computes the plan of the project at the root of `source`. Reads a few files there, which are untrusted, and executes
/// nothing.
///
/// # Errors
/// The problem of the source, and how to solve it.
pub fn resolve(source: &Path, request: &BuildRequest) -> Result<Resolved, ResolveError> {
    let place = ProjectSource {
        root: source.to_owned(),
        base: String::new(),
    };
    resolve_in(&place, request)
}

/// The same for a project that may be a part of a larger source. Its plan runs at the root of that source.
///
/// # Errors
/// The problem of the source, and how to solve it.
pub fn resolve_in(place: &ProjectSource, request: &BuildRequest) -> Result<Resolved, ResolveError> {
    let source = Source::new(&place.root);
    let text = source.read(&place.place(NAME))?;
    let project = file::parse(text.as_deref().unwrap_or_default()).map_err(ResolveError::Invalid)?;
    let name = match (&request.profile, text) {
        (Some(name), None) => return Err(ResolveError::NoFile(name.clone())),
        (Some(name), Some(_)) => Some(name.clone()),
        (None, _) => default_profile(&project.build)?,
    };
    let mut profile = match &name {
        Some(name) => profile::merge(&project.build, name, request.platform)?,
        None => Profile::default(),
    };
    // From here on, paths start at the root of the source.
    profile.directory = Some(place.place(profile.directory.as_deref().unwrap_or_default()));
    let build_type = request.build_type.or(profile.build_type).unwrap_or(BuildType::Release);
    let distribution = request
        .distribution
        .or(profile.distribution)
        .unwrap_or(Distribution::Store);
    let (plan, origin) = match &profile.steps {
        Some(steps) => (own_plan(&profile, steps), NAME.to_owned()),
        None => {
            let (preset, framework) = find_preset(
                (&source, &place.base),
                &profile,
                request.platform,
                build_type,
                distribution,
            )?;
            (preset_plan(&profile, preset), framework.as_str().to_owned())
        }
    };
    plan.check()?;
    Ok(Resolved {
        plan,
        origin,
        profile: name,
        build_type,
        distribution,
        configuration: profile.configuration,
    })
}

/// The profile of a build that names none.
fn default_profile(profiles: &Profiles) -> Result<Option<String>, ResolveError> {
    if profiles.contains_key(USUAL_PROFILE) || profiles.is_empty() {
        return Ok(profiles.contains_key(USUAL_PROFILE).then(|| USUAL_PROFILE.to_owned()));
    }
    let mut names: Vec<String> = profiles.keys().cloned().collect();
    match names.len() {
        1 => Ok(names.pop()),
        _ => Err(ResolveError::ProfileNeeded(names)),
    }
}

/// The plan of a profile with `steps`, which replace the preset.
fn own_plan(profile: &Profile, steps: &[Step]) -> Plan {
    let directory = profile.directory.as_deref().unwrap_or_default();
    let mut plan = Plan {
        labels: profile.labels.clone().unwrap_or_default(),
        env: profile.env.clone(),
        steps: steps.iter().map(|step| plan_step(step, directory)).collect(),
        timeout_seconds: profile.timeout_seconds,
        ..Plan::default()
    };
    replace_outputs(&mut plan, profile, directory);
    plan
}

/// The plan of a preset, with the additional steps and the replacements of the profile.
fn preset_plan(profile: &Profile, preset: Preset) -> Plan {
    let directory = profile.directory.as_deref().unwrap_or_default();
    let hook = |steps: &Option<Vec<Step>>| -> Vec<PlanStep> {
        steps.iter().flatten().map(|step| plan_step(step, directory)).collect()
    };
    let mut labels = preset.labels;
    for label in profile.labels.iter().flatten() {
        if !labels.contains(label) {
            labels.push(label.clone());
        }
    }
    let steps = [
        hook(&profile.before_install),
        preset.install,
        hook(&profile.before_build),
        preset.build,
        hook(&profile.after_build),
    ];
    let mut plan = Plan {
        labels,
        env: profile.env.clone(),
        steps: steps.concat(),
        artifacts: preset.artifacts,
        cache: preset.cache,
        timeout_seconds: profile.timeout_seconds,
    };
    replace_outputs(&mut plan, profile, directory);
    plan
}

/// A step of the settings file. It runs in the directory of the app.
fn plan_step(step: &Step, directory: &str) -> PlanStep {
    let run = preset::in_directory(directory, &step.run);
    PlanStep { run, ..step.to_plan() }
}

/// Replaces artifacts and caches with those of the profile.
fn replace_outputs(plan: &mut Plan, profile: &Profile, directory: &str) {
    let folder = if directory.is_empty() {
        String::new()
    } else {
        format!("{directory}/")
    };
    if let Some(artifacts) = &profile.artifacts {
        plan.artifacts = artifacts.iter().map(|artifact| artifact.to_plan(&folder)).collect();
    }
    if let Some(cache) = &profile.cache {
        plan.cache = cache.iter().map(|cache| cache.to_plan(&folder)).collect();
    }
}

fn find_preset(
    (source, base): (&Source, &str),
    profile: &Profile,
    platform: Platform,
    build_type: BuildType,
    distribution: Distribution,
) -> Result<(Preset, Framework), ResolveError> {
    let directory = profile.directory.as_deref().unwrap_or_default();
    if !source.has_directory(directory) {
        return Err(ResolveError::NoDirectory(directory.to_owned()));
    }
    let packages = Packages::read(source, directory);
    let found = profile
        .framework
        .or_else(|| framework::detect(source, directory, packages.as_ref(), platform));
    // A broken `package.json` hides the framework and its commands. Other frameworks do not need it.
    if found.is_none_or(Framework::is_of_javascript)
        && let Some(problem) = packages::manifest_problem(source, directory)
    {
        return Err(ResolveError::Packages(problem));
    }
    let framework = found.ok_or_else(|| ResolveError::NoFramework(directory.to_owned()))?;
    let app = App {
        source,
        base,
        directory,
        packages: packages.as_ref(),
        profile,
        platform,
        build_type,
        distribution,
    };
    Ok((preset::preset(framework, &app)?, framework))
}
