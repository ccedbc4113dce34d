//! `[build.<profile>]`: how a build differs from the preset of its framework.

mod inheritance;

use std::borrow::Cow;
use std::collections::BTreeMap;

use launchway_domain::build::plan::{ArtifactRule, CacheRule, Step as PlanStep};
use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::env_var::is_path;
use launchway_domain::platform::Platform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::framework::Framework;

pub use inheritance::{ProfileError, bundle_id, check, merge};

/// All profiles, by name.
pub type Profiles = BTreeMap<String, Profile>;

/// A build profile. What is absent, the profile it extends says, or the framework's preset.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a table, such as [build.production]")]
pub struct Profile {
    /// The profile that this one begins with. Single values and lists replace its values, tables are merged.
    pub extends: Option<String>,
    /// The bundle identifier of what it builds, where that is not the one of `[app]`: a flavor often has its own.
    pub bundle_id: Option<String>,
    /// The configuration, such as `production`: environment variables are chosen by it.
    pub configuration: Option<String>,
    /// `debug` or `release`.
    #[serde(deserialize_with = "word")]
    #[schemars(schema_with = "build_types")]
    pub build_type: Option<BuildType>,
    /// `store`, `internal`, `simulator` or `development`.
    #[serde(deserialize_with = "word")]
    #[schemars(schema_with = "distributions")]
    pub distribution: Option<Distribution>,
    /// Takes this framework's preset, whatever is found.
    pub framework: Option<Framework>,
    /// The directory of the app in the source, such as `apps/mobile`. Steps run in it; artifacts and caches are named from it.
    pub directory: Option<String>,
    /// The scheme of Xcode.
    pub scheme: Option<String>,
    /// The product flavor of Android and Flutter.
    pub flavor: Option<String>,
    /// The Gradle module of the app; `app` when absent.
    pub module: Option<String>,
    /// What a runner must be besides what the platform asks for, such as `xcode=26`.
    pub labels: Option<Vec<String>>,
    /// Environment variables of every step; those of the organization win.
    pub env: BTreeMap<String, String>,
    /// Steps before all others.
    pub before_install: Option<Vec<Step>>,
    /// Steps between the installation of packages and the build.
    pub before_build: Option<Vec<Step>>,
    /// Steps behind all others.
    pub after_build: Option<Vec<Step>>,
    /// All steps, in place of the preset.
    pub steps: Option<Vec<Step>>,
    /// What the build gives, in place of what the preset gives.
    pub artifacts: Option<Vec<Artifact>>,
    /// What is kept from one build to the next, in place of what the preset keeps.
    pub cache: Option<Vec<Cache>>,
    /// Seconds that the whole build may take; 3600 when absent.
    #[schemars(range(min = 1, max = 86400))]
    pub timeout_seconds: Option<u32>,
    /// What is different on Android.
    pub android: Option<Box<Overrides>>,
    /// What is different on iOS.
    pub ios: Option<Box<Overrides>>,
    /// What is different on visionOS.
    pub visionos: Option<Box<Overrides>>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What people call it; the phase in the log.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// What a shell runs.
    pub run: String,
    /// Seconds that it may take.
    #[serde(default)]
    #[schemars(range(min = 1, max = 86400))]
    pub timeout_seconds: Option<u32>,
}

/// Files that the build gives.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Where they are; `*` and `**` stand for any part of a name and any folders.
    pub path: String,
    /// What they are, such as `apk`; the ending of `path` when absent.
    #[serde(default)]
    pub kind: Option<String>,
}

/// Folders that are kept from one build to the next.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// What it is found by; `{{ hash "package-lock.json" }}` stands for the hash of a file, named from the source's root.
    #[schemars(length(min = 1, max = 100))]
    pub key: String,
    /// The folders, or `~/…` for some below the home directory.
    pub paths: Vec<String>,
}

/// A profile without overrides of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides(pub Profile);

const NOT_IN_OVERRIDES: [&str; 4] = ["extends", "android", "ios", "visionos"];

impl<'de> Deserialize<'de> for Overrides {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let profile = Profile::deserialize(deserializer)?;
        let Profile {
            extends,
            android,
            ios,
            visionos,
            ..
        } = &profile;
        let given = [extends.is_some(), android.is_some(), ios.is_some(), visionos.is_some()];
        match NOT_IN_OVERRIDES.iter().zip(given).find(|(_, given)| *given) {
            Some((name, _)) => Err(D::Error::custom(format!(
                "`{name}` is not allowed here; move it to [build.<profile>]"
            ))),
            None => Ok(Overrides(profile)),
        }
    }
}

impl JsonSchema for Overrides {
    fn schema_name() -> Cow<'static, str> {
        "Overrides".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Profile::json_schema(generator);
        if let Some(properties) = schema.get_mut("properties").and_then(|value| value.as_object_mut()) {
            for name in NOT_IN_OVERRIDES {
                properties.remove(name);
            }
        }
        schema.insert("description".into(), "Settings that differ on one platform.".into());
        schema
    }
}

/// Parses one of a few fixed words.
fn word<'de, D: Deserializer<'de>, T: std::str::FromStr<Err: std::fmt::Display>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let word = text
        .parse()
        .map_err(|error| D::Error::custom(format!("`{text}` {error}")))?;
    Ok(Some(word))
}

fn build_types(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<_> = BuildType::ALL.iter().map(|word| word.as_str()).collect();
    schemars::json_schema!({"type": "string", "enum": words})
}

fn distributions(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<_> = Distribution::ALL.iter().map(|word| word.as_str()).collect();
    schemars::json_schema!({"type": "string", "enum": words})
}

impl Profile {
    fn overrides(&self, platform: Platform) -> Option<&Overrides> {
        match platform {
            Platform::Android => self.android.as_deref(),
            Platform::Ios => self.ios.as_deref(),
            Platform::Visionos => self.visionos.as_deref(),
        }
    }

    /// This profile as the base, with the values of `over` on top.
    fn overlay(mut self, over: Profile) -> Profile {
        self.env.extend(over.env);
        Profile {
            extends: None,
            bundle_id: over.bundle_id.or(self.bundle_id),
            configuration: over.configuration.or(self.configuration),
            build_type: over.build_type.or(self.build_type),
            distribution: over.distribution.or(self.distribution),
            framework: over.framework.or(self.framework),
            directory: over.directory.or(self.directory),
            scheme: over.scheme.or(self.scheme),
            flavor: over.flavor.or(self.flavor),
            module: over.module.or(self.module),
            labels: over.labels.or(self.labels),
            env: self.env,
            before_install: over.before_install.or(self.before_install),
            before_build: over.before_build.or(self.before_build),
            after_build: over.after_build.or(self.after_build),
            steps: over.steps.or(self.steps),
            artifacts: over.artifacts.or(self.artifacts),
            cache: over.cache.or(self.cache),
            timeout_seconds: over.timeout_seconds.or(self.timeout_seconds),
            android: None,
            ios: None,
            visionos: None,
        }
    }

    fn check(&self, name: &str) -> Result<(), ProfileError> {
        if self.directory.as_deref().is_some_and(|directory| !is_path(directory)) {
            return Err(ProfileError::Directory(name.to_owned()));
        }
        let hooks = [
            ("before_install", &self.before_install),
            ("before_build", &self.before_build),
            ("after_build", &self.after_build),
        ];
        match hooks
            .iter()
            .find(|(_, steps)| steps.as_ref().is_some_and(|steps| !steps.is_empty()))
        {
            Some((hook, _)) if self.steps.is_some() => Err(ProfileError::StepsAndHooks(name.to_owned(), hook)),
            _ => Ok(()),
        }
    }
}

impl Step {
    /// Converts to the plan's form.
    pub fn to_plan(&self) -> PlanStep {
        PlanStep {
            name: self.name.clone(),
            run: self.run.clone(),
            timeout_seconds: self.timeout_seconds,
        }
    }
}

impl Artifact {
    /// Converts to the plan's form. `directory` is empty or ends with `/`.
    pub fn to_plan(&self, directory: &str) -> ArtifactRule {
        let ending = || self.path.rsplit(['.', '/']).next().unwrap_or_default().to_lowercase();
        ArtifactRule {
            path: format!("{directory}{}", self.path),
            kind: self.kind.clone().unwrap_or_else(ending),
        }
    }
}

impl Cache {
    /// Converts to the plan's form. `directory` is empty or ends with `/`.
    pub fn to_plan(&self, directory: &str) -> CacheRule {
        let place = |path: &String| match path.starts_with("~/") {
            true => path.clone(),
            false => format!("{directory}{path}"),
        };
        CacheRule {
            key: self.key.clone(),
            paths: self.paths.iter().map(place).collect(),
        }
    }
}
