//! An export of Expo as the content of an update: for apps whose update client is Expo's
//! (`docs/reference/command-line.md#updates-of-expo`).

use std::path::{Path, PathBuf};

use launchway_domain::platform::Platform;
use launchway_foreign::expo::METADATA_FILE;
use launchway_project::framework::Framework;
use launchway_project::packages::Packages;
use launchway_project::resolve::AppLocation;
use launchway_project::sdk::additions::AppFolder;
use launchway_project::source::Source;
use launchway_project::update_client::UpdateClient;
use launchway_project::update_client::settings::{FoundSetting, Setting, on_platform, settings};
use serde_json::Value;

use super::expo_signing::ExpoKey;
use crate::args::publish::PublishArgs;
use crate::commands::app;
use crate::context::Context;
use crate::failure::Failure;

/// The name of keys where an app sets none.
const DEFAULT_KEY_ID: &str = "root";
const RESOLVE: &str = "npx expo-updates runtimeversion:resolve --platform";

/// What the update is for.
#[derive(Debug)]
pub struct ExpoApp {
    /// The runtime version of the installed app.
    pub runtime_version: String,
    /// The name of the key whose signatures the app expects, where it is known.
    pub key_id: Option<String>,
}

impl ExpoApp {
    /// What signs the update; `None` if nothing does.
    ///
    /// # Errors
    /// The key cannot be read.
    pub fn signer(&self, arguments: &PublishArgs) -> Result<Option<ExpoKey>, Failure> {
        let Some(path) = &arguments.expo_signing_key else {
            return Ok(None);
        };
        let id = arguments.expo_key_id.as_deref().or(self.key_id.as_deref());
        read_key(path, id).map(Some)
    }
}

/// Reads a key by its name; without one, by the name of keys where an app sets none.
///
/// # Errors
/// The key cannot be read.
pub fn read_key(path: &Path, id: Option<&str>) -> Result<ExpoKey, Failure> {
    ExpoKey::read(path, id.unwrap_or(DEFAULT_KEY_ID))
}

/// The name of the key whose signatures the project's app expects, where it is known.
pub fn key_id(platform: Platform, context: &Context) -> Option<String> {
    let place = app::place(platform, None, context).ok()?;
    let found = client_settings(&place, context)?;
    value(&found, Setting::CertificateKeyId, platform)
}

/// The settings of Expo's client; `None` for an app without it.
fn client_settings(place: &AppLocation, context: &Context) -> Option<Vec<FoundSetting>> {
    let root = &context.settings.root;
    let packages = Packages::read(&Source::new(root), &place.directory)?;
    UpdateClient::Expo.package_in(&packages)?;
    let folder = AppFolder {
        root,
        directory: &place.directory,
        framework: place.framework.unwrap_or(Framework::Expo),
    };
    Some(settings(UpdateClient::Expo, folder))
}

/// The app, if what is published is an export of Expo for Expo's client: the flag says so, or the folder is an export and the app
/// contains the client.
///
/// # Errors
/// It is one, and its runtime version is unknown.
pub fn find(platform: Platform, arguments: &PublishArgs, context: &Context) -> Result<Option<ExpoApp>, Failure> {
    let place = app::place(platform, arguments.profile.as_deref(), context)?;
    let told = arguments.runtime_version.clone();
    let found = client_settings(&place, context);
    if told.is_none() && !(found.is_some() && content(arguments, context).is_some_and(|folder| is_export(&folder))) {
        return match arguments.expo_signing_key.is_some() {
            true => Err(Failure::usage("--expo-signing-key is only for an export of Expo")
                .hint("give --dir with the folder that `npx expo export` wrote, and --runtime-version")),
            false => Ok(None),
        };
    }
    let found = found.unwrap_or_default();
    let read = |setting| value(&found, setting, platform);
    let runtime_version = told.or_else(|| {
        let read = read(Setting::RuntimeVersion)?;
        context
            .printer
            .note(&format!("Runtime version {read}, from the project"));
        Some(read)
    });
    let runtime_version = runtime_version.ok_or_else(|| {
        Failure::usage("the runtime version of the installed app is not known").hint(format!(
            "give --runtime-version VERSION; `{RESOLVE} {platform}` prints it"
        ))
    })?;
    Ok(Some(ExpoApp {
        runtime_version,
        key_id: read(Setting::CertificateKeyId),
    }))
}

/// The one value of a setting that is plainly readable.
fn value(found: &[FoundSetting], setting: Setting, platform: Platform) -> Option<String> {
    let values = on_platform(found, setting, platform);
    let [first, rest @ ..] = &values[..] else { return None };
    let is_one = rest.iter().all(|other| other.value == first.value);
    first.value.text().filter(|_| is_one).map(str::to_owned)
}

/// The folder that is published.
fn content(arguments: &PublishArgs, context: &Context) -> Option<PathBuf> {
    if arguments.file.is_some() {
        return None;
    }
    let in_project = || Some(context.settings.root.join(context.settings.update().dir.as_ref()?));
    arguments.dir.clone().or_else(in_project)
}

/// Whether a folder is what `npx expo export` wrote.
fn is_export(folder: &Path) -> bool {
    let metadata = std::fs::read(folder.join(METADATA_FILE)).unwrap_or_default();
    serde_json::from_slice::<Value>(&metadata).is_ok_and(|metadata| metadata["fileMetadata"].is_object())
}
