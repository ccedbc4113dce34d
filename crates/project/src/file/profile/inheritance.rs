//! How profiles extend one another: which chains are valid, and what a profile is for one platform.

use launchway_domain::platform::Platform;

use super::{Profile, Profiles};
use crate::file::BundleIdEntry;
use crate::file::problem::nearest;

/// Length of the longest chain of profiles that extend one another.
const MOST_EXTENDS: usize = 10;
/// Profiles in a file. Each one is merged when the file is read.
const MOST_PROFILES: usize = 100;

/// Why the profiles are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// There is no profile with this name.
    #[error("{}", unknown(.name, .known))]
    Unknown {
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// A profile extends one that does not exist.
    #[error("[build.{name}] extends a profile that does not exist: {}", unknown(.base, .known))]
    UnknownBase {
        /// The extending profile.
        name: String,
        /// The name that it extends.
        base: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// Profiles extend one another in a cycle, or in too long a chain.
    #[error("{}", chain(.0))]
    Chain(Vec<String>),
    /// There are more profiles than the limit.
    #[error("the file has more than {MOST_PROFILES} build profiles")]
    TooMany,
    /// A profile has the name of a platform.
    #[error("[build.{0}] is the name of a platform: write [build.<profile>.{0}], such as [build.production.{0}]")]
    NamedLikePlatform(String),
    /// A directory is outside the source.
    #[error("[build.{0}]: directory must be relative to launchway.toml, with `/`, without `..`")]
    Directory(String),
    /// `steps` replaces the preset, so that steps around the preset have no place.
    #[error("[build.{0}] has both steps and {1}: steps are the whole build, so move everything there")]
    StepsAndHooks(String, &'static str),
}

fn unknown(name: &str, known: &[String]) -> String {
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    match (nearest(name, &names), names.is_empty()) {
        (Some(meant), _) => format!("there is no [build.{name}]; did you mean [build.{meant}]?"),
        (None, false) => format!("there is no [build.{name}]; the profiles are {}", names.join(", ")),
        (None, true) => format!("there is no [build.{name}] and no other profile"),
    }
}

fn chain(names: &[String]) -> String {
    let shown = names.join(" extends ");
    if names.len() > MOST_EXTENDS {
        return format!("more than {MOST_EXTENDS} profiles extend one another: {shown}");
    }
    format!("profiles extend one another in a circle: {shown}")
}

/// Checks rules that concern more than one value.
///
/// # Errors
/// The first rule that the profile breaks.
pub fn check(profiles: &Profiles) -> Result<(), ProfileError> {
    if profiles.len() > MOST_PROFILES {
        return Err(ProfileError::TooMany);
    }
    for name in profiles.keys() {
        if name.parse::<Platform>().is_ok() {
            return Err(ProfileError::NamedLikePlatform(name.clone()));
        }
        for platform in Platform::ALL {
            merge(profiles, name, platform)?;
        }
    }
    Ok(())
}

/// The profile for one platform, merged with every profile that it extends. Values for the platform win over values for
/// all platforms.
///
/// # Errors
/// The profile or one that it extends does not exist, or the result is invalid.
pub fn merge(profiles: &Profiles, name: &str, platform: Platform) -> Result<Profile, ProfileError> {
    let known = || profiles.keys().cloned().collect();
    let mut chain = vec![name.to_owned()];
    let mut profile = profiles.get(name).ok_or_else(|| ProfileError::Unknown {
        name: name.to_owned(),
        known: known(),
    })?;
    let mut parts = vec![profile];
    while let Some(base) = &profile.extends {
        let from = chain.last().cloned().unwrap_or_default();
        let circle = chain.contains(base);
        chain.push(base.clone());
        if circle || chain.len() > MOST_EXTENDS {
            return Err(ProfileError::Chain(chain));
        }
        profile = profiles.get(base).ok_or_else(|| ProfileError::UnknownBase {
            name: from,
            base: base.clone(),
            known: known(),
        })?;
        parts.push(profile);
    }
    let for_all = parts.iter().rev().map(|part| (*part).clone());
    let for_one = parts
        .iter()
        .rev()
        .filter_map(|part| part.overrides(platform))
        .map(|part| part.0.clone());
    let whole = for_all.chain(for_one).fold(Profile::default(), Profile::overlay);
    whole.check(name)?;
    Ok(whole)
}

/// The bundle identifier of a profile or of one that it extends, with the same precedence as in [`merge`].
pub fn bundle_id(profiles: &Profiles, name: &str, platform: Platform) -> Option<BundleIdEntry> {
    let mut chain = Vec::new();
    let mut next = Some(name);
    while let Some((name, profile)) = next.and_then(|name| profiles.get_key_value(name)) {
        if chain.len() > MOST_EXTENDS {
            return None;
        }
        chain.push((name, profile));
        next = profile.extends.as_deref();
    }
    let of_platform = chain.iter().filter_map(|(name, profile)| {
        let value = profile.overrides(platform)?.0.bundle_id.clone()?;
        Some((value, vec!["build".to_owned(), (*name).clone(), platform.to_string()]))
    });
    let of_all = chain.iter().filter_map(|(name, profile)| {
        let value = profile.bundle_id.clone()?;
        Some((value, vec!["build".to_owned(), (*name).clone()]))
    });
    let (value, tables) = of_platform.chain(of_all).next()?;
    Some(BundleIdEntry { value, tables })
}
