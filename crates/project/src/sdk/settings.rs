//! The settings of the SDK in an app: `launchway.json` on Android, a key of `Info.plist` on Apple platforms
//! (`docs/reference/sdk.md#settings`).

use launchway_domain::bundle_id::{BundleId, BundleIdError};
use launchway_domain::configuration::{Configuration, ConfigurationError};
use launchway_domain::platform::Platform;
use serde::Serialize;

use crate::file::sdk::{Apply, CheckOn, ReadyMode};
use crate::file::{NAME, Project};
use crate::packages::Packages;
use crate::resolve::{ResolveError, app_configuration, app_location, app_profile};
use crate::source::Source;

/// What the app reads. Absent values are not written: the SDK has a default for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SdkSettings {
    /// The address of the API, which ends in `/api`.
    pub server_url: String,
    /// The bundle identifier of `launchway.toml`; the app's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle_id: Option<String>,
    /// The configuration of the build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// When it looks for updates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_on: Option<CheckOn>,
    /// When it switches to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apply: Option<Apply>,
    /// What confirms them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_mode: Option<ReadyMode>,
    /// Milliseconds until one that is not confirmed counts as hung.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_timeout_ms: Option<u32>,
    /// Whether downloads wait for a connection that is not metered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wifi_only: Option<bool>,
    /// Installed packages to keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_slots: Option<u32>,
    /// The file that every package of a native app contains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_file: Option<String>,
}

/// Why there are no settings to write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// No address of a server.
    #[error(
        "the app contains the SDK, but {NAME} does not name its server; set url under [server], or server_url under [sdk], such as \
         https://launchway.example.com"
    )]
    NoServer,
    /// It is not the address of a server: the key, the value, and the problem.
    #[error("{NAME}: {0} is `{1}`, but {2}")]
    Server(&'static str, String, AddressProblem),
    /// The profile has no valid configuration.
    #[error("{NAME}: configuration {0}")]
    Configuration(#[from] ConfigurationError),
    /// The app has no valid bundle identifier.
    #[error("{NAME}: bundle_id {0}")]
    BundleId(#[from] BundleIdError),
    /// The profile does not exist, or several profiles differ.
    #[error("{}", .0.to_string().trim_end_matches('.'))]
    Profile(#[from] ResolveError),
}

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressProblem {
    /// Its scheme is neither `https` nor `http`.
    #[error("must start with https:// or http://")]
    Scheme,
    /// It has no host.
    #[error("must be an address such as https://launchway.example.com")]
    Host,
    /// It contains a user name or password.
    #[error("must not contain a user name or password")]
    Credentials,
    /// It has a query or fragment.
    #[error("must not contain ? or #")]
    Tail,
}

/// Which app of a project is built.
#[derive(Clone, Copy, Debug)]
pub struct BuiltApp<'a> {
    /// The platform.
    pub platform: Platform,
    /// The profile; `None` for the one that a build uses.
    pub profile: Option<&'a str>,
    /// The configuration of the build, in place of that of the profile.
    pub configuration: Option<&'a str>,
}

/// The settings of an app in the project in `source`; `None` if it does not contain the SDK.
///
/// # Errors
/// There is no valid address of a server, configuration or bundle identifier.
pub fn settings(source: &Source, project: &Project, app: BuiltApp<'_>) -> Result<Option<SdkSettings>, SettingsError> {
    let place = app_location(&project.build, app.profile, app.platform)?;
    let packages = Packages::read(source, &place.directory);
    if !super::is_used(packages.as_ref(), project) {
        return Ok(None);
    }
    let configuration = match app.configuration {
        Some(name) => Some(name.to_owned()),
        None => app_configuration(&project.build, app.profile, app.platform)?,
    };
    if let Some(name) = &configuration {
        Configuration::parse(name)?;
    }
    let (profile, _) = app_profile(&project.build, app.profile, app.platform)?;
    let bundle_id = project.bundle_id(profile.as_deref(), app.platform);
    if let Some(stated) = &bundle_id {
        BundleId::parse(&stated.value)?;
    }
    let server_url = server_url(project)?;
    let sdk = project.sdk.clone().unwrap_or_default();
    Ok(Some(SdkSettings {
        server_url,
        bundle_id: bundle_id.map(|stated| stated.value),
        configuration,
        check_on: sdk.check_on,
        apply: sdk.apply,
        ready_mode: sdk.ready_mode,
        ready_timeout_ms: sdk.ready_timeout_ms,
        wifi_only: sdk.wifi_only,
        keep_slots: sdk.keep_slots,
        entry_file: sdk.entry_file,
    }))
}

/// The address of the server that apps of the project ask.
///
/// # Errors
/// `launchway.toml` names none, or one that is not valid.
pub fn server_url(project: &Project) -> Result<String, SettingsError> {
    let of_sdk = project.sdk.as_ref().and_then(|sdk| sdk.server_url.as_ref());
    let (key, text) = match (of_sdk, &project.server.url) {
        (Some(url), _) => ("server_url under [sdk]", url),
        (None, Some(url)) => ("url under [server]", url),
        (None, None) => return Err(SettingsError::NoServer),
    };
    api_address(text).map_err(|problem| SettingsError::Server(key, text.clone(), problem))
}

/// The address of the API of a server: `https://host/api` for `https://host` and `https://host/api/` alike.
fn api_address(text: &str) -> Result<String, AddressProblem> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://").ok_or(AddressProblem::Scheme)?;
    let scheme = scheme.to_ascii_lowercase();
    if !matches!(scheme.as_str(), "https" | "http") {
        return Err(AddressProblem::Scheme);
    }
    if rest.contains(['?', '#']) {
        return Err(AddressProblem::Tail);
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if host.contains('@') {
        return Err(AddressProblem::Credentials);
    }
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || "\"<>\\^`{|}".contains(letter);
    if host.is_empty() || host.starts_with(':') || rest.contains(is_odd) {
        return Err(AddressProblem::Host);
    }
    let path = path.trim_matches('/');
    let path = match path.strip_suffix("api") {
        Some(above) if above.is_empty() || above.ends_with('/') => above.trim_end_matches('/'),
        _ => path,
    };
    let above = if path.is_empty() {
        String::new()
    } else {
        format!("/{path}")
    };
    Ok(format!("{scheme}://{}{above}/api", host.to_ascii_lowercase()))
}

impl SdkSettings {
    /// The text of `launchway.json`.
    pub fn to_json(&self) -> String {
        // Strings, numbers and booleans always have a form in JSON.
        let text = serde_json::to_string(self).unwrap_or_default();
        format!("{text}\n")
    }
}

#[cfg(test)]
mod tests;
