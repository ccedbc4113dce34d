//! `launchway.toml`, the settings file of a project (`docs/reference/command-line.md#settings-file`). An unknown key is
//! an error that names the key, so that a typo is not silently ignored.

mod depth;
mod place;
mod problem;
pub mod profile;
pub mod schema;
pub mod sdk;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use launchway_domain::platform::Platform;
use schemars::JsonSchema;
use serde::Deserialize;

pub use crate::file::place::line_of;
use crate::file::profile::Profiles;
use crate::file::sdk::Sdk;

/// The file name.
pub const NAME: &str = "launchway.toml";
/// The maximum size in bytes. Real files have a few hundred bytes.
const MOST_BYTES: usize = 1 << 18;

/// All of `launchway.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "launchway.toml")]
pub struct Project {
    /// Which app this is.
    pub app: App,
    /// Where it is published.
    pub server: Server,
    /// How it is built, by profile.
    pub build: Profiles,
    /// How it is submitted to a store, by profile and platform.
    pub submit: BTreeMap<String, Submit>,
    /// How updates are published by default.
    pub update: Update,
    /// What counts as native.
    pub fingerprint: Fingerprint,
    /// How the SDK in the app looks for updates.
    pub sdk: Option<Sdk>,
}

/// `[app]`: which app this is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct App {
    /// The bundle identifier, for platforms that have none of their own here.
    pub bundle_id: Option<String>,
    /// What is different on Android.
    pub android: AppOn,
    /// What is different on iOS.
    pub ios: AppOn,
    /// What is different on visionOS.
    pub visionos: AppOn,
}

/// `[app.<platform>]`: which app this is on one platform.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AppOn {
    /// The bundle identifier: the application id on Android.
    pub bundle_id: Option<String>,
}

/// A bundle identifier of the file, and the tables that set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleIdEntry {
    /// The identifier, as written.
    pub value: String,
    /// The tables that contain it, such as `app` and `ios`.
    pub tables: Vec<String>,
}

impl Project {
    /// The bundle identifier of a build with this profile: from the profile, then `[app.<platform>]`, then `[app]`.
    pub fn bundle_id(&self, profile: Option<&str>, platform: Platform) -> Option<BundleIdEntry> {
        let of_profile = profile.and_then(|name| profile::bundle_id(&self.build, name, platform));
        let own = match platform {
            Platform::Android => &self.app.android,
            Platform::Ios => &self.app.ios,
            Platform::Visionos => &self.app.visionos,
        };
        let stated = |value: &Option<String>, tables: &[&str]| {
            let tables = tables.iter().map(ToString::to_string).collect();
            let value = value.clone()?;
            Some(BundleIdEntry { value, tables })
        };
        of_profile
            .or_else(|| stated(&own.bundle_id, &["app", platform.as_str()]))
            .or_else(|| stated(&self.app.bundle_id, &["app"]))
    }
}

/// `[server]`: where it is published.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Address of the production server.
    pub url: Option<String>,
    /// Address of the development server, for `--dev`.
    pub dev_url: Option<String>,
    /// Id of the organization.
    pub org: Option<String>,
}

/// `[submit.<profile>]`: how a build reaches the stores.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table, such as [submit.production.android]"
)]
pub struct Submit {
    /// Google Play.
    pub android: Option<StoreTarget>,
    /// The App Store.
    pub ios: Option<StoreTarget>,
    /// The App Store, for Apple Vision.
    pub visionos: Option<StoreTarget>,
}

/// `[submit.<profile>.<platform>]`: where in a store, and to whom.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StoreTarget {
    /// `testflight` or `app_store`; a track of Google Play: `internal`, `alpha`, `beta`, `production` or a custom one.
    pub destination: Option<String>,
    /// The groups of testers, for `testflight`.
    pub groups: Vec<String>,
    /// Percent of users who get it, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    pub rollout: Option<u8>,
    /// What is new, by locale, such as `en-US`.
    pub release_notes: BTreeMap<String, String>,
    /// The credential that the store knows; the organization's only one when absent.
    pub credential_id: Option<String>,
    /// App Store Connect: whether the app has cryptography that needs papers, where its Info.plist does not say.
    pub uses_non_exempt_encryption: Option<bool>,
    /// App Store: an approved version waits until it is released by hand.
    pub manual_release: Option<bool>,
    /// Google Play: the release is only drafted.
    pub draft: Option<bool>,
    /// Google Play: in-app update priority, 0 to 5.
    #[schemars(range(min = 0, max = 5))]
    pub priority: Option<u8>,
    /// Google Play: the countries of a staged release in `production`, as two letters.
    pub countries: Vec<String>,
    /// Google Play: the release waits in the Play Console until somebody sends it for review.
    pub changes_not_sent_for_review: Option<bool>,
}

/// `[update]`: how updates are published by default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Update {
    /// The configuration.
    pub configuration: Option<String>,
    /// The directory to pack, relative to the file.
    pub dir: Option<PathBuf>,
}

/// `[fingerprint]`: what counts as native besides what the framework says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fingerprint {
    /// Patterns of files that count too.
    pub include: Vec<String>,
    /// Patterns of files that do not.
    pub exclude: Vec<String>,
}

/// Why there is no usable `launchway.toml`. The message begins with the path of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectFileError {
    /// The file that the caller named does not exist.
    #[error("{0} does not exist")]
    Missing(String),
    /// An I/O error.
    #[error("cannot read {0}: {1}")]
    Unreadable(String, String),
    /// The content is invalid: the path, and the problem.
    #[error("{0}, {1}")]
    Invalid(String, String),
}

/// Reads the file at `config_path`, or the nearest one in `here` or its parents; the default project if there is none.
/// `here` is absolute. The first value is the directory of the file, which is empty for `here` itself.
///
/// # Errors
/// The file at `config_path` is missing, or the file cannot be read or is invalid.
pub fn find(here: &Path, config_path: Option<&Path>) -> Result<(PathBuf, Project), ProjectFileError> {
    let path = match config_path {
        Some(path) => here.join(path),
        None => match find_above(here) {
            Some(path) => path,
            None => return Ok((PathBuf::new(), Project::default())),
        },
    };
    let shown = || path.strip_prefix(here).unwrap_or(&path).display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ProjectFileError::Missing(shown()),
        _ => ProjectFileError::Unreadable(shown(), error.to_string()),
    })?;
    let project = parse(&text).map_err(|problem| ProjectFileError::Invalid(shown(), problem))?;
    let root = path.parent().unwrap_or(here);
    Ok((root.strip_prefix(here).unwrap_or(root).to_owned(), project))
}

/// Searches `here` and its parents up to the root of the repository. Files above the repository do not belong to the
/// project.
fn find_above(here: &Path) -> Option<PathBuf> {
    let top = here
        .ancestors()
        .find(|directory| directory.join(".git").exists())
        .unwrap_or(here);
    let within = here.ancestors().take_while(|directory| directory.starts_with(top));
    within.map(|directory| directory.join(NAME)).find(|path| path.is_file())
}

/// Parses the text of the file.
///
/// # Errors
/// The problem, with the number of its line where there is one.
pub fn parse(text: &str) -> Result<Project, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("the file has more than {MOST_BYTES} bytes"));
    }
    if depth::is_too_deep(text) {
        let levels = depth::MOST_LEVELS;
        return Err(format!("tables, arrays and keys nest more than {levels} levels deep"));
    }
    let project: Project = toml::from_str(text).map_err(|error| problem::describe(text, &error))?;
    profile::check(&project.build).map_err(|error| error.to_string())?;
    Ok(project)
}

#[cfg(test)]
mod tests;
