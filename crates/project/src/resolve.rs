//! From a source to the plan that builds it: `launchway.toml`, else the preset of the framework that is found.

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

/// The profile that is taken where none is told.
const USUAL_PROFILE: &str = "production";

/// What is to be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The platform.
    pub platform: Platform,
    /// The profile of `launchway.toml`. Where none is told: `production`, or the only one, or none where there are none.
    pub profile: Option<String>,
    /// What the app is made for; what the profile says when `None`, and release when it says nothing.
    pub build_type: Option<BuildType>,
    /// How the app reaches devices; what the profile says when `None`, and the store when it says nothing.
    pub distribution: Option<Distribution>,
}

/// How it is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// `launchway.toml`, or the framework whose preset it is.
    pub origin: String,
    /// The profile that was taken.
    pub profile: Option<String>,
    /// What the app is made for.
    pub build_type: BuildType,
    /// How the app reaches devices.
    pub distribution: Distribution,
    /// The configuration that the profile names.
    pub configuration: Option<String>,
}

/// Why there is no plan: a sentence or two that say what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// A file cannot be read.
    #[error("{0}.")]
    File(#[from] FileError),
    /// `package.json` is there and says nothing that can be read.
    #[error("{0}.")]
    Packages(String),
    /// `launchway.toml` is wrong.
    #[error("{NAME}: {}", ended(.0))]
    Invalid(String),
    /// The profile is not there, or makes no sense.
    #[error("{NAME}: {}", ended(&.0.to_string()))]
    Profile(#[from] ProfileError),
    /// A profile was told, and there is no file.
    #[error("The build names the profile '{0}', and the source has no {NAME}. Add the file, or leave the profile out.")]
    NoFile(String),
    /// Several profiles, none of them the usual one.
    #[error("{NAME} has several build profiles: {}. Name one of them.", .0.join(", "))]
    ProfileNeeded(Vec<String>),
    /// The directory of the app is not there.
    #[error("The directory {0} is not in the source. Correct directory in [build.<profile>] of {NAME}.")]
    NoDirectory(String),
    /// No framework was recognised.
    #[error("No framework was found{}. {LOOKED_FOR}. Set directory in [build.<profile>] of {NAME} to where the app is, or write steps.", place(.0))]
    NoFramework(String),
    /// The framework cannot build it.
    #[error(transparent)]
    Preset(#[from] PresetError),
    /// The plan breaks a rule.
    #[error("{NAME}: {0}.")]
    Plan(#[from] PlanError),
}

/// A sentence ends with a stop, unless it asks.
fn ended(text: &str) -> String {
    let stop = if text.ends_with('?') { "" } else { "." };
    format!("{text}{stop}")
}

fn place(directory: &str) -> String {
    match directory {
        "" => String::new(),
        directory => format!(" in {directory}"),
    }
}

/// Where the app of a project is, and what it is made with where the profile names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppPlace {
    /// Its directory, from `launchway.toml`; empty for beside the file.
    pub directory: String,
    /// The framework that the profile names.
    pub framework: Option<Framework>,
}

/// The app that a profile means: the one that is told, else the one that a build would take. Where there is no such one, all
/// profiles must mean the same app.
///
/// # Errors
/// The profile is not there, or none is told and they mean several apps.
pub fn app_place(profiles: &Profiles, told: Option<&str>, platform: Platform) -> Result<AppPlace, ResolveError> {
    let of = |name: &str| -> Result<AppPlace, ResolveError> {
        let profile = profile::merged(profiles, name, platform)?;
        Ok(AppPlace {
            directory: profile.directory.unwrap_or_default(),
            framework: profile.framework,
        })
    };
    let several = match (told, usual(profiles)) {
        (Some(name), _) => return of(name),
        (None, Ok(None)) => return Ok(AppPlace::default()),
        (None, Ok(Some(name))) => return of(&name),
        (None, Err(several)) => several,
    };
    let mut places = profiles.keys().map(|name| of(name));
    let first = places.next().unwrap_or_else(|| Ok(AppPlace::default()))?;
    for place in places {
        if place? != first {
            return Err(several);
        }
    }
    Ok(first)
}

/// The profile that is told, else the one that a build would take, and its name; a profile that says nothing where there is
/// no such one.
///
/// # Errors
/// The profile is not there.
pub fn app_profile(
    profiles: &Profiles,
    told: Option<&str>,
    platform: Platform,
) -> Result<(Option<String>, Profile), ResolveError> {
    let name = match told {
        Some(name) => Some(name.to_owned()),
        None => usual(profiles).unwrap_or_default(),
    };
    let profile = match &name {
        Some(name) => profile::merged(profiles, name, platform)?,
        None => Profile::default(),
    };
    Ok((name, profile))
}

/// What a profile builds of a native project. `build_type` is what the command says.
pub fn variant(profile: &Profile, build_type: Option<BuildType>) -> Variant {
    Variant {
        build_type: build_type.or(profile.build_type).unwrap_or(BuildType::Release),
        flavor: profile.flavor.clone(),
        module: profile.module.clone(),
        scheme: profile.scheme.clone(),
    }
}

/// Makes the plan. Reads a few files in `source`, which may be anybody's, and runs nothing.
///
/// # Errors
/// What is wrong with the source, and what to do.
pub fn resolve(source: &Path, wanted: &Wanted) -> Result<Resolved, ResolveError> {
    let source = Source::new(source);
    let text = source.read(NAME)?;
    let project = file::parse(text.as_deref().unwrap_or_default()).map_err(ResolveError::Invalid)?;
    let name = match (&wanted.profile, text) {
        (Some(name), None) => return Err(ResolveError::NoFile(name.clone())),
        (Some(name), Some(_)) => Some(name.clone()),
        (None, _) => usual(&project.build)?,
    };
    let profile = match &name {
        Some(name) => profile::merged(&project.build, name, wanted.platform)?,
        None => Profile::default(),
    };
    let build_type = wanted.build_type.or(profile.build_type).unwrap_or(BuildType::Release);
    let distribution = wanted
        .distribution
        .or(profile.distribution)
        .unwrap_or(Distribution::Store);
    let (plan, origin) = match &profile.steps {
        Some(steps) => (own(&profile, steps), NAME.to_owned()),
        None => {
            let (preset, framework) = find_preset(&source, &profile, wanted.platform, build_type, distribution)?;
            (around(&profile, preset), framework.as_str().to_owned())
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
fn usual(profiles: &Profiles) -> Result<Option<String>, ResolveError> {
    if profiles.contains_key(USUAL_PROFILE) || profiles.is_empty() {
        return Ok(profiles.contains_key(USUAL_PROFILE).then(|| USUAL_PROFILE.to_owned()));
    }
    let mut names: Vec<String> = profiles.keys().cloned().collect();
    match names.len() {
        1 => Ok(names.pop()),
        _ => Err(ResolveError::ProfileNeeded(names)),
    }
}

/// The plan of a profile that has all steps itself.
fn own(profile: &Profile, steps: &[Step]) -> Plan {
    let directory = profile.directory.as_deref().unwrap_or_default();
    let mut plan = Plan {
        labels: profile.labels.clone().unwrap_or_default(),
        env: profile.env.clone(),
        steps: steps.iter().map(|step| written(step, directory)).collect(),
        timeout_seconds: profile.timeout_seconds,
        ..Plan::default()
    };
    give_and_keep(&mut plan, profile, directory);
    plan
}

/// The plan of a preset, with what the profile has before, between, behind and instead.
fn around(profile: &Profile, preset: Preset) -> Plan {
    let directory = profile.directory.as_deref().unwrap_or_default();
    let hook = |steps: &Option<Vec<Step>>| -> Vec<PlanStep> {
        steps.iter().flatten().map(|step| written(step, directory)).collect()
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
    give_and_keep(&mut plan, profile, directory);
    plan
}

/// A step of the file, which runs in the app's directory.
fn written(step: &Step, directory: &str) -> PlanStep {
    let run = preset::in_directory(directory, &step.run);
    PlanStep { run, ..step.to_plan() }
}

/// What the profile says of artifacts and caches counts.
fn give_and_keep(plan: &mut Plan, profile: &Profile, directory: &str) {
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
    source: &Source,
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
        .or_else(|| framework::recognise(source, directory, packages.as_ref(), platform));
    // Without it neither the framework nor its commands are known. Others do not need it.
    if found.is_none_or(Framework::is_of_javascript)
        && let Some(problem) = packages::broken(source, directory)
    {
        return Err(ResolveError::Packages(problem));
    }
    let framework = found.ok_or_else(|| ResolveError::NoFramework(directory.to_owned()))?;
    let app = App {
        source,
        directory,
        packages: packages.as_ref(),
        profile,
        platform,
        build_type,
        distribution,
    };
    Ok((preset::preset(framework, &app)?, framework))
}
