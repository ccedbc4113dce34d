//! `launchway.toml`: what a project says about itself (`docs/reference/command-line.md#settings-file`). An unknown key is an
//! error that names it, so that a mistyped key is not silently ignored.

mod depth;
mod place;
mod problem;
pub mod profile;
pub mod schema;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use launchway_domain::platform::Platform;
use schemars::JsonSchema;
use serde::Deserialize;

pub use crate::file::place::line_of;
use crate::file::profile::Profiles;

/// Its name.
pub const NAME: &str = "launchway.toml";
/// Bytes of it. Real ones have some hundred.
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
    /// How updates are published unless told.
    pub update: Update,
    /// What counts as native.
    pub fingerprint: Fingerprint,
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

/// A bundle identifier of the file, and where it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedId {
    /// The identifier, as written.
    pub value: String,
    /// The tables that it is in, such as `app` and `ios`.
    pub tables: Vec<String>,
}

impl Project {
    /// The bundle identifier of a build by this profile: the profile's, else that of `[app.<platform>]`, else that of `[app]`.
    pub fn bundle_id(&self, profile: Option<&str>, platform: Platform) -> Option<StatedId> {
        let of_profile = profile.and_then(|name| profile::bundle_id(&self.build, name, platform));
        let own = match platform {
            Platform::Android => &self.app.android,
            Platform::Ios => &self.app.ios,
            Platform::Visionos => &self.app.visionos,
        };
        let stated = |value: &Option<String>, tables: &[&str]| {
            let tables = tables.iter().map(ToString::to_string).collect();
            let value = value.clone()?;
            Some(StatedId { value, tables })
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
    /// Google Play: how urgently apps ask for the update, 0 to 5.
    #[schemars(range(min = 0, max = 5))]
    pub priority: Option<u8>,
    /// Google Play: the countries of a staged release in `production`, as two letters.
    pub countries: Vec<String>,
    /// Google Play: the release waits in the Play Console until somebody sends it for review.
    pub changes_not_sent_for_review: Option<bool>,
}

/// `[update]`: how updates are published unless told.
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

/// No usable `launchway.toml`. The message begins with its path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectFileError {
    /// The one that was told is not there.
    #[error("{0} does not exist")]
    Missing(String),
    /// The operating system says no.
    #[error("{0} cannot be read: {1}")]
    Unreadable(String, String),
    /// Its content is wrong: where, and what.
    #[error("{0}, {1}")]
    Invalid(String, String),
}

/// Reads the file that was told, or the one found in `here` or above, or nothing. `here` is absolute. Gives its directory
/// too, which is empty for `here` itself.
///
/// # Errors
/// The told one is missing, or any one cannot be read.
pub fn find(here: &Path, told: Option<&Path>) -> Result<(PathBuf, Project), ProjectFileError> {
    let path = match told {
        Some(path) => here.join(path),
        None => match above(here) {
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

/// Looks in `here` and above it, but not beyond the repository: what lies there is not of this project.
fn above(here: &Path) -> Option<PathBuf> {
    let top = here
        .ancestors()
        .find(|directory| directory.join(".git").exists())
        .unwrap_or(here);
    let within = here.ancestors().take_while(|directory| directory.starts_with(top));
    within.map(|directory| directory.join(NAME)).find(|path| path.is_file())
}

/// Reads the text.
///
/// # Errors
/// What is wrong, beginning with the line where one is to blame.
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
